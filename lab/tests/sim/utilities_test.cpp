// Utilities, the axioms of Theorem 4.1, and REF for arbitrary utilities.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::sim {
namespace {

using scheduling::Axiom;
using scheduling::ScheduledJob;

std::int64_t utility(const char* name, std::span<const ScheduledJob> jobs, std::int64_t t) {
  return scheduling::schedule_utility(**scheduling::find_utility_function(name))(jobs, {t});
}

// SR13 Figure 2: nine jobs of O(1) on three processors, (start, duration) as drawn, all released at 0.
std::vector<ScheduledJob> figure_2() {
  return {{{0}, {0}, {3}}, {{0}, {0}, {4}}, {{0}, {0}, {3}}, {{0}, {3}, {6}}, {{0}, {3}, {3}},
          {{0}, {4}, {6}}, {{0}, {6}, {3}}, {{0}, {9}, {3}}, {{0}, {10}, {4}}};
}

TEST(Figure2, UtilityAndFlowTime) {
  EXPECT_EQ(utility("psi_sp", figure_2(), 13), 262);
  EXPECT_EQ(utility("psi_sp", figure_2(), 14), 297);
  EXPECT_EQ(utility("flow_time", figure_2(), 14), -70);
}

TEST(Figure2, Variants) {
  auto without_other = figure_2();  // no job of O(2): the last job starts at 9 instead of 10
  without_other[8].start = {9};
  EXPECT_EQ(utility("psi_sp", without_other, 14), 297 + 4);
  EXPECT_EQ(utility("flow_time", without_other, 14), -70 + 1);
  auto later = figure_2();  // J6 one second later: six units lose one second each
  later[5].start = {5};
  EXPECT_EQ(utility("psi_sp", later, 14), 297 - 6);
  EXPECT_EQ(utility("flow_time", later, 14), -70 - 1);
  auto missing = figure_2();  // J9 not scheduled at all
  missing.pop_back();
  EXPECT_EQ(utility("psi_sp", missing, 14), 297 - 10);
  EXPECT_EQ(utility("flow_time", missing, 14), -70 + 14);  // a better flow time: breaks the second axiom
}

TEST(Utilities, OfOneJob) {
  const std::vector<ScheduledJob> job{{{1}, {5}, {3}}};  // waits 4, runs 5..8
  EXPECT_EQ(utility("psi_sp", job, 7), 2 + 1);
  EXPECT_EQ(utility("flow_time", job, 7), 0);
  EXPECT_EQ(utility("flow_time", job, 8), -7);
  EXPECT_EQ(utility("turnaround", job, 7), -6);
  EXPECT_EQ(utility("turnaround", job, 9), -7);
  EXPECT_EQ(utility("waiting_time", job, 6), -4);
  EXPECT_EQ(utility("tardiness", job, 7), 0);
  EXPECT_EQ(utility("tardiness", job, 8), -1);  // due at 1 + 2*3
  EXPECT_EQ(utility("utilization", job, 7), 2);
}

bool holds(Axiom axiom, const scheduling::ScheduleUtility& psi) {
  return !scheduling::find_counterexample(axiom, psi).has_value();
}

TEST(Axioms, PsiSpHoldsAllOthersBreakSome) {
  for (const scheduling::UtilityFunction& function : scheduling::utility_functions()) {
    const auto psi = scheduling::schedule_utility(function);
    const bool all = std::all_of(scheduling::k_axioms.begin(), scheduling::k_axioms.end(),
                                 [&](Axiom axiom) { return holds(axiom, psi); });
    EXPECT_EQ(all, function.name == "psi_sp") << function.name;
  }
}

TEST(Axioms, EachIsBrokenAsThePaperSays) {
  const auto flow_time = scheduling::schedule_utility(**scheduling::find_utility_function("flow_time"));
  EXPECT_TRUE(holds(Axiom::starting_times, flow_time));
  EXPECT_FALSE(holds(Axiom::number_of_tasks, flow_time));
  EXPECT_FALSE(holds(Axiom::strategy_resistance, flow_time));
  const auto utilization = scheduling::schedule_utility(**scheduling::find_utility_function("utilization"));
  EXPECT_FALSE(holds(Axiom::starting_times, utilization));
  EXPECT_TRUE(holds(Axiom::strategy_resistance, utilization));
}

// Theorem 4.1: the constants are free, so a K1 + b K2 psi_sp holds, and a utility that is no sum over jobs does not.
TEST(Axioms, OnlyUpToConstants) {
  const auto psi_sp = scheduling::schedule_utility(scheduling::utility_functions().front());
  const auto scaled = [&](std::span<const ScheduledJob> jobs, Instant t) { return 3 * psi_sp(jobs, t) + 7; };
  const auto squared = [&](std::span<const ScheduledJob> jobs, Instant t) { return psi_sp(jobs, t) * psi_sp(jobs, t); };
  for (const Axiom axiom : scheduling::k_axioms) EXPECT_TRUE(holds(axiom, scaled));
  EXPECT_FALSE(holds(Axiom::starting_times, squared));
  EXPECT_FALSE(holds(Axiom::number_of_tasks, squared));
  EXPECT_FALSE(holds(Axiom::strategy_resistance, squared));
}

TEST(Axioms, ACounterexampleSaysWhatItShows) {
  const auto waiting = scheduling::schedule_utility(**scheduling::find_utility_function("waiting_time"));
  const auto found = scheduling::find_counterexample(Axiom::number_of_tasks, waiting);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->schedules.size(), 2U);
  for (const scheduling::EvaluatedSchedule& schedule : found->schedules)
    EXPECT_EQ(schedule.utility, waiting(schedule.jobs, found->t));
  EXPECT_LE(found->schedules[0].utility, found->schedules[1].utility);
}

