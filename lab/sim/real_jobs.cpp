#include "sim/real_jobs.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "scheduling/policies/policies.hpp"
#include "scheduling/whole_jobs.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

using scheduling::EasyInstance;
using scheduling::EasySchedule;
using PolicyPtr = std::unique_ptr<scheduling::Policy>;

std::vector<std::vector<std::uint32_t>> owned_kinds(const EasyInstance& instance) {
  if (!instance.kinds.empty()) return instance.kinds;
  return {instance.endowments.front().processors};
}

Expected<PolicyPtr> make_ranking(const std::string& policy, const EasyInstance& instance,
                                 const PolicyOptions& options) {
  const scheduling::Instance first = scheduling::first_instance(instance);
  SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(policy, options.rule));
  if (named.name == "hindsight_whole" || named.name == "exact") {
    SHAPLEY_TRY(scheduling::check_horizon(first, named.rule));
    PolicyPtr made;
    if (named.name == "exact") {
      SHAPLEY_TRY_ASSIGN(auto values, scheduling::ExactValues::of(instance));
      made = scheduling::make_exact(first, std::move(values), named.rule);
    } else {
      made =
          scheduling::make_hindsight_whole(first, scheduling::make_whole_schedules(owned_kinds(instance)), named.rule);
    }
    return named.once ? scheduling::make_once_a_pass(std::move(made)) : std::move(made);
  }
  PolicyOptions with_backfill = options;
  // Hindsight hears which job of an organization starts; the other policies that simulate coalitions do not.
  with_backfill.backfill = named.name != "hindsight";
  return make_policy(policy, first, with_backfill);
}

std::vector<scheduling::Rational> owners_shares(const EasyInstance& instance, std::int64_t psi) {
  const std::vector<std::uint32_t>& owned = instance.endowments.front().processors;
  const Int128 all = std::max<std::int64_t>(1, scheduling::total_of(instance.endowments.front()));
  std::vector<scheduling::Rational> shares;
  for (const std::uint32_t processors : owned) shares.push_back({static_cast<Int128>(psi) * processors, all});
  return shares;
}

// What a policy says of the schedule that is made without it.
Expected<Estimate> observed(const std::string& name, const EasyInstance& instance, scheduling::Policy& policy) {
  SHAPLEY_TRY(scheduling::simulate_easy(instance, nullptr, &policy));
  return Estimate{name, *policy.contributions(instance.until.value), policy.coalition_values(instance.until.value)};
}

constexpr std::string_view k_shares = "shares";

}  // namespace

std::vector<std::string> estimate_names() {
  return {"hindsight", "hindsight_whole", "direct_contr", "shapley_rate", std::string(k_shares)};
}

Expected<RealJobs> estimate_all(const EasyInstance& instance, std::uint64_t seed) {
  RealJobs real;
  SHAPLEY_TRY_ASSIGN(const EasySchedule schedule, scheduling::simulate_easy(instance, nullptr));
  real.psi = scheduling::psi_of(instance, schedule, instance.until);
  real.work = scheduling::work_of(instance, schedule);
  SHAPLEY_TRY_ASSIGN(auto exact, scheduling::ExactValues::of(instance));
  const std::vector<std::int64_t> values = scheduling::values_at(exact.at(instance.until.value), instance.until.value);
  real.exact = {"exact", scheduling::shapley_of(values), {}};
  for (game::Coalition c = 1; c < values.size(); ++c) real.exact.values.emplace_back(c, values[c]);
  for (const std::string& name : estimate_names()) {
    if (name == k_shares) {
      real.estimates.push_back({name, owners_shares(instance, values.back()), {}});
    } else if (name == "hindsight") {
      const auto hindsight = scheduling::make_hindsight(scheduling::first_instance(instance));
      SHAPLEY_TRY_ASSIGN(Estimate estimate, observed(name, instance, *hindsight));
      estimate.values = hindsight->virtual_values(instance.until.value);
      real.estimates.push_back(std::move(estimate));
    } else {
      SHAPLEY_TRY_ASSIGN(const auto policy, make_ranking(name, instance, {.seed = seed}));
      SHAPLEY_TRY_ASSIGN(Estimate estimate, observed(name, instance, *policy));
      real.estimates.push_back(std::move(estimate));
    }
  }
  return real;
}

Expected<std::vector<std::int64_t>> psi_ranked_by(const std::string& policy, const EasyInstance& instance,
                                                  const PolicyOptions& options) {
  PolicyPtr made;
  if (policy != "fcfs") {
    SHAPLEY_TRY_ASSIGN(made, make_ranking(policy, instance, options));
  }
  SHAPLEY_TRY_ASSIGN(const EasySchedule schedule, scheduling::simulate_easy(instance, made.get()));
  return scheduling::psi_of(instance, schedule, instance.until);
}

double alone_of(const Estimate& estimate) {
  double sum = 0;
  for (const auto& [coalition, value] : estimate.values)
    if (std::has_single_bit(coalition)) sum += static_cast<double>(value);
  return sum;
}

}  // namespace shapley::sim
