#include "scheduling/policies/baselines/fair_tree.hpp"

#include <bit>
#include <vector>

#include "game/accrual.hpp"

namespace shapley::scheduling {

namespace {

constexpr std::int64_t k_period_s = 300;
constexpr double k_half_life_s = 7.0 * 86'400.0;

// By repeated multiplication: std::pow may differ in the last digit between C libraries.
double decay_of_a_period() {
  double decay = 1.0;
  for (std::int64_t s = 0; s < k_period_s; ++s) decay *= 1.0 - 0.693 / k_half_life_s;
  return decay;
}

class FairTree final : public Policy {
 public:
  explicit FairTree(const Instance& instance)
      : processors_(instance.processors),
        own_(instance.organizations()),
        counted_(instance.organizations()),
        usage_(instance.organizations()) {}

  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    advance(t);
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override {
    advance(t);
    own_[organization].change(t, -1);
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    advance(t);
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      // usage[u] / m[u] < usage[best] / m[best], with m = 0 as infinite.
      const bool less = processors_[u] != 0 &&
                        (processors_[best] == 0 || usage_[u] * processors_[best] < usage_[best] * processors_[u]);
      if (less) best = u;
    }
    return best;
  }
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    processors_ = processors;
    return true;
  }

 private:
  void advance(std::int64_t t) {
    for (; period_end_ <= t; period_end_ += k_period_s) {
      for (std::size_t u = 0; u < usage_.size(); ++u) {
        const std::int64_t done = own_[u].done_at(period_end_);
        usage_[u] = (usage_[u] + static_cast<double>(done - counted_[u])) * decay_;
        counted_[u] = done;
      }
    }
  }

  std::vector<std::uint32_t> processors_;
  std::vector<game::Accrual> own_;
  std::vector<std::int64_t> counted_;  // processor seconds already in usage_
  std::vector<double> usage_;
  double decay_ = decay_of_a_period();
  std::int64_t period_end_ = k_period_s;
};

}  // namespace

std::unique_ptr<Policy> make_fair_tree(const Instance& instance) {
  return std::make_unique<FairTree>(instance);
}

}  // namespace shapley::scheduling
