// The key against psi of a schedule that was stopped at t and is looked at a horizon later, unit part by unit part; the
// order against the words of its definition.
#include "game/serving_order.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "game/utility.hpp"

namespace shapley::game {
namespace {

struct Run {
  std::int64_t begin;
  std::int64_t end;  // exclusive
  std::int64_t processors;
};

rc::Gen<Run> runs() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 60), rc::gen::inRange(0, 50), rc::gen::inRange(0, 4)),
                      [](const std::tuple<int, int, int>& r) {
                        const auto [begin, length, processors] = r;
                        return Run{begin, begin + length, processors};
                      });
}

// Nothing runs from `stop` on; the unit part of second i is worth seen - i.
Int128 naive_stopped(const std::vector<Run>& schedule, std::int64_t stop, std::int64_t seen) {
  Int128 sum = 0;
  for (const Run& run : schedule)
    for (std::int64_t i = run.begin; i < run.end && i < stop; ++i) sum += Int128{run.processors} * (seen - i);
  return sum;
}

UtilitySum books_of(const std::vector<Run>& schedule, std::int64_t t) {
  UtilitySum sum;
  for (const Run& run : schedule) {
    if (run.begin > t) continue;
    const ProcessorMillionths processors{run.processors * k_micro};
    if (run.end <= t) {
      sum.add_finished(processors, {run.begin}, {run.end});
    } else {
      sum.add_running(processors, {run.begin});
    }
  }
  return sum;
}

TEST(Key, CountsWorkOnceForEverySecondOfTheHorizon) {
  // 2 processors over [10, 14), seen at 12: seconds 10 and 11 are done, worth 2 (2 + 1) = 6, by work of 4.
  UtilitySum got;
  got.add_running({2 * k_micro}, {10});
  EXPECT_EQ(got.utility_at({12}).value, 6 * k_micro);
  EXPECT_EQ(frozen_ahead(got.utility_at({12}).value, got.work_at({12}).value, Duration{0}), 6 * k_micro);
  // Stopped there and seen at 17, the two seconds are worth 2 (7 + 6).
  EXPECT_EQ(frozen_ahead(got.utility_at({12}).value, got.work_at({12}).value, Duration{5}), 26 * k_micro);
  // A second that begins at t is not done at t, and adds nothing however far one looks.
  UtilitySum begun;
  begun.add_running({k_micro}, {12});
  EXPECT_EQ(frozen_ahead(begun.utility_at({12}).value, begun.work_at({12}).value, k_longest_horizon), 0);
}

TEST(Key, TurnsASignWhereDebtsAreOldAndGrowing) {
  // Owed 12 by now, but it gets more than it gives: within 7 seconds it owes.
  EXPECT_EQ(key({12}, {-2}, {}, {{0}}).value, 12);
  EXPECT_EQ(key({12}, {-2}, {}, {{6}}).value, 0);
  EXPECT_EQ(key({12}, {-2}, {}, {{7}}).value, -2);
}

TEST(Key, CountsWhatRunsByItsFactor) {
  EXPECT_EQ(key({12}, {-2}, {-3}, {{6}, 0}).value, 0);
  EXPECT_EQ(key({12}, {-2}, {-3}, {{6}, 5}).value, -15);
  EXPECT_EQ(key({12}, {-2}, {3}, {{6}, 5}).value, 15);
}

TEST(RunningFactor, IsWhatOneProcessorIsWorthThatStaysHeldForTheMean) {
  constexpr RunningWeight k_full{k_whole_running_weight};
  // 3 of 10 seconds: the first is worth 10 at the end, then 9 and 8; by halves, as c has it, 3 (10 - 3/2) = 25.5.
  EXPECT_EQ(running_factor({10}, k_full, {3}), 25);
  EXPECT_EQ(running_factor({10}, k_full, {4}), 32);
  // As long as the horizon or longer: half its square.
  EXPECT_EQ(running_factor({10}, k_full, {10}), 50);
  EXPECT_EQ(running_factor({10}, k_full, {11}), 50);
  EXPECT_EQ(running_factor({10}, k_full, k_longest_horizon), 50);
  // A tenth of 4 (100 - 2) = 392, rounded down.
  EXPECT_EQ(running_factor({100}, {k_whole_running_weight / 10}, {4}), 39);
  EXPECT_EQ(running_factor({100}, {}, {4}), 0);
  EXPECT_EQ(running_factor({0}, k_full, {4}), 0);
  EXPECT_EQ(running_factor(k_longest_horizon, k_full, k_longest_horizon),
            k_longest_horizon.value * k_longest_horizon.value / 2);
}

