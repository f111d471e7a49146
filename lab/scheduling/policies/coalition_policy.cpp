#include "scheduling/policies/coalition_policy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/contract.hpp"

namespace shapley::scheduling {

namespace {

std::vector<Coalition> weighted_coalitions(const CoalitionWeights& weights) {
  std::vector<Coalition> coalitions;
  for (const auto& of_one : weights.of) {
    for (const auto& [coalition, weight] : of_one) coalitions.push_back(coalition);
  }
  std::sort(coalitions.begin(), coalitions.end());
  coalitions.erase(std::unique(coalitions.begin(), coalitions.end()), coalitions.end());
  return coalitions;
}

class WeightedCoalitions final : public CoalitionPolicy {
 public:
  WeightedCoalitions(const Instance& instance, const CoalitionWeights& weights, const game::ServingRule& rule)
      : CoalitionPolicy(instance, weighted_coalitions(weights), weights.scale, rule), terms_(instance.organizations()) {
    const std::vector<Coalition> coalitions = weighted_coalitions(weights);
    for (std::size_t u = 0; u < terms_.size(); ++u) {
      for (const auto& [coalition, weight] : weights.of[u]) {
        const auto slot = std::lower_bound(coalitions.begin(), coalitions.end(), coalition) - coalitions.begin();
        terms_[u].push_back({static_cast<std::size_t>(slot), weight});
      }
    }
  }

 private:
  struct Term {
    std::size_t slot;
    std::int64_t weight;
  };

  void share_out(std::span<const std::int64_t> values, std::vector<Int128>& scaled_phi) override {
    for (std::size_t u = 0; u < scaled_phi.size(); ++u) {
      Int128 sum = 0;
      for (const auto& [slot, weight] : terms_[u]) sum += static_cast<Int128>(weight) * values[slot];
      scaled_phi[u] = sum;
    }
  }

  std::vector<std::vector<Term>> terms_;  // by organization
};

class AllCoalitions final : public CoalitionPolicy {
 public:
  AllCoalitions(const Instance& instance, const game::ServingRule& rule)
      : CoalitionPolicy(instance, game::all_coalitions(instance.organizations()),
                        game::factorial(instance.organizations()), rule),
        by_mask_(std::size_t{1} << instance.organizations()) {}

 private:
  // Slots are all coalitions but the empty one, in the order of the masks.
  void share_out(std::span<const std::int64_t> values, std::vector<Int128>& scaled_phi) override {
    std::copy(values.begin(), values.end(), by_mask_.begin() + 1);
    game::scaled_shapley_values_of_grand(by_mask_, scaled_phi);
  }

  std::vector<std::int64_t> by_mask_;  // v of every coalition; 0 of the empty one
};

}  // namespace

CoalitionPolicy::CoalitionPolicy(const Instance& instance, std::vector<Coalition> coalitions, Int128 scale,
                                 const game::ServingRule& rule)
    : schedules_(instance.processors, std::move(coalitions)),
      scale_(scale),
      terms_(rule, instance.residual),
      guaranteed_(instance.processors, rule.guarantee),
      brakes_(instance.processors, rule.pace),
      values_(schedules_.size()),
      scaled_phi_(instance.organizations()),
      scaled_given_(instance.organizations()),
      own_(instance.organizations()) {}

std::size_t CoalitionPolicy::choose(std::int64_t t, Coalition waiting, bool scarce) {
  if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
  const game::KeyTerms& terms = terms_.now();
  if (evaluated_at_ != t) evaluate(t, terms);
  evaluated_at_ = t;
  // Starts of this instant change what runs in this schedule, and nothing of the coalitions.
  const auto key = [&](std::size_t u) {
    return scaled_phi_[u] - scale_ * game::looked_ahead(own_[u].psi_at(t), own_[u].done_at(t), own_[u].running, terms);
  };
  const Coalition first = guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; });
  if (!brakes_.any()) return greatest(first, key);
  return greatest(first, [&](std::size_t u) {
    const Int128 work =
        scaled_given_[u] - scale_ * game::frozen_ahead(own_[u].done_at(t), own_[u].running, terms.horizon);
    return brakes_.key<Int256>(u, key(u), work, scale_);
  });
}

