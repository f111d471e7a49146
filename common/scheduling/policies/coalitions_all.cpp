#include "scheduling/policies/coalitions_all.hpp"

#include "scheduling/policies/coalition_policy.hpp"

namespace shapley::scheduling {

namespace {

class AllCoalitions final : public CoalitionPolicy {
 public:
  explicit AllCoalitions(const Instance& instance)
      : CoalitionPolicy(instance, game::all_coalitions(instance.organizations()),
                        game::factorial(instance.organizations())),
        values_(std::size_t{1} << instance.organizations()) {}

 private:
  void value_contributions(const FcfsSchedules& schedules, std::int64_t t, std::vector<Int128>& scaled_phi) override {
    for (std::size_t slot = 0; slot < schedules.size(); ++slot)
      values_[schedules.coalition(slot)] = schedules.value_at(slot, t);
    game::scaled_shapley_values_of_grand(values_, scaled_phi);
  }

  std::vector<std::int64_t> values_;
};

}  // namespace

std::unique_ptr<Policy> make_coalitions_all(const Instance& instance) {
  return std::make_unique<AllCoalitions>(instance);
}

}  // namespace shapley::scheduling