// The sum over the seconds that a processor is still held, each worth what is left of the horizon in its middle.
RC_GTEST_PROP(RunningFactor, IsTheSumOverTheSecondsThatAreStillHeld, ()) {
  const std::int64_t horizon = *rc::gen::inRange(0, 300);
  const std::int64_t residual = *rc::gen::inRange(1, 400);
  const std::int32_t weight = *rc::gen::inRange(0, k_whole_running_weight + 1);
  std::int64_t twice = 0;
  for (std::int64_t second = 0; second < residual && second < horizon; ++second) twice += 2 * (horizon - second) - 1;
  RC_ASSERT(running_factor({horizon}, {weight}, {residual}) == twice * weight / (2 * k_whole_running_weight));
}

TEST(StartFactor, IsTheFirstUnitOfAJobWhereWhatRunsDoesNotCount) {
  EXPECT_EQ(start_factor({{600}, 0}), 1);
  EXPECT_EQ(start_factor({{600}, 7}), 7);
}

TEST(Key, IsExactForYearsOfALargeCluster) {
  // A million processors for a year, and the longest horizon.
  const Int128 year = 31'536'000;
  const Int128 micro_processors = Int128{1'000'000} * k_micro;
  UtilitySum got;
  got.add_finished({static_cast<std::int64_t>(micro_processors)}, {0}, {static_cast<std::int64_t>(year)});
  const Instant t{static_cast<std::int64_t>(10 * year)};
  const Int128 expected = micro_processors * (year * 11 * year - year * (year - 1) / 2);
  EXPECT_EQ(frozen_ahead(got.utility_at(t).value, got.work_at(t).value, k_longest_horizon), expected);
}

RC_GTEST_PROP(Key, EqualsTheStoppedScheduleSeenLater, ()) {
  const auto got = *rc::gen::container<std::vector<Run>>(runs());
  const auto given = *rc::gen::container<std::vector<Run>>(runs());
  const Instant t{*rc::gen::inRange(0, 120)};
  const Duration horizon{*rc::gen::inRange(0, 1000)};
  const std::int64_t seen = (t + horizon).value;
  const Int128 expected = naive_stopped(given, t.value, seen) - naive_stopped(got, t.value, seen);
  const UtilitySum gave = books_of(given, t.value);
  const UtilitySum had = books_of(got, t.value);
  const Utility found =
      key(gave.utility_at(t) - had.utility_at(t), gave.work_at(t) - had.work_at(t), {}, KeyTerms{horizon});
  RC_ASSERT(found.value == expected * k_micro);
}

RC_GTEST_PROP(Key, Is64BitsWhereTheSimulatorCounts, ()) {
  const auto got = *rc::gen::container<std::vector<Run>>(runs());
  const std::int64_t t = *rc::gen::inRange(0, 120);
  const Duration horizon{*rc::gen::inRange(0, 1000)};
  Accrual accrual;
  for (std::int64_t second = 0; second <= t; ++second) {
    for (const Run& run : got) {
      if (run.begin == second) accrual.change(second, run.processors);
      if (run.end == second) accrual.change(second, -run.processors);
    }
  }
  RC_ASSERT(frozen_ahead(accrual.psi_at(t), accrual.done_at(t), horizon) == naive_stopped(got, t, t + horizon.value));
}

using Row = ServingRow<std::int64_t>;

