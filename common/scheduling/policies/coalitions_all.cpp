#include "scheduling/policies/coalitions_all.hpp"

#include <algorithm>

#include "scheduling/policies/coalition_policy.hpp"

namespace shapley::scheduling {

namespace {

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

std::unique_ptr<Policy> make_coalitions_all(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<AllCoalitions>(instance, rule);
}

}  // namespace shapley::scheduling
