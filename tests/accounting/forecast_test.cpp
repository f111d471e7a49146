// The forecast against books that are asked second by second.
#include "accounting/state/forecast.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario.hpp"

namespace shapley::accounting {
namespace {

constexpr std::int64_t k_watched = 60;  // seconds

// By hindsight a contribution does not go on as it does now: coalitions start and end jobs though nobody else does.
std::int64_t watched_of(EstimatorId estimator) {
  return estimator_names()[estimator.value] == "hindsight" ? 0 : k_watched;
}

// Somewhere in the middle of a scenario, under an arbitrary rule.
State arbitrary_books() {
  std::vector<Event> events = (*scenario::arbitrary()).events;
  const Instant cut = scenario::Shape{}.at(*rc::gen::inRange(0, scenario::k_steps));
  std::erase_if(events, [&](const Event& event) { return time_of(event) > cut; });
  State state;
  scenario::apply_all(state, events);
  const auto horizon = *rc::gen::element<std::int64_t>(0, 1, 10, 1'000, 604'800);
  const auto guarantee = *rc::gen::element<std::int64_t>(0, 500'000, 1'000'000);
  const auto weight = *rc::gen::element<std::int64_t>(0, 100'000, 1'000'000);
  RC_ASSERT(state.apply(RankingDeclared{cut, "direct_contr", horizon, guarantee, {}, weight}).has_value());
  if (const auto residual = *rc::gen::element<std::int64_t>(0, 3, 400, 1'000'000); residual > 0)
    RC_ASSERT(state.apply(ResidualMeasured{cut, residual, 20}).has_value());
  return state;
}

// The key's equation, of the rows that the books have then.
Int128 naive_key(State& books, Instant t, OrgId organization, EstimatorId estimator) {
  const Standing row = books.standings(t)[organization.value];
  const RankingDeclared rule = books.ranking_rule();
  const ResidualMeasured* measured = books.residual_measured();
  const Int128 m = std::min<std::int64_t>(measured == nullptr ? 3600 : measured->seconds, rule.horizon);
  const Int128 c = rule.running_weight * (m * rule.horizon * 2 - m * m) / 2'000'000;
  return row.phi(estimator).value - row.psi.value + rule.horizon * (row.given(estimator).value - row.got.value) +
         c * (row.rate(estimator).value - row.used.value);
}

RC_GTEST_PROP(Forecast, IsWhatTheBooksSaySecondBySecond, ()) {
  State state = arbitrary_books();
  const EstimatorId estimator =
      *rc::gen::elementOf(std::vector<EstimatorId>(estimator_ids().begin(), estimator_ids().end()));
  const Outlook ahead = outlook(state, state.now(), estimator);
  RC_ASSERT(ahead.at == state.now());
  std::vector<std::vector<bool>> before;  // by second: the order of each pair as the books have it
  State later = *State::load(state.save());
  for (std::int64_t d = 0; d <= watched_of(estimator) && ahead.at + Duration{d} < ahead.until; ++d) {
    const std::vector<Rank> ranks = later.ranking(ahead.at + Duration{d}, estimator);
    const std::vector<std::size_t> order = order_after(ahead, Duration{d});
    RC_ASSERT(order.size() == ranks.size());
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      RC_ASSERT(ahead.courses[order[i]].organization == ranks[i].organization);
      RC_ASSERT(ahead.courses[order[i]].below_guarantee == ranks[i].below_guarantee);
      RC_ASSERT(key_after(ahead, order[i], Duration{d}) == ranks[i].key);
      RC_ASSERT(ranks[i].key.value == naive_key(later, later.now(), ranks[i].organization, estimator));
      place[order[i]] = i;
    }
    std::vector<bool>& pairs = before.emplace_back();
    for (std::size_t a = 0; a < place.size(); ++a)
      for (std::size_t b = 0; b < place.size(); ++b) pairs.push_back(place[a] < place[b]);
  }
  const std::size_t n = ahead.courses.size();
  const Instant watched_until = ahead.at + Duration{static_cast<std::int64_t>(before.size())};
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      std::vector<Instant> seen;
      for (std::size_t d = 1; d < before.size(); ++d)
        if (before[d][a * n + b] != before[d - 1][a * n + b])
          seen.push_back(ahead.at + Duration{static_cast<std::int64_t>(d)});
      std::vector<Instant> told = turns(ahead, a, b);
      RC_ASSERT(told.size() <= 2U);
      std::erase_if(told, [&](Instant turn) { return turn >= watched_until; });
      RC_ASSERT(told == seen);
      RC_TAG(seen.empty() ? "no turn" : "a turn");
    }
  }
}

// Far ahead nobody can ask every second: the books are asked on both sides of each turn, and between them.
RC_GTEST_PROP(Forecast, TurnsFarAheadAreTheBooksOwn, ()) {
  State state = arbitrary_books();
  RC_ASSERT(state.apply(PeriodDeclared{state.now() + Duration{1}, Period::none}).has_value());
  const Outlook ahead = outlook(state, state.now(), k_default_estimator);
  const auto is_first = [&](std::size_t a, std::size_t b, Instant t) {
    State later = *State::load(state.save());
    for (const Rank& rank : later.ranking(t, k_default_estimator)) {
      if (rank.organization == ahead.courses[a].organization) return true;
      if (rank.organization == ahead.courses[b].organization) return false;
    }
    return false;
  };
  for (std::size_t a = 0; a < ahead.courses.size(); ++a) {
    for (std::size_t b = a + 1; b < ahead.courses.size(); ++b) {
      bool before = is_first(a, b, ahead.at);
      Instant since = ahead.at;
      std::vector<Instant> all = turns(ahead, a, b);
      for (const Instant turn : all) {
        const Instant middle{since.value + (turn.value - since.value) / 2};
        if (middle < turn) RC_ASSERT(is_first(a, b, middle) == before);
        RC_ASSERT(is_first(a, b, Instant{turn.value - 1}) == before);
        RC_ASSERT(is_first(a, b, turn) != before);
        before = !before;
        since = turn;
      }
      RC_ASSERT(is_first(a, b, Instant{ahead.until.value - 1}) == before);
      RC_TAG(all.empty() ? "no turn" : "a turn");
    }
  }
}

// By hand. A and B own a processor each. From 0 to 10 A runs on both: the keys part. From 20 on B runs on both.
// psi and phi by the closed form: at 20 A has 310, B has 0 and phi is 155 each, so A is 155 behind and B 155 ahead,
// with given - got = -10 and +10. From then on each second adds 1 to A's difference of rates and takes 1 from B's:
// D(d) = key(B) - key(A) = 310 + 20 d - d(d+1), which is 0 at d = (19 + sqrt(361 + 1240)) / 2 = 29.5: turns at 30.
State example_of_the_concepts_page() {
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const MicroProcessors one{k_micro};
  const auto run = [&](std::uint32_t job, const char* organization, std::int64_t begin) {
    return SegmentOpened{.key = {SegmentKind::run, JobId{job}, second(begin), 0},
                         .organization = organization,
                         .begin = second(begin),
                         .processors = one + one,
                         .nodes = {{"n1", one}, {"n2", one}}};
  };
  State state;
  for (const Event& event : std::vector<Event>{
           OrganizationsDeclared{second(0), {"A", "B"}},
           OwnershipStated{"n1", second(0), {{second(0), {{"A", k_whole_node}}}}},
           OwnershipStated{"n2", second(0), {{second(0), {{"B", k_whole_node}}}}},
           CapacityChanged{"n1", second(0), 0, one},
           CapacityChanged{"n2", second(0), 0, one},
           run(1, "A", 0),
           SegmentClosed{{SegmentKind::run, JobId{1}, second(0), 0}, second(10), CloseReason::ended, "COMPLETED"},
           run(2, "B", 20),
       }) {
    EXPECT_TRUE(state.apply(event).has_value());
  }
  return state;
}

TEST(Forecast, TheExampleOfTheConceptsPage) {
  State state = example_of_the_concepts_page();
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const Outlook ahead = outlook(state, second(20), k_default_estimator);
  ASSERT_EQ(ahead.courses.size(), 3U);  // A, B, guests
  EXPECT_EQ(turns(ahead, 1, 0), std::vector<Instant>{second(50)});
  EXPECT_EQ(turns(ahead, 0, 1), std::vector<Instant>{second(50)});
  // guests stays at 0; A rises from -155 by -10 d + d(d+1)/2, B falls likewise: both pass 0 at the same time.
  EXPECT_EQ(turns(ahead, 0, 2), std::vector<Instant>{second(50)});
  EXPECT_FALSE(ahead.by_date);
  EXPECT_EQ(ahead.until, second(20) + k_longest_forecast);
}

// With H = 10 the difference has 10 (20 - 2 d) more, so it is 510 - d(d+1): turns at 23. What runs counts against B:
// with the whole weight and m = 4, c = 4 (10 - 4/2) = 32, and the rates differ by 2. 510 - 64 - d(d+1): turns at 21.
TEST(Forecast, WhatRunsTurnsRanksSooner) {
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const auto turn_of = [&](std::int64_t weight) {
    State state = example_of_the_concepts_page();
    EXPECT_TRUE(state.apply(RankingDeclared{second(0), "direct_contr", 10, 0, {}, weight}).has_value());
    EXPECT_TRUE(state.apply(ResidualMeasured{second(1), 4, 20}).has_value());
    return turns(outlook(state, second(20), k_default_estimator), 1, 0);
  };
  EXPECT_EQ(turn_of(0), std::vector<Instant>{second(43)});
  EXPECT_EQ(turn_of(1'000'000), std::vector<Instant>{second(41)});
}

TEST(Forecast, EndsWithThePeriodAndWhereANodeChangesHands) {
  State state;
  const Instant begin = scenario::k_begin;
  ASSERT_TRUE(state.apply(OrganizationsDeclared{begin, {"A", "B"}}).has_value());
  EXPECT_EQ(state.next_dated_change(), k_end_of_time);
  ASSERT_TRUE(state.apply(PeriodDeclared{begin, Period::monthly}).has_value());
  EXPECT_EQ(state.next_dated_change(), scenario::k_month_end);
  const Outlook month = outlook(state, begin, k_default_estimator);
  EXPECT_EQ(month.until, scenario::k_month_end);
  EXPECT_TRUE(month.by_date);
  const Instant sold = begin + Duration{7};
  ASSERT_TRUE(state.apply(OwnershipStated{"n1", begin, {{begin, {{"A", k_whole_node}}}, {sold, {{"B", k_whole_node}}}}})
                  .has_value());
  EXPECT_EQ(outlook(state, begin, k_default_estimator).until, sold);
  EXPECT_EQ(outlook(state, sold, k_default_estimator).until, scenario::k_month_end);
}

}  // namespace
}  // namespace shapley::accounting