rc::Gen<std::vector<Row>> any_rows() {
  const auto guarantees = rc::gen::element(0, 1, 333'333, 500'000, 800'000, k_whole_guarantee);
  return rc::gen::container<std::vector<Row>>(
      rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::int64_t>(-3, 4), rc::gen::inRange<std::int64_t>(0, 9),
                                  rc::gen::inRange<std::int64_t>(0, 9), rc::gen::arbitrary<bool>(), guarantees),
                   [](const std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, int>& r) {
                     return Row{std::get<0>(r), std::get<1>(r), std::get<2>(r), std::get<3>(r), {std::get<4>(r)}};
                   }));
}

// The whole weight: what runs at t goes on for `residual` seconds, and nothing else runs. By halves of a second's work,
// which c has and psi, counted in whole seconds, has not: the running processors' part differs by (residual) / 2 each.
RC_GTEST_PROP(Key, WithTheWholeWeightIsTheScheduleThatGoesOnForTheMean, ()) {
  const auto got = *rc::gen::container<std::vector<Run>>(runs());
  const Instant t{*rc::gen::inRange(0, 120)};
  const Duration residual{2 * *rc::gen::inRange(1, 40)};  // even, so that nothing is rounded
  const Duration horizon{*rc::gen::inRange(100, 1000)};
  std::vector<Run> going_on;
  std::int64_t used = 0;
  for (Run run : got) {
    const bool runs_now = run.begin <= t.value && run.end > t.value;
    if (run.begin > t.value) continue;
    if (runs_now) run.end = (t + residual).value;
    if (runs_now) used += run.processors;
    going_on.push_back(run);
  }
  const std::int64_t seen = (t + horizon).value;
  const UtilitySum had = books_of(got, t.value);
  const KeyTerms terms = key_terms({horizon, {}, {k_whole_running_weight}}, residual);
  const Utility found = key(Utility{} - had.utility_at(t), CpuTime{} - had.work_at(t), {-used * k_micro}, terms);
  const Int128 halves = Int128{used} * residual.value / 2;
  RC_ASSERT(found.value == -(naive_stopped(going_on, seen, seen) - halves) * k_micro);
}

// By definition: of what is left, those that do not go last if there are any; of these those below if there are any; of
// these the greatest key; of these the first.
std::vector<std::size_t> naive_order(std::vector<Row> rows) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(rows.size());
  const auto below = [&](std::size_t i) {
    return rows[i].has_startable && rows[i].used * k_whole_guarantee < rows[i].guarantee.millionths * rows[i].owned;
  };
  while (order.size() < rows.size()) {
    std::optional<std::size_t> best;
    for (const auto& [last, wanted] : {std::pair{false, true}, {false, false}, {true, true}, {true, false}}) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool is_of_these = !taken[i] && rows[i].last == last && below(i) == wanted;
        if (is_of_these && (!best || rows[i].key > rows[*best].key)) best = i;
      }
      if (best) break;
    }
    taken[*best] = true;
    order.push_back(*best);
  }
  return order;
}

RC_GTEST_PROP(ServingOrder, IsTheOneOfItsDefinition, ()) {
  std::vector<Row> rows = *any_rows();
  for (Row& row : rows) row.last = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
  RC_ASSERT(serving_order<std::int64_t>(rows) == naive_order(rows));
}

RC_GTEST_PROP(ServingOrder, WithoutGuaranteeIsByKeyAlone, ()) {
  std::vector<Row> rows = *any_rows();
  for (Row& row : rows) row.guarantee = {};
  const std::vector<std::size_t> order = serving_order<std::int64_t>(rows);
  RC_ASSERT(std::is_sorted(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(-rows[a].key, a) < std::tuple(-rows[b].key, b);
  }));
}

