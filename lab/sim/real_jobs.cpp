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

std::int64_t work_until_end(const EasyInstance& instance, const EasySchedule& schedule) {
  std::int64_t work = 0;
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const scheduling::Job& job = instance.jobs[i];
    if (schedule.start[i] == scheduling::k_never_started) continue;
    work += job.processors * std::min(job.duration.value, instance.until.value - schedule.start[i]);
  }
  return work;
}

std::vector<std::vector<std::uint32_t>> owned_kinds(const EasyInstance& instance) {
  if (!instance.kinds.empty()) return instance.kinds;
  return {instance.endowments.front().processors};
}

Expected<PolicyPtr> make_ranking(const std::string& name, const EasyInstance& instance, std::uint64_t seed) {
  const scheduling::Instance first = scheduling::first_instance(instance);
  if (name == "hindsight_whole")
    return scheduling::make_hindsight_whole(first, scheduling::make_whole_schedules(owned_kinds(instance)));
  if (name == "exact") {
    SHAPLEY_TRY_ASSIGN(auto values, scheduling::ExactValues::of(instance));
    return scheduling::make_exact(first, std::move(values));
  }
  PolicyOptions options;
  options.seed = seed;
  // Hindsight hears which job of an organization starts; the other policies that simulate coalitions do not.
  options.backfill = name.substr(0, name.find('@')) != "hindsight";
  return make_policy(name, first, options);
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
  real.work = work_until_end(instance, schedule);
  SHAPLEY_TRY_ASSIGN(auto exact, scheduling::ExactValues::of(instance));
  const std::vector<std::int64_t>& values = exact.at(instance.until.value);
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
      SHAPLEY_TRY_ASSIGN(const auto policy, make_ranking(name, instance, seed));
      SHAPLEY_TRY_ASSIGN(Estimate estimate, observed(name, instance, *policy));
      real.estimates.push_back(std::move(estimate));
    }
  }
  return real;
}

Expected<std::vector<std::int64_t>> psi_ranked_by(const std::string& policy, const EasyInstance& instance,
                                                  std::uint64_t seed) {
  PolicyPtr made;
  if (policy != "fcfs") {
    SHAPLEY_TRY_ASSIGN(made, make_ranking(policy, instance, seed));
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
