// An estimator that is left out, and one that is behind what happened.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/estimators/request_facts.hpp"
#include "accounting/state/ranking.hpp"
#include "state_fixture.hpp"
#include "tests/support/must.hpp"

namespace shapley::accounting {
namespace {

constexpr std::uint64_t k_unbounded = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t k_short_jobs = 3000;
constexpr std::int64_t k_all_ended = k_short_jobs + 200;

StateOptions without_hindsight() {
  return {.left_out = {hindsight()}};
}

// ann owns six processors, bob one, cid one. Each second, or every `apart` seconds, one job begins, most of them cid's,
// and waits for up to a minute first.
std::vector<Event> busy_site(std::int64_t apart = 1) {
  std::vector<Event> events{OrganizationsDeclared{at(0), {"ann", "bob", "cid"}},
                            owned("n1", 0, {{"ann", k_whole_node}}),
                            owned("n2", 0, {{"bob", k_whole_node}}),
                            owned("n3", 0, {{"cid", k_whole_node}}),
                            capacity("n1", 0, 6),
                            capacity("n2", 0, 1),
                            capacity("n3", 0, 1)};
  const std::vector<std::string> names{"cid", "ann", "cid", "bob", "cid", "cid", "guests"};
  for (std::int64_t i = 0; i < k_short_jobs; ++i) {
    const auto job = static_cast<std::uint32_t>(i + 1);
    const std::string& name = names[static_cast<std::size_t>(i) % names.size()];
    const std::int64_t begin = 60 + i * apart;
    const SegmentOpened pending = wait(job, name, begin - i % 60, 1);
    SegmentOpened started = run(job, name, begin, {{i % 8 == 6 ? "n2" : i % 8 == 7 ? "n3" : "n1", cores(1)}});
    started.released = pending.begin;
    events.insert(events.end(), {pending, SegmentClosed{pending.key, at(begin), CloseReason::started, "RUNNING"},
                                 started, closed(started, begin + apart * (1 + i * 37 % 8))});
  }
  return events;
}

State books_of(const std::vector<Event>& events, const StateOptions& options = {}) {
  State state(options);
  for (const Event& event : events) {
    const auto applied = state.apply(event);
    EXPECT_TRUE(applied && *applied == Applied::changed) << event_key(event);
  }
  return state;
}

// By OrgId.
std::vector<Utility> contributions(State& state, EstimatorId estimator) {
  std::vector<Utility> phi;
  for (const Standing& row : state.advance(std::max(state.now(), at(k_all_ended))).standings())
    phi.push_back(row.phi(estimator));
  return phi;
}

TEST(KeptEstimators, WhatIsLeftOutSaysThatEachGaveWhatItGot) {
  const std::vector<Event> events = busy_site();
  State with = books_of(events);
  State without = books_of(events, without_hindsight());
  EXPECT_EQ(with.kept(), EstimatorSet::all());
  EXPECT_EQ(without.kept(), EstimatorSet{hindsight()}.others());
  const std::vector<Standing> rows = with.advance(at(k_all_ended)).standings();
  const std::vector<Standing> fewer = without.advance(at(k_all_ended)).standings();
  ASSERT_EQ(rows.size(), fewer.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(fewer[i].phi(hindsight()), rows[i].psi);
    EXPECT_EQ(fewer[i].given(hindsight()), rows[i].got);
    for (const EstimatorId other : estimator_ids()) {
      if (other == hindsight()) continue;
      EXPECT_EQ(fewer[i].credits[other.value], rows[i].credits[other.value]) << name_of(other);
    }
  }
  EXPECT_TRUE(std::ranges::any_of(rows, [](const Standing& row) { return row.phi(hindsight()) != row.psi; }));
}

TEST(KeptEstimators, ACheckpointSaysWhatWasLeftOut) {
  const std::vector<Event> events = busy_site();
  State with = books_of(events);
  State without = books_of(events, without_hindsight());
  const std::string text = with.save();
  const std::string shorter = without.save();
  const auto refused = State::load(shorter);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_NE(refused.error().what.find("hindsight was not kept"), std::string::npos) << refused.error().what;
  auto again = must(State::load(shorter, without_hindsight()));
  EXPECT_EQ(again.save(), shorter);
  auto as_saved = must(State::load(shorter, {.as_saved = true}));
  EXPECT_EQ(as_saved.kept(), without.kept());
  EXPECT_EQ(as_saved.save(), shorter);
  // Leaving out costs no replay.
  auto left_out = must(State::load(text, without_hindsight()));
  EXPECT_EQ(left_out.save(), shorter);
  with.leave_out(hindsight());
  EXPECT_EQ(with.save(), shorter);
}

TEST(KeptEstimators, MoreOrganizationsThanHindsightIsKeptForAreRankedByItsStandIn) {
  State state;
  std::vector<std::string> names;
  for (int i = 0; i < 31; ++i) names.push_back("o" + std::to_string(i));
  ASSERT_TRUE(state.apply(OrganizationsDeclared{at(0), names}));
  ASSERT_TRUE(state.apply(owned("n1", 0, {{"o3", k_whole_node}})));
  ASSERT_TRUE(state.apply(capacity("n1", 0, 4)));
  ASSERT_TRUE(state.apply(run(1, "o5", 10, {{"n1", cores(2)}})));
  EXPECT_FALSE(state.kept().contains(hindsight()));
  EXPECT_EQ(state.advance(at(100)).ranking(hindsight()),
            state.advance(at(100)).ranking(parse_estimator("direct_contr")));
}

TEST(KeptEstimators, WhatIsBehindIsStoodInForUntilItHasCaughtUp) {
  const EstimatorId direct = parse_estimator("direct_contr").value();
  const std::vector<Event> events = busy_site();
  State eager = books_of(events);
  const std::vector<Utility> expected = contributions(eager, hindsight());

  State state = books_of(events);
  constexpr std::uint64_t k_little = 10;
  EstimatorSet able = state.advance(at(k_all_ended)).catch_up(k_little);
  ASSERT_FALSE(able.contains(hindsight())) << "thousands of jobs came at once";
  EXPECT_TRUE(able.contains(direct));
  EXPECT_EQ(acting(hindsight(), able), direct);
  EXPECT_EQ(acting(direct, able), direct);
  const std::vector<Standing> rows = state.advance(at(k_all_ended)).standings(able);
  for (const Standing& row : rows) EXPECT_EQ(row.phi(hindsight()), row.psi);
  EXPECT_EQ(state.advance(at(k_all_ended)).ranking(acting(hindsight(), able)),
            eager.advance(at(k_all_ended)).ranking(direct));
  EXPECT_FALSE(state.advance(at(k_all_ended)).catch_up(k_little).contains(hindsight()))
      << "ranks did not make it do all the work";

  int passes = 2;
  for (; !able.contains(hindsight()) && passes < 10'000; ++passes)
    able = state.advance(at(k_all_ended)).catch_up(k_little);
  EXPECT_EQ(able, state.kept());
  EXPECT_GT(passes, 3);
  EXPECT_EQ(contributions(state, hindsight()), expected);
  EXPECT_EQ(state.advance(at(k_all_ended)).ranking(hindsight()), eager.advance(at(k_all_ended)).ranking(hindsight()));
  EXPECT_NE(state.advance(at(k_all_ended)).ranking(hindsight()), state.advance(at(k_all_ended)).ranking(direct));
}

// Three times as long as hindsight keeps open. While it is made from the beginning, a job becomes known that began in
// what it has settled on its way.
TEST(KeptEstimators, WhatBecomesKnownWhileItCatchesUpCountsToo) {
  constexpr std::int64_t k_apart = 4;
  constexpr std::uint64_t k_some = 2'000;
  std::vector<Event> events = busy_site(k_apart);
  const SegmentOpened late = run(k_short_jobs + 1, "bob", 1'000, {{"n1", cores(1)}});
  State state = books_of(events);
  for (int passes = 0; passes < 4; ++passes) {
    ASSERT_FALSE(state.catch_up(k_some).contains(hindsight())) << "there is no way left to go";
  }
  for (const Event& event : {Event(late), Event(closed(late, 1'900))}) {
    events.push_back(event);
    const auto applied = state.apply(event);
    ASSERT_TRUE(applied && *applied == Applied::changed);
  }
  int passes = 0;
  while (!state.catch_up(k_some).contains(hindsight()) && passes < 10'000) ++passes;
  EXPECT_GT(passes, 4) << "it went on where it was";
  State at_once = books_of(events);
  const Instant end = state.now();
  EXPECT_EQ(state.advance(end).ranking(hindsight()), at_once.advance(end).ranking(hindsight()));
  const std::vector<Standing> rows = state.advance(end).standings();
  const std::vector<Standing> expected = at_once.advance(end).standings();
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].phi(hindsight()), expected[i].phi(hindsight()));
}

// In as many steps as it takes, and with the same books in the end.
TEST(KeptEstimators, ForgetsOnlyWhatItHasTimeFor) {
  const StateOptions memory{
      .memory_horizon = Duration{100}, .most_finished = 1'000'000, .shortest_memory_horizon = Duration{100}};
  const std::vector<Event> events = busy_site();
  State at_once = books_of(events, memory);
  at_once.advance(at(k_all_ended));
  EXPECT_TRUE(at_once.compact(k_end_of_time, k_unbounded));
  State state = books_of(events, memory);
  state.advance(at(k_all_ended));
  int steps = 0;
  Instant horizon = state.memory_horizon();
  while (!state.compact(k_end_of_time, 1) && steps < 1000) {
    EXPECT_GT(state.memory_horizon(), horizon);
    horizon = state.memory_horizon();
    ++steps;
  }
  EXPECT_GT(steps, 3);
  EXPECT_EQ(state.memory_horizon(), at(k_all_ended - 100));
  EXPECT_EQ(state.save(), at_once.save());
  EXPECT_EQ(contributions(state, hindsight()), contributions(at_once, hindsight()));
}

// What it knew when there became too many of them holds nothing up.
TEST(KeptEstimators, ForgetsOnAfterHindsightHasGivenUp) {
  State state = books_of(busy_site());
  std::vector<std::string> names;
  for (int i = 0; i < 31; ++i) names.push_back("o" + std::to_string(i));
  ASSERT_TRUE(state.apply(OrganizationsDeclared{at(k_all_ended), names}));
  ASSERT_FALSE(state.kept().contains(hindsight()));
  constexpr std::int64_t k_later = k_all_ended + 4 * 24 * 3600;
  state.advance(at(k_later));
  EXPECT_TRUE(state.compact(k_end_of_time, 50'000));
  EXPECT_EQ(state.memory_horizon(), at(k_later) - StateOptions{}.memory_horizon);
  EXPECT_EQ(state.remembered_jobs(), 0U);
}

// Hindsight's schedules of now receive a fact when a figure is asked for; the books may forget it before.
TEST(KeptEstimators, WhatIsForgottenBeforeAQuestionHasBeenTakenBack) {
  State forgetful({.memory_horizon = Duration{0}, .most_finished = 1, .shortest_memory_horizon = Duration{0}});
  State remembering;
  const auto apply = [&](const Event& event) {
    ASSERT_EQ(forgetful.apply(event), Applied::changed) << event_key(event);
    ASSERT_EQ(remembering.apply(event), Applied::changed) << event_key(event);
  };
  apply(OrganizationsDeclared{at(0), {"ann", "bob"}});
  apply(owned("n1", 0, {{"ann", k_whole_node}}));
  apply(capacity("n1", 0, 4));
  const SegmentOpened mistaken = run(1, "bob", 10, {{"n1", cores(2)}});
  apply(mistaken);
  apply(closed(mistaken, 400));
  ASSERT_NE(contributions(forgetful, hindsight()), std::vector<Utility>(4));
  apply(SegmentRetracted{mistaken.key, at(k_all_ended)});
  forgetful.advance(at(k_all_ended + 1));
  ASSERT_TRUE(forgetful.compact());
  ASSERT_GT(forgetful.memory_horizon(), at(400));
  EXPECT_EQ(contributions(forgetful, hindsight()), contributions(remembering, hindsight()));
}

// With twelve players there is a schedule of every coalition, with thirteen there is not. The last one to join turns
// out to have joined after the end of the period only.
TEST(KeptEstimators, APeriodOfTwelvePlayersIsTheirsWhenOthersJoinedLater) {
  State asked;
  std::vector<Event> told;
  const auto apply = [&](const Event& event) {
    told.push_back(event);
    ASSERT_EQ(asked.apply(event), Applied::changed) << event_key(event);
  };
  apply(PeriodDeclared{at(0), Period::monthly});
  for (int i = 10; i < 22; ++i) apply(wait(static_cast<std::uint32_t>(i), "o" + std::to_string(i), i, 1));
  apply(owned("n1", 0, {{"o10", k_whole_node}}));
  apply(capacity("n1", 0, 4));
  const SegmentOpened mistaken = wait(30, "o22", 100, 2);
  apply(mistaken);
  constexpr std::int64_t k_next_month = 31 * 24 * 3600;
  asked.advance(at(k_next_month));
  const auto closed_phi = [&](State& state) {
    std::vector<Utility> phi;
    for (const Standing& row : state.closed_periods().front().standings) phi.push_back(row.phi(hindsight()));
    return phi;
  };
  ASSERT_EQ(closed_phi(asked).size(), 15U);
  (void)asked.advance(at(k_next_month)).standings();
  apply(SegmentRetracted{mistaken.key, at(k_next_month)});
  apply(wait(31, "o22", k_next_month, 1));
  State anew = books_of(told);
  EXPECT_EQ(contributions(asked, hindsight()), contributions(anew, hindsight()));
  EXPECT_EQ(closed_phi(asked), closed_phi(anew));
}

// Which requests the virtual schedules get, by hand: when a run was released, and what of a wait has started.

constexpr std::int64_t k_day = 86'400;

SegmentFact waited(std::uint32_t job, std::int64_t anchor, std::int64_t begin, Instant end, std::int64_t amount) {
  return {{SegmentKind::wait, {job}, at(anchor), static_cast<std::uint32_t>(begin)}, {}, {amount}, at(begin), end};
}

SegmentFact began(std::uint32_t job, std::int64_t released, std::int64_t begin, std::uint32_t waited_as = 0) {
  SegmentFact fact{run_key(job, begin), {}, {1}, at(begin), k_end_of_time};
  fact.released = at(released);
  fact.waited_as = {waited_as};
  return fact;
}

// "1 since 100 began 120; 2 since 100" of the one group that there is, as far as is known at `until`.
std::string wanted(const RequestFacts& facts, Instant until = k_end_of_time) {
  std::string text;
  for (const WantedRequest& request : facts.wanted(facts.groups().begin()->first, until)) {
    text += (text.empty() ? "" : "; ") + std::to_string(request.amount);
    text += " since " + std::to_string(request.release - k_start.value);
    if (request.begin != hindsight::k_never) text += " began " + std::to_string(request.begin - k_start.value);
  }
  return text;
}

TEST(RequestFacts, ARunThatWasSeenToWaitWasReleasedAsItSays) {
  RequestFacts facts;
  facts.fold(1, waited(7, 0, 0, at(3 * k_day), 1));
  facts.fold(1, began(7, 0, 3 * k_day));
  EXPECT_EQ(wanted(facts), "1 since 0 began " + std::to_string(3 * k_day));
}

TEST(RequestFacts, OneThatWasNotIsBelievedForSixHours) {
  RequestFacts facts;
  const SegmentFact begun = began(7, 0, 3 * k_day);
  facts.fold(1, begun);
  EXPECT_EQ(facts.requested_by(begun).released, at(3 * k_day - 6 * 3600));
  // A wait that had ended by then is no witness, nor is one without length.
  facts.fold(1, waited(7, 0, 0, at(2 * k_day), 1));
  facts.fold(1, waited(7, 0, 3 * k_day, at(3 * k_day), 1));
  EXPECT_EQ(facts.requested_by(begun).released, at(3 * k_day - 6 * 3600));
  EXPECT_EQ(facts.requested_by(began(8, 3 * k_day - 60, 3 * k_day)).released, at(3 * k_day - 60));
}

TEST(RequestFacts, ATaskThatWaitsByItselfIsAPartOfWhatItsArrayWaitsFor) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 100, k_end_of_time, 3));
  SegmentFact split = waited(9, 100, 105, at(110), 1);
  split.waited_as = {7};
  facts.fold(1, split);
  EXPECT_EQ(facts.groups().size(), 1U);
  EXPECT_EQ(wanted(facts, at(108)), "4 since 100");
  facts.fold(1, began(9, 100, 110, 7));
  EXPECT_EQ(wanted(facts, at(112)), "1 since 100 began 110; 3 since 100");
}

TEST(RequestFacts, TasksOfAnArrayAreTheFirstPartsOfItsWait) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 100, at(110), 3));
  facts.fold(1, waited(7, 100, 110, at(120), 2));
  facts.fold(1, waited(7, 100, 120, k_end_of_time, 1));
  facts.fold(1, began(9, 100, 120, 7));
  facts.fold(1, began(8, 100, 110, 7));
  ASSERT_EQ(facts.groups().size(), 1U);
  EXPECT_EQ(wanted(facts), "1 since 100 began 110; 1 since 100 began 120; 1 since 100");
  EXPECT_EQ(wanted(facts, at(105)), "3 since 100") << "who starts is not known yet";
  EXPECT_EQ(wanted(facts, at(115)), "1 since 100 began 110; 2 since 100");
  EXPECT_EQ(wanted(facts, at(100)), "");
}

TEST(RequestFacts, WhatWaitedLaterStandsForAWaitThatTheBooksDoNotHave) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 110, at(120), 2));
  facts.fold(1, began(7, 100, 120));
  EXPECT_EQ(wanted(facts, at(105)), "2 since 100");
  facts.fold(-1, waited(7, 100, 110, at(120), 2));
  EXPECT_EQ(wanted(facts, at(105)), "1 since 100") << "nothing waits that it could be a part of";
}

}  // namespace
}  // namespace shapley::accounting