// Figure 1 with psi_sp makes the schedule and the phi of Figure 3.
RC_GTEST_PROP(RefArbitrary, WithPsiSpIsRef, ()) {
  const scheduling::Instance instance = any_instance(4);
  const auto fast = scheduling::make_ref(instance);
  const auto general = scheduling::make_ref_arbitrary(instance, scheduling::utility_functions().front());
  RC_ASSERT(scheduling::simulate(instance, *fast).schedule == scheduling::simulate(instance, *general).schedule);
  const auto one = fast->contributions(instance.end.value);
  const auto other = general->contributions(instance.end.value);
  for (std::size_t u = 0; u < instance.organizations(); ++u)
    RC_ASSERT(scheduling::to_string((*one)[u]) == scheduling::to_string((*other)[u]));
  RC_ASSERT(fast->coalition_values(instance.end.value) == general->coalition_values(instance.end.value));
}

// The same over runs long enough for REF to remember its choices (fair_schedules.hpp): bursts that queue for minutes,
// over two hours.
RC_GTEST_PROP(RefArbitrary, WithPsiSpIsRefOverHours, ()) {
  scheduling::Instance instance;
  const auto organizations = *rc::gen::inRange(2U, 6U);
  for (std::uint32_t u = 0; u < organizations; ++u) instance.processors.push_back(*rc::gen::inRange(0U, 4U));
  const int bursts = *rc::gen::inRange(1, 12);
  for (int burst = 0; burst < bursts; ++burst) {
    const auto at = *rc::gen::inRange<std::int64_t>(0, 5'000);
    const auto owner = *rc::gen::inRange(0U, organizations);
    const int jobs = *rc::gen::inRange(1, 20);
    for (int j = 0; j < jobs; ++j)
      instance.jobs.push_back({{at + j % 3}, {*rc::gen::inRange<std::int64_t>(1, 400)}, owner});
  }
  instance.end = {7'200};
  const auto fast = scheduling::make_ref(instance);
  const auto general = scheduling::make_ref_arbitrary(instance, scheduling::utility_functions().front());
  RC_ASSERT(scheduling::simulate(instance, *fast).schedule == scheduling::simulate(instance, *general).schedule);
  RC_ASSERT(fast->coalition_values(instance.end.value) == general->coalition_values(instance.end.value));
}

// Efficiency holds for every utility: what is contributed in sum is the utility of all.
RC_GTEST_PROP(RefArbitrary, ContributionsSumToTheUtility, ()) {
  const scheduling::Instance instance = any_instance(4);
  for (const scheduling::UtilityFunction& function : scheduling::utility_functions()) {
    const auto policy = scheduling::make_ref_arbitrary(instance, function);
    const scheduling::SimulationResult result = scheduling::simulate(instance, *policy);
    const auto utilities = scheduling::utilities_of(function, instance, result.schedule);
    const auto phi = policy->contributions(instance.end.value);
    Int128 sum = 0;
    for (const scheduling::Rational& value : *phi) sum += value.numerator;
    for (const std::int64_t own : utilities) sum -= phi->front().denominator * own;
    RC_ASSERT(sum == 0);
  }
}

TEST(RefArbitrary, WaitingTimeIsSharedOut) {
  // One processor each; at 0 three jobs of organization 0, then one of 1, each lasts 2. All tie at 0, so 0 starts two
  // jobs and both wait 2 for the rest: psi = (-2, -2). Alone, 0 waits 2 + 4 and 1 not at all: phi = (-5, 1). So when
  // all comes again at 10, organization 1 is served first and waits no more.
  scheduling::Instance instance{{1, 1}, {}, {10}};
  for (const std::int64_t at : {0, 10}) {
    for (int i = 0; i < 3; ++i) instance.jobs.push_back({{at}, {2}, 0});
    instance.jobs.push_back({{at}, {2}, 1});
  }
  const auto& waiting_time = **scheduling::find_utility_function("waiting_time");
  const auto early = scheduling::make_ref_arbitrary(instance, waiting_time);
  const scheduling::SimulationResult first = scheduling::simulate(instance, *early);
  EXPECT_EQ(scheduling::utilities_of(waiting_time, instance, first.schedule), (std::vector<std::int64_t>{-2, -2}));
  const auto phi = early->contributions(10);
  EXPECT_EQ(scheduling::to_string((*phi)[0]), "-5");
  EXPECT_EQ(scheduling::to_string((*phi)[1]), "1");

  instance.end = {20};
  const auto late = scheduling::make_ref_arbitrary(instance, waiting_time);
  const scheduling::SimulationResult second = scheduling::simulate(instance, *late);
  EXPECT_EQ(scheduling::utilities_of(waiting_time, instance, second.schedule), (std::vector<std::int64_t>{-2 - 4, -2}));
}

TEST(Registry, UtilitiesAreRefusedByName) {
  scheduling::Instance wide{std::vector<std::uint32_t>(11, 1), {}, {10}};
  PolicyOptions options;
  options.utility = "happiness";
  EXPECT_NE(make_policy("ref", wide, options).error().what.find("known are psi_sp"), std::string::npos);
  options.utility = "flow_time";
  EXPECT_NE(make_policy("ref", wide, options).error().what.find("use psi_sp"), std::string::npos);
}

}  // namespace
}  // namespace shapley::sim
