#include "scheduling/policies/ref.hpp"

#include <bit>

#include "scheduling/fair_schedules.hpp"
#include "scheduling/guaranteed.hpp"

namespace shapley::scheduling {

namespace {

// Every coalition has its own schedule here, the grand one included; the driver's schedule repeats the grand
// coalition's, so what it reports of starts and ends adds nothing but who is below the guarantee within an instant.
class Ref final : public Policy {
 public:
  Ref(const Instance& instance, const game::ServingRule& rule)
      : schedules_(instance.processors, rule), guaranteed_(instance.processors, rule.guarantee) {}

  void released(std::int64_t, const Job& job) override { schedules_.release(job); }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    guaranteed_.change(organization, 1);
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t organization, std::int32_t) override {
    guaranteed_.change(organization, -1);
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    const Coalition first = scarce ? guaranteed_.first_of(waiting) : waiting;
    if (!scarce || std::has_single_bit(first)) return static_cast<std::size_t>(std::countr_zero(first));
    schedules_.run_before(t);
    return schedules_.choose(game::grand_coalition(schedules_.organizations()), first, t);
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    schedules_.run_before(t);
    std::vector<std::int64_t> values{0};
    for (const auto& [coalition, value] : coalition_values(t)) values.push_back(value);
    std::vector<Int128> scaled(schedules_.organizations());
    game::scaled_shapley_values_of_grand(values, scaled);
    std::vector<Rational> phi;
    for (const Int128 value : scaled) phi.push_back({value, game::factorial(schedules_.organizations())});
    return phi;
  }

  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) override {
    schedules_.run_before(t);
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (const Coalition c : game::all_coalitions(schedules_.organizations()))
      values.emplace_back(c, schedules_.value_at(c, t));
    return values;
  }

 private:
  FairSchedules schedules_;
  Guaranteed guaranteed_;
};

}  // namespace

std::uint64_t ref_memory_bound(const Instance& instance) {
  return FairSchedules::memory_bound(instance);
}

std::unique_ptr<Policy> make_ref(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<Ref>(instance, rule);
}

}  // namespace shapley::scheduling
