#include "fairness/policies/rand.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/rng.hpp"
#include "fairness/coalition_schedules.hpp"

namespace shapley::fairness {

namespace {

std::vector<Coalition> prefixes(const std::vector<Permutation>& permutations) {
  std::map<Coalition, bool> seen;
  for (const Permutation& permutation : permutations) {
    Coalition prefix = 0;
    for (const std::uint32_t u : permutation) seen[prefix |= Coalition{1} << u] = true;
  }
  std::vector<Coalition> coalitions;
  for (const auto& [coalition, unused] : seen) coalitions.push_back(coalition);
  return coalitions;
}

class Rand final : public Policy {
 public:
  Rand(const Instance& instance, std::vector<Permutation> permutations)
      : permutations_(std::move(permutations)),
        schedules_(instance.processors, prefixes(permutations_)),
        order_(instance.organizations()),
        contribution_sum_(instance.organizations()),
        own_(instance.organizations()) {
    for (std::size_t slot = 0; slot < schedules_.size(); ++slot) slot_of_[schedules_.coalition(slot)] = slot;
    for (const Permutation& permutation : permutations_) {
      Coalition prefix = 0;
      for (const std::uint32_t u : permutation) {
        const std::size_t before = prefix == 0 ? k_empty : slot_of_.at(prefix);
        prefix |= Coalition{1} << u;
        margins_.push_back({u, slot_of_.at(prefix), before});
      }
    }
  }

  void released(std::int64_t, const Job& job) override {
    // The coalitions' FCFS order needs to know which of two queue heads was released first.
    order_[job.organization].push_back(released_++);
    schedules_.release(job, chooser());
  }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override { own_[organization].change(t, -1); }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    evaluate(t);
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (standing(u, t) > standing(best, t)) best = u;
    }
    return best;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    evaluate(t);
    std::vector<Rational> phi;
    for (const Int128 sum : contribution_sum_) phi.push_back({sum, static_cast<Int128>(permutations_.size())});
    return phi;
  }

 private:
  static constexpr std::size_t k_empty = ~std::size_t{0};
  struct Margin {
    std::uint32_t organization;
    std::size_t with;
    std::size_t without;
  };

  [[nodiscard]] CoalitionSchedules::Choose chooser() {
    return [this](std::size_t slot, Coalition waiting, std::int64_t) {
      auto best = static_cast<std::size_t>(std::countr_zero(waiting));
      for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
        const auto u = static_cast<std::size_t>(std::countr_zero(rest));
        if (head_order(slot, u) < head_order(slot, best)) best = u;
      }
      return best;
    };
  }
  [[nodiscard]] std::uint64_t head_order(std::size_t slot, std::size_t organization) const {
    return order_[organization][schedules_.started(slot, organization)];
  }

  // N * phi, so that nothing is rounded.
  void evaluate(std::int64_t t) {
    if (evaluated_at_ == t) return;
    evaluated_at_ = t;
    schedules_.run_before(t, chooser());
    std::fill(contribution_sum_.begin(), contribution_sum_.end(), 0);
    for (const Margin& margin : margins_) {
      const std::int64_t without = margin.without == k_empty ? 0 : schedules_.value_at(margin.without, t);
      contribution_sum_[margin.organization] += schedules_.value_at(margin.with, t) - without;
    }
  }
  [[nodiscard]] Int128 standing(std::size_t u, std::int64_t t) const {
    return contribution_sum_[u] - static_cast<Int128>(permutations_.size()) * own_[u].psi_at(t);
  }

  std::vector<Permutation> permutations_;
  CoalitionSchedules schedules_;
  std::map<Coalition, std::size_t> slot_of_;
  std::vector<Margin> margins_;
  std::vector<std::vector<std::uint64_t>> order_;  // by organization: position of each released job in the common queue
  std::uint64_t released_ = 0;
  std::vector<Int128> contribution_sum_;
  std::vector<Accrual> own_;
  std::int64_t evaluated_at_ = -1;
};

}  // namespace

std::vector<Permutation> draw_permutations(std::size_t organizations, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Permutation> permutations(count, Permutation(organizations));
  for (Permutation& permutation : permutations) {
    std::iota(permutation.begin(), permutation.end(), 0U);
    rng.shuffle(std::span(permutation));
  }
  return permutations;
}

std::size_t permutations_for(std::size_t organizations, const RandAccuracy& accuracy) {
  const auto k = static_cast<double>(organizations);
  return static_cast<std::size_t>(
      std::ceil(k * k / (accuracy.epsilon * accuracy.epsilon) * std::log(k / (1.0 - accuracy.lambda))));
}

std::unique_ptr<Policy> make_rand(const Instance& instance, std::vector<Permutation> permutations) {
  return std::make_unique<Rand>(instance, std::move(permutations));
}

}  // namespace shapley::fairness
