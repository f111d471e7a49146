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

}  // namespace

CoalitionPolicy::CoalitionPolicy(const Instance& instance, std::vector<Coalition> coalitions, Int128 scale,
                                 const game::ServingRule& rule)
    : schedules_(instance.processors, std::move(coalitions)),
      scale_(scale),
      terms_(rule),
      guaranteed_(instance.processors, rule.guarantee),
      values_(schedules_.size()),
      scaled_phi_(instance.organizations()),
      own_(instance.organizations()) {}

std::size_t CoalitionPolicy::choose(std::int64_t t, Coalition waiting, bool scarce) {
  if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
  const game::KeyTerms& terms = terms_.now();
  if (evaluated_at_ != t) evaluate(t, terms);
  evaluated_at_ = t;
  // Starts of this instant change what runs here, and nothing of the coalitions.
  const auto key = [&](std::size_t u) {
    return scaled_phi_[u] - scale_ * game::looked_ahead(own_[u].psi_at(t), own_[u].done_at(t), own_[u].running, terms);
  };
  return greatest(guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; }), key);
}

std::optional<std::vector<Rational>> CoalitionPolicy::contributions(std::int64_t t) {
  evaluate(t, {});
  evaluated_at_ = -1;
  std::vector<Rational> phi;
  for (const Int128 scaled : scaled_phi_) phi.push_back({scaled, scale_});
  return phi;
}

void CoalitionPolicy::evaluate(std::int64_t t, const game::KeyTerms& terms) {
  // What happens at t changes no psi at t, but what runs.
  schedules_.run_before(terms.running_factor > 0 ? t + 1 : t);
  for (std::size_t slot = 0; slot < values_.size(); ++slot) values_[slot] = schedules_.value_at(slot, t, terms);
  share_out(values_, scaled_phi_);
}

std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance, const CoalitionWeights& weights,
                                                 const game::ServingRule& rule) {
  return std::make_unique<WeightedCoalitions>(instance, weights, rule);
}

}  // namespace shapley::scheduling
