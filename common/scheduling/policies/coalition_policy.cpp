#include "scheduling/policies/coalition_policy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

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
  WeightedCoalitions(const Instance& instance, const CoalitionWeights& weights)
      : CoalitionPolicy(instance, weighted_coalitions(weights), weights.scale), terms_(instance.organizations()) {
    const std::vector<Coalition> coalitions = weighted_coalitions(weights);
    values_.resize(coalitions.size());
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

  void value_contributions(const FcfsSchedules& schedules, std::int64_t t, std::vector<Int128>& scaled_phi) override {
    for (std::size_t slot = 0; slot < values_.size(); ++slot) values_[slot] = schedules.value_at(slot, t);
    for (std::size_t u = 0; u < scaled_phi.size(); ++u) {
      Int128 sum = 0;
      for (const auto& [slot, weight] : terms_[u]) sum += static_cast<Int128>(weight) * values_[slot];
      scaled_phi[u] = sum;
    }
  }

  std::vector<std::vector<Term>> terms_;  // by organization
  std::vector<std::int64_t> values_;
};

}  // namespace

CoalitionPolicy::CoalitionPolicy(const Instance& instance, std::vector<Coalition> coalitions, Int128 scale)
    : schedules_(instance.processors, std::move(coalitions)),
      scale_(scale),
      scaled_phi_(instance.organizations()),
      own_(instance.organizations()) {}

std::size_t CoalitionPolicy::choose(std::int64_t t, Coalition waiting, bool scarce) {
  auto best = static_cast<std::size_t>(std::countr_zero(waiting));
  if (!scarce) return best;
  evaluate(t);
  const auto standing = [&](std::size_t u) { return scaled_phi_[u] - scale_ * own_[u].psi_at(t); };
  Int128 best_standing = standing(best);
  for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(rest));
    const Int128 own = standing(u);
    if (own > best_standing) {
      best = u;
      best_standing = own;
    }
  }
  return best;
}

std::optional<std::vector<Rational>> CoalitionPolicy::contributions(std::int64_t t) {
  evaluate(t);
  std::vector<Rational> phi;
  for (const Int128 scaled : scaled_phi_) phi.push_back({scaled, scale_});
  return phi;
}

void CoalitionPolicy::evaluate(std::int64_t t) {
  if (evaluated_at_ == t) return;
  evaluated_at_ = t;
  schedules_.run_before(t);
  value_contributions(schedules_, t, scaled_phi_);
}

std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance, const CoalitionWeights& weights) {
  return std::make_unique<WeightedCoalitions>(instance, weights);
}

}  // namespace shapley::scheduling