std::optional<std::vector<Rational>> CoalitionPolicy::contributions(std::int64_t t) {
  evaluate(t, {});
  evaluated_at_ = -1;
  std::vector<Rational> phi;
  for (const Int128 scaled : scaled_phi_) phi.push_back({scaled, scale_});
  return phi;
}

void CoalitionPolicy::evaluate(std::int64_t t, const game::KeyTerms& terms) {
  // What happens at t changes no psi at t, except through what runs. A rule that brakes looks at that ahead of t, even
  // if so little of it counts in phi that it is rounded to nothing.
  const bool runs_count = terms.running_factor > 0 || (brakes_.any() && terms.horizon.value > 0);
  schedules_.run_before(runs_count ? t + 1 : t);
  for (std::size_t slot = 0; slot < values_.size(); ++slot) values_[slot] = schedules_.value_at(slot, t, terms);
  share_out(values_, scaled_phi_);
  if (!brakes_.any()) return;
  for (std::size_t slot = 0; slot < values_.size(); ++slot) values_[slot] = schedules_.work_at(slot, t, terms.horizon);
  share_out(values_, scaled_given_);
}

std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance, const CoalitionWeights& weights,
                                                 const game::ServingRule& rule) {
  return std::make_unique<WeightedCoalitions>(instance, weights, rule);
}

std::unique_ptr<Policy> make_coalitions_all(const Instance& instance, const game::ServingRule& rule) {
  SHAPLEY_REQUIRE(1 <= instance.organizations() && instance.organizations() <= game::k_max_lattice_organizations);
  return std::make_unique<AllCoalitions>(instance, rule);
}

std::unique_ptr<Policy> make_coalitions_loo(const Instance& instance, const game::ServingRule& rule) {
  const std::size_t k = instance.organizations();
  const Coalition grand = game::grand_coalition(k);
  CoalitionWeights weights(k);
  for (std::size_t u = 0; u < k; ++u) {
    const Coalition self = Coalition{1} << u;
    weights.add(u, self, 1);
    weights.add(u, grand, 1);
    weights.add(u, grand ^ self, -1);
  }
  weights.scale = 2;
  return make_weighted_coalitions(instance, weights, rule);
}

std::unique_ptr<Policy> make_coalitions_pair(const Instance& instance, const game::ServingRule& rule) {
  return make_weighted_coalitions(instance, game::pair_weights(instance.organizations()), rule);
}

FcfsSchedules::FcfsSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions)
    : coalitions_(std::move(coalitions)),
      slots_(coalitions_.size()),
      value_(coalitions_.size()),
      slots_of_(processors.size()) {
  for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
    for (std::size_t u = 0; u < processors.size(); ++u) {
      if ((coalitions_[slot] >> u & 1U) == 0) continue;
      slots_[slot].free += processors[u];
      slots_of_[u].push_back(static_cast<std::uint32_t>(slot));
    }
  }
}

void FcfsSchedules::release(const Job& job) {
  const std::int64_t t = job.release.value;
  run_before(t);
  queue_.push_back({Coalition{1} << job.organization, job.duration.value});
  for (const std::uint32_t slot : slots_of_[job.organization]) {
    Slot& state = slots_[slot];
    if (state.free == 0) {
      ++state.waiting;
      continue;
    }
    --state.free;
    state.cursor = queue_.size();
    value_[slot].change(t, 1);
    calendar_.add(t + job.duration.value, slot);
  }
}

void FcfsSchedules::complete(std::size_t slot, std::int64_t t) {
  Slot& state = slots_[slot];
  if (state.waiting == 0) {
    ++state.free;
    value_[slot].change(t, -1);
    return;
  }
  // The next job takes the processor over, so the running number stays.
  while ((queue_[state.cursor].owner & coalitions_[slot]) == 0) ++state.cursor;
  --state.waiting;
  calendar_.add(t + queue_[state.cursor++].duration, static_cast<std::uint32_t>(slot));
}

void FcfsSchedules::run_before(std::int64_t t) {
  while (calendar_.next() < t) {
    const std::int64_t at = calendar_.next();
    calendar_.take(at, [&](std::uint32_t slot) { complete(slot, at); });
  }
}

}  // namespace shapley::scheduling