TEST(ServingOrder, ServesOwnersBelowTheirGuaranteeFirst) {
  // Both own 8; the second has had far more, but runs on 3 of the 4 that half a guarantee gives it.
  std::array<Row, 2> rows{Row{.key = 100, .owned = 8, .used = 4, .has_startable = true, .guarantee = {500'000}},
                          Row{.key = -100, .owned = 8, .used = 3, .has_startable = true, .guarantee = {500'000}}};
  EXPECT_EQ(serving_order<std::int64_t>(rows), (std::vector<std::size_t>{1, 0}));
  rows[1].used = 4;  // no longer below
  EXPECT_EQ(serving_order<std::int64_t>(rows), (std::vector<std::size_t>{0, 1}));
  rows[1].used = 3;
  rows[1].has_startable = false;  // nothing to start: no claim
  EXPECT_EQ(serving_order<std::int64_t>(rows), (std::vector<std::size_t>{0, 1}));
}

// The rule, asked again after every start, with leads for keys: astro, bio and chem of docs/equations.md.
TEST(ServingOrder, TheExampleOfTheConceptsPage) {
  constexpr Guarantee k_half{500'000};
  std::array<Row, 3> rows{Row{.key = 5, .owned = 8, .used = 4, .has_startable = true, .guarantee = k_half},
                          Row{.key = 0, .owned = 8, .used = 2, .has_startable = true, .guarantee = k_half},
                          Row{.key = 3, .owned = 0, .used = 2, .has_startable = true, .guarantee = k_half}};
  std::array<std::vector<std::int64_t>, 3> queues{{{1, 3, 1, 1}, {1, 1, 1, 1}, {1, 1, 1}}};
  std::string served;
  for (std::int64_t free = 8; free > 0;) {
    const std::size_t next = serving_order<std::int64_t>(rows).front();
    ASSERT_FALSE(queues[next].empty());
    const std::int64_t processors = queues[next].front();
    queues[next].erase(queues[next].begin());
    served += "abc"[next];
    rows[next].key -= processors;
    rows[next].used += processors;
    free -= processors;
  }
  EXPECT_EQ(served, "bbaacc");
  EXPECT_EQ(rows[0].key, 1);
  EXPECT_EQ(rows[1].used, 4);
  EXPECT_EQ(rows[2].key, 1);
}

TEST(ServingOrder, OrdersTheAmountsOfTheBooks) {
  const Int128 large = Int128{1} << 100U;
  const std::array<ServingRow<Utility>, 3> rows{ServingRow<Utility>{.key = {large}},
                                                ServingRow<Utility>{.key = {large + 1}},
                                                ServingRow<Utility>{.key = {large}}};
  EXPECT_EQ(serving_order<Utility>(rows), (std::vector<std::size_t>{1, 0, 2}));
}

// Guarantees are parts of what the organizations own, so they never exceed the machine: while all processors that are
// owned are in use one organization is not below, and all can reach the guarantee at once.
RC_GTEST_PROP(Guarantees, NeverSumToMoreThanTheMachine, ()) {
  std::vector<Row> rows = *any_rows();
  std::int64_t owned = 0;
  std::int64_t used = 0;
  std::int64_t enough = 0;  // the fewest processors that leave no organization below
  for (Row& row : rows) {
    row.has_startable = true;
    owned += row.owned;
    used += row.used;
    std::int64_t own = 0;
    while (is_below(own, row.owned, row.guarantee)) ++own;
    RC_ASSERT(own <= row.owned);
    enough += own;
  }
  RC_ASSERT(enough <= owned);
  const bool all_below = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.below_guarantee(); });
  RC_ASSERT(rows.empty() || used < owned || !all_below);
}

TEST(Notation, ReadsHorizons) {
  const std::array<std::pair<const char*, std::int64_t>, 8> good{{{"0", 0},
                                                                  {"300", 300},
                                                                  {"90s", 90},
                                                                  {"30m", 1800},
                                                                  {"6h", 21'600},
                                                                  {"7d", 604'800},
                                                                  {"0d", 0},
                                                                  {"365d", 31'536'000}}};
  for (const auto& [text, seconds] : good) {
    const auto horizon = parse_horizon(text);
    ASSERT_TRUE(horizon) << text << ": " << horizon.error().what;
    EXPECT_EQ(horizon->value, seconds) << text;
  }
  for (const char* text : {"", "d", "-1", "-0", "7 d", "7ds", "1.5h", "7w", "0x10", "99999999999999999999"}) {
    const auto horizon = parse_horizon(text);
    ASSERT_FALSE(horizon) << text;
    EXPECT_NE(horizon.error().what.find("write 0, seconds"), std::string::npos) << horizon.error().what;
  }
  for (const char* text : {"366d", "31536001", "9000000000000000000d"}) {
    const auto horizon = parse_horizon(text);
    ASSERT_FALSE(horizon) << text;
    EXPECT_NE(horizon.error().what.find("at most 365 days"), std::string::npos) << horizon.error().what;
  }
}

TEST(Notation, ReadsGuarantees) {
  const std::array<std::pair<const char*, std::int32_t>, 8> good{{{"0", 0},
                                                                  {"0.5", 500'000},
                                                                  {".5", 500'000},
                                                                  {"0.05", 50'000},
                                                                  {"1", 1'000'000},
                                                                  {"1.0", 1'000'000},
                                                                  {"0.333333", 333'333},
                                                                  {"0.000001", 1}}};
  for (const auto& [text, millionths] : good) {
    const auto guarantee = parse_guarantee(text);
    ASSERT_TRUE(guarantee) << text << ": " << guarantee.error().what;
    EXPECT_EQ(guarantee->millionths, millionths) << text;
  }
  for (const char* text : {"", ".", "0.", "half", "-0.5", "0.-5", "0.3333333", "50%", "0,5", "1e-3", " 0.5"}) {
    const auto guarantee = parse_guarantee(text);
    ASSERT_FALSE(guarantee) << text;
    EXPECT_NE(guarantee.error().what.find("write a decimal"), std::string::npos) << guarantee.error().what;
  }
  for (const char* text : {"1.000001", "2", "50"}) {
    const auto guarantee = parse_guarantee(text);
    ASSERT_FALSE(guarantee) << text;
    EXPECT_NE(guarantee.error().what.find("at most 1"), std::string::npos) << guarantee.error().what;
  }
}

TEST(Notation, ReadsTheWeightOfWhatRuns) {
  EXPECT_EQ(parse_running_weight("0")->millionths, 0);
  EXPECT_EQ(parse_running_weight("0.1")->millionths, 100'000);
  EXPECT_EQ(parse_running_weight("1")->millionths, k_whole_running_weight);
  EXPECT_FALSE(parse_running_weight("10%").has_value());
  const auto large = parse_running_weight("1.5");
  ASSERT_FALSE(large.has_value());
  EXPECT_NE(large.error().what.find("the weight of what runs is at most 1"), std::string::npos) << large.error().what;
  EXPECT_EQ(format_running_weight({100'000}), "0.1");
}

RC_GTEST_PROP(Notation, WritesWhatItReads, ()) {
  const Duration horizon{*rc::gen::inRange<std::int64_t>(0, k_longest_horizon.value + 1)};
  RC_ASSERT(parse_horizon(format_horizon(horizon)).value() == horizon);
  const Guarantee guarantee{*rc::gen::inRange(0, k_whole_guarantee + 1)};
  RC_ASSERT(parse_guarantee(format_guarantee(guarantee)).value() == guarantee);
  const RunningWeight weight{*rc::gen::inRange(0, k_whole_running_weight + 1)};
  RC_ASSERT(parse_running_weight(format_running_weight(weight)).value() == weight);
}

TEST(Notation, WritesTheLargestUnit) {
  EXPECT_EQ(format_horizon({0}), "0");
  EXPECT_EQ(format_horizon({604'800}), "7d");
  EXPECT_EQ(format_horizon({21'600}), "6h");
  EXPECT_EQ(format_horizon({61}), "61s");
  EXPECT_EQ(format_guarantee({500'000}), "0.5");
  EXPECT_EQ(format_guarantee({k_whole_guarantee}), "1");
}

}  // namespace
}  // namespace shapley::game
