#include "fairness/policies/coalition_policy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace shapley::fairness {

namespace {

class WeightedCoalitions final : public CoalitionPolicy {
 public:
  WeightedCoalitions(const Instance& instance, CoalitionWeights weights)
      : CoalitionPolicy(instance, weights.coalitions, weights.scale),
        weights_(std::move(weights)),
        values_(weights_.coalitions.size()) {}

 private:
  void value_contributions(const FcfsSchedules& schedules, std::int64_t t, std::vector<Int128>& scaled_phi) override {
    for (std::size_t slot = 0; slot < values_.size(); ++slot) values_[slot] = schedules.value_at(slot, t);
    for (std::size_t u = 0; u < scaled_phi.size(); ++u) {
      Int128 sum = 0;
      for (const auto& [slot, weight] : weights_.terms[u]) sum += static_cast<Int128>(weight) * values_[slot];
      scaled_phi[u] = sum;
    }
  }

  CoalitionWeights weights_;
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

void CoalitionWeights::add(std::size_t u, Coalition coalition, std::int64_t weight) {
  if (coalition == 0) return;
  const auto known = std::find(coalitions.begin(), coalitions.end(), coalition);
  const auto slot = static_cast<std::size_t>(known - coalitions.begin());
  if (known == coalitions.end()) coalitions.push_back(coalition);
  const auto term = std::find_if(terms[u].begin(), terms[u].end(), [&](const Term& one) { return one.slot == slot; });
  if (term == terms[u].end()) {
    terms[u].push_back({slot, weight});
  } else {
    term->weight += weight;
  }
}

std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance, CoalitionWeights weights) {
  return std::make_unique<WeightedCoalitions>(instance, std::move(weights));
}

}  // namespace shapley::fairness
