#include "scheduling/policies/ref.hpp"

#include <bit>

#include "scheduling/fair_schedules.hpp"
#include "scheduling/guaranteed.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

// Every coalition has its own schedule here, the grand one included; the driver's schedule repeats the grand
// coalition's, so what it reports of starts and ends adds nothing but who is below the guarantee within an instant.
// Where what runs counts, all coalitions decide an instant first, the grand one last, and the driver repeats what that
// did: who of an instant's starts goes first makes no difference to any schedule.
class Ref final : public Policy {
 public:
  Ref(const Instance& instance, const game::ServingRule& rule)
      : schedules_(instance.processors, rule),
        terms_(rule),
        guaranteed_(instance.processors, rule.guarantee),
        used_(instance.organizations()),
        started_(instance.organizations()) {}

  void released(std::int64_t, const Job& job) override {
    if (terms_.weigh_running()) take_measure();
    schedules_.release(job);
  }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    ++used_[organization];
    ++started_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t organization, std::int32_t) override { --used_[organization]; }

  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running(); }
  // Before t the coalitions decided by what had ended before t.
  void ran(std::int64_t t, Duration duration) override {
    if (t != last_end_) {
      take_measure();
      schedules_.run_before(t);
      last_end_ = t;
    }
    terms_.ran(duration);
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    if (scarce && terms_.weigh_running()) return served_by_grand(t, waiting);
    const Coalition first =
        scarce ? guaranteed_.first_of(waiting, [this](std::size_t u) { return used_[u]; }) : waiting;
    if (!scarce || std::has_single_bit(first)) return static_cast<std::size_t>(std::countr_zero(first));
    schedules_.run_before(t);
    return schedules_.choose(game::grand_coalition(schedules_.organizations()), first, t);
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    if (terms_.weigh_running()) take_measure();
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
    if (terms_.weigh_running()) take_measure();
    schedules_.run_before(t);
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (const Coalition c : game::all_coalitions(schedules_.organizations()))
      values.emplace_back(c, schedules_.value_at(c, t));
    return values;
  }

 private:
  void take_measure() { schedules_.set_running_factor(terms_.now().running_factor); }

  // A waiting organization of which the grand coalition's schedule has started more by the end of the instant.
  [[nodiscard]] std::size_t served_by_grand(std::int64_t t, Coalition waiting) {
    take_measure();
    schedules_.run_before(t + 1);
    const Coalition grand = game::grand_coalition(schedules_.organizations());
    Coalition rest = waiting;
    while (!std::has_single_bit(rest) && schedules_.started(grand, static_cast<std::size_t>(std::countr_zero(rest))) <=
                                             started_[static_cast<std::size_t>(std::countr_zero(rest))])
      rest &= rest - 1;
    return static_cast<std::size_t>(std::countr_zero(rest));
  }

  FairSchedules schedules_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  std::vector<std::int64_t> used_;    // by organization
  std::vector<std::size_t> started_;  // jobs, by organization
  std::int64_t last_end_ = -1;        // of a run
};

}  // namespace

std::uint64_t ref_memory_bound(const Instance& instance) {
  return FairSchedules::memory_bound(instance);
}

std::unique_ptr<Policy> make_ref(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<Ref>(instance, rule);
}

}  // namespace shapley::scheduling
