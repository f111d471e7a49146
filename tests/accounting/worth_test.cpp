// What cooperation is worth: against every coalition's schedule made alone, second by second from the first one on, and
// by hand.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/state.hpp"
#include "naive_books.hpp"
#include "scenario.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

using naive::Members;

bool is_organization(const std::string& name) {
  return name != k_guests && name != k_commons;
}

Members names_of(const State& state, const std::vector<OrgId>& members) {
  Members names;
  for (const OrgId member : members) names.insert(state.organizations()[member.value]);
  return names;
}

// What was settled is no work of jobs, so it is worth nothing here; its organizations stay known.
std::vector<Event> by_jobs_alone(std::vector<Event> events) {
  for (Event& event : events) {
    if (auto* settled = std::get_if<WorkSettled>(&event)) settled->work = {};
  }
  return events;
}

// Everything that the witness knows of one period.
class Witness {
 public:
  Witness(const std::vector<Event>& events, const naive::Span& span)
      : books_(naive::books(by_jobs_alone(events), span)), alone_(naive::coalitions(events, span)) {
    for (const auto& [members, value] : alone_) all_.insert(members.begin(), members.end());
  }

  void expect(const State& state, const CooperationWorth& worth) const {
    for (const CooperationWorth::Row& row : worth.rows) expect_comparison(names_of(state, {row.organization}), row.is);
    RC_ASSERT(worth.rows.size() == rows());
    RC_ASSERT(worth.is_of_all_coalitions);
    for (const CooperationWorth::Coalition& pair : worth.pairs) {
      RC_ASSERT(pair.members.size() == 2U);
      expect_comparison(names_of(state, pair.members), pair.is);
    }
    RC_ASSERT(worth.pairs.size() == pairs());
    const std::optional<Int128> most = largest_gain_of_leaving();
    RC_ASSERT(worth.leaving.has_value() == most.has_value());
    if (!most) return;
    expect_comparison(names_of(state, worth.leaving->members), worth.leaving->is);
    RC_ASSERT(worth.leaving->is.gain().value == -*most);
  }

 private:
  [[nodiscard]] Int128 psi_of(const Members& members) const {
    Int128 sum = 0;
    for (const std::string& name : members) sum += books_.at(name).psi;
    return sum;
  }
  [[nodiscard]] Int128 got_of(const Members& members) const {
    Int128 sum = 0;
    for (const std::string& name : members) sum += books_.at(name).got;
    return sum;
  }
  [[nodiscard]] std::size_t rows() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [&](const std::string& name) { return is_organization(name) || got_of({name}) != 0; }));
  }
  [[nodiscard]] bool may_leave(const Members& members) const {
    return members != all_ && std::ranges::all_of(members, is_organization);
  }
  [[nodiscard]] std::size_t pairs() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(alone_, [&](const auto& of) { return of.first.size() == 2 && may_leave(of.first); }));
  }
  [[nodiscard]] std::optional<Int128> largest_gain_of_leaving() const {
    std::optional<Int128> most;
    for (const auto& [members, value] : alone_) {
      if (!may_leave(members)) continue;
      const Int128 gain = value.utility - psi_of(members);
      if (!most || gain > *most) most = gain;
    }
    return most;
  }

  void expect_comparison(const Members& members, const Comparison& is) const {
    RC_ASSERT(is.got.utility.value == psi_of(members));
    RC_ASSERT(is.got.work.value == got_of(members));
    RC_ASSERT(is.alone.utility.value == alone_.at(members).utility);
    RC_ASSERT(is.alone.work.value == alone_.at(members).work);
    RC_ASSERT(is.alone_if_ended.utility.value == alone_.at(members).utility_if_ended);
    // Where nothing can change it the two bounds are one.
    if (!is.is_provisional) RC_ASSERT(alone_.at(members).utility_if_ended == alone_.at(members).utility);
  }
  std::map<std::string, naive::Row> books_;
  std::map<Members, naive::Alone> alone_;
  Members all_;
};

RC_GTEST_PROP(Worth, AgreesWithEveryCoalitionAlone, ()) {
  constexpr Instant end = scenario::Shape{}.end();
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  State state;
  scenario::apply_all(state, events);
  const auto now = state.advance(end).worth();
  RC_ASSERT(now.has_value());
  const std::size_t periods = state.closed_periods().size();
  const auto closed = periods == 0 ? std::nullopt : state.closed_worth(periods - 1);
  RC_ASSERT(closed.has_value() == (periods > 0));
  const Instant begin = closed ? scenario::k_month_end : scenario::k_begin;
  RC_TAG(now->together().is_provisional ? "provisional" : "final");
  Witness(events, {scenario::k_begin, begin, end, end, end}).expect(state, *now);
  if (!closed) return;
  RC_ASSERT(closed->end == scenario::k_month_end);
  Witness(events, {scenario::k_begin, scenario::k_begin, closed->end, Instant{closed->end.value - 1}, end})
      .expect(state, *closed);
}

// Whatever becomes known later, what is not provisional stays.
RC_GTEST_PROP(Worth, IsFinalWhereItSaysSo, ()) {
  constexpr Instant end = scenario::Shape{}.end();
  const auto events = (*scenario::arbitrary()).events;
  State state;
  scenario::apply_all(state, events);
  const auto before = state.advance(end).worth();
  RC_ASSERT(before.has_value());
  // At the present everything that is open ends or is withdrawn, one by one.
  std::vector<Event> outcomes;
  for (const JobId job : state.jobs_with_open_segments()) {
    for (const SegmentKey& key : state.find_job(job)->segments) {
      const LiveSegment* segment = state.find_segment(key);
      if (segment == nullptr || segment->end || segment->opened.begin >= end) continue;
      if (*rc::gen::arbitrary<bool>()) outcomes.emplace_back(SegmentClosed{key, end, CloseReason::ended, "COMPLETED"});
    }
  }
  scenario::apply_all(state, outcomes);
  const auto after = state.advance(end).worth();
  RC_ASSERT(after.has_value());
  for (const CooperationWorth::Row& row : before->rows) {
    if (row.is.is_provisional) continue;
    const auto same = std::ranges::find(after->rows, row.organization, &CooperationWorth::Row::organization);
    RC_ASSERT(same != after->rows.end());
    RC_ASSERT(same->is.alone == row.is.alone);
  }
}

class WorthByHand : public StateTest {
 protected:
  const CooperationWorth::Row& row_of(const CooperationWorth& worth, std::string_view name) {
    return *std::ranges::find(worth.rows, *state_.find_organization(name), &CooperationWorth::Row::organization);
  }
  // A and B own one processor each. A's job of two processors runs on both from 0 to 10, B's from 20 to 30.
  void lend_to_each_other() {
    apply(owned("n1", 0, {{"A", 1'000'000}}));
    apply(owned("n2", 0, {{"B", 1'000'000}}));
    apply(capacity("n1", 0, 1));
    apply(capacity("n2", 0, 1));
    const SegmentOpened first = run(1, "A", 0, {{"n1", cores(1)}, {"n2", cores(1)}});
    apply(first);
    apply(closed(first, 10));
    const SegmentOpened second = run(2, "B", 20, {{"n1", cores(1)}, {"n2", cores(1)}});
    apply(second);
    apply(closed(second, 30));
  }
};

TEST_F(WorthByHand, LendingToEachOtherIsWorthItToBoth) {
  lend_to_each_other();
  const auto worth = state_.advance(at(40)).worth();
  ASSERT_TRUE(worth.has_value());
  EXPECT_EQ(worth->begin, at(0));
  EXPECT_EQ(worth->end, at(40));
  ASSERT_EQ(worth->rows.size(), 2U);
  // Two processors, seconds 0 to 9 seen from 40: 2 (40 + 39 + ... + 31) = 710. Alone one after the other: 40 + ...
  // + 21.
  EXPECT_EQ(units(row_of(*worth, "A").is.got.utility), 710);
  EXPECT_EQ(units(row_of(*worth, "A").is.alone.utility), 610);
  EXPECT_EQ(units(row_of(*worth, "A").is.gain()), 100);
  // 2 (20 + ... + 11) = 310 and 20 + ... + 1 = 210.
  EXPECT_EQ(units(row_of(*worth, "B").is.got.utility), 310);
  EXPECT_EQ(units(row_of(*worth, "B").is.alone.utility), 210);
  EXPECT_EQ(units(worth->together().gain()), 200);
  EXPECT_FALSE(worth->together().is_provisional);
  EXPECT_TRUE(worth->pairs.empty());  // the two are all
  ASSERT_TRUE(worth->leaving.has_value());
  EXPECT_EQ(worth->leaving->members, std::vector{*state_.find_organization("A")});
  EXPECT_EQ(units(worth->leaving->is.gain()), 100);
}

TEST_F(WorthByHand, WhoWasKeptWaitingOnItsOwnNodesWouldGainByLeaving) {
  apply(owned("n1", 0, {{"A", 1'000'000}}));
  apply(capacity("n1", 0, 1));
  apply(owned("n2", 0, {{"B", 1'000'000}}));
  apply(capacity("n2", 0, 1));
  const SegmentOpened guest = run(1, "B", 0, {{"n1", cores(1)}});
  apply(guest);
  apply(closed(guest, 20));
  const SegmentOpened waits = wait(2, "A", 0, 1);
  apply(waits);
  apply(closed(waits, 20));
  SegmentOpened late = run(2, "A", 20, {{"n1", cores(1)}});
  late.released = at(0);
  apply(late);
  apply(closed(late, 30));
  const auto worth = state_.advance(at(30)).worth();
  ASSERT_TRUE(worth.has_value());
  ASSERT_TRUE(worth->leaving.has_value());
  EXPECT_EQ(worth->leaving->members, std::vector{*state_.find_organization("A")});
  // Ten seconds from 0 on instead of from 20 on, seen from 30: each is worth 20 more.
  EXPECT_EQ(units(worth->leaving->is.gain()), -200);
}

TEST_F(WorthByHand, ADurationThatIsNotKnownGivesTwoBounds) {
  apply(owned("n1", 0, {{"A", 1'000'000}}));
  apply(capacity("n1", 0, 1));
  apply(owned("n2", 0, {{"B", 1'000'000}}));
  apply(capacity("n2", 0, 1));
  // Alone A's two processors' worth would run one after the other: the second part starts when the first one ends.
  const SegmentOpened wide = run(1, "A", 0, {{"n1", cores(1)}, {"n2", cores(1)}});
  apply(wide);
  const SegmentOpened next = run(2, "A", 5, {{"n3", cores(1)}});
  apply(next);
  const auto running = state_.advance(at(10)).worth();
  ASSERT_TRUE(running.has_value());
  EXPECT_EQ(units(row_of(*running, "A").is.alone.utility), 55);  // one processor from 0 on
  EXPECT_FALSE(row_of(*running, "A").is.is_provisional);         // its first part has run no longer than the run
  // Now B's would have started before it really did.
  const SegmentOpened waits = wait(3, "B", 2, 1);
  apply(waits);
  apply(closed(waits, 8));
  SegmentOpened late = run(3, "B", 8, {{"n4", cores(1)}});
  late.released = at(2);
  apply(late);
  const auto worth = state_.advance(at(12)).worth();
  ASSERT_TRUE(worth.has_value());
  const CooperationWorth::Row& row = row_of(*worth, "B");
  EXPECT_TRUE(row.is.is_provisional);
  EXPECT_EQ(units(row.is.alone.utility), 55);           // from 2 on, and never ended
  EXPECT_EQ(units(row.is.alone_if_ended.utility), 34);  // four seconds from 2 on: 10 + 9 + 8 + 7
}

TEST_F(WorthByHand, OneThatJoinedAnotherIsAPartOfIt) {
  lend_to_each_other();
  AdjustmentMade merged;
  merged.number = 1;
  merged.at = at(35);
  merged.kind = AdjustmentKind::merge;
  merged.organization = "B";
  merged.into = "A";
  merged.what = "B";
  merged.author = "uid 0";
  merged.reason = "test";
  apply(merged);
  const auto worth = state_.advance(at(40)).worth();
  ASSERT_TRUE(worth.has_value());
  ASSERT_EQ(worth->rows.size(), 1U);
  // Both together, on both nodes, are what really was.
  EXPECT_EQ(units(worth->rows.front().is.got.utility), 1020);
  EXPECT_EQ(units(worth->rows.front().is.alone.utility), 1020);
  EXPECT_FALSE(worth->leaving.has_value());
}

TEST_F(WorthByHand, BooksWithoutEventsAreWorthNothing) {
  const auto worth = state_.advance(at(0)).worth();
  ASSERT_TRUE(worth.has_value());
  EXPECT_TRUE(worth->rows.empty());
  EXPECT_FALSE(worth->leaving.has_value());
}

// Who joins, by hindsight: no phi changes in the second in which an organization joins that asks for nothing yet,
// who has left has no part in what comes later, and an example by hand.

class Newcomer : public StateTest {
 protected:
  // A and B own a processor each. a runs on A's from 0 to 10; b asks for two processors at 0 and gets them at 10, for
  // five seconds. Alone, and in the virtual schedule of both, b's two copies run on one processor one after the other.
  void lose_five_seconds(std::int64_t from, std::uint32_t first_job) {
    const SegmentOpened a = run(first_job, "A", from, {{"n1", cores(1)}});
    apply(a);
    apply(closed(a, from + 10));
    const SegmentOpened waits = wait(first_job + 1, "B", from, 2);
    apply(waits);
    apply(closed(waits, from + 10));
    SegmentOpened b = run(first_job + 1, "B", from + 10, {{"n1", cores(1)}, {"n2", cores(1)}});
    b.released = at(from);
    b.key.anchor = at(from);
    apply(b);
    apply(closed(b, from + 15));
  }
  void begin() {
    apply(owned("n1", 0, {{"A", 1'000'000}}));
    apply(owned("n2", 0, {{"B", 1'000'000}}));
    apply(capacity("n1", 0, 1));
    apply(capacity("n2", 0, 1));
    lose_five_seconds(0, 1);
  }
  void join() {
    apply(owned("n3", 20, {{"D", 1'000'000}}));
    apply(capacity("n3", 20, 2));
  }
  // B runs on all four processors from 20 to 30.
  void use_all() {
    const SegmentOpened c = run(3, "B", 20, {{"n1", cores(1)}, {"n2", cores(1)}, {"n3", cores(2)}});
    apply(c);
    apply(closed(c, 30));
  }
  double standing(std::string_view name, std::int64_t t) {
    const Standing is = row(name, t);
    return units({is.phi(hindsight()).value - is.psi.value});
  }
};

TEST_F(Newcomer, AnExampleByHand) {
  begin();
  EXPECT_EQ(units(row("A", 20).psi), 155);
  EXPECT_EQ(units(row("B", 20).psi), 80);
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  join();
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  EXPECT_EQ(standing("D", 20), 0);
  use_all();
  EXPECT_EQ(units(row("A", 30).psi), 255);
  EXPECT_EQ(units(row("B", 30).psi), 400);
  EXPECT_EQ(units(row("A", 30).phi(hindsight())), 245);
  EXPECT_EQ(units(row("B", 30).phi(hindsight())), 355);
  EXPECT_EQ(units(row("D", 30).phi(hindsight())), 55);
}

TEST_F(Newcomer, AMemberThatLeftHasNoPartInWhatComesLater) {
  begin();
  join();
  use_all();
  apply(capacity("n3", 30, 0));
  // By now every coalition has run all that it had. 6 phi = v(B,D) - v(B) + 2 (v(A,B,D) - v(A,B)) = 500 + 2 * 200, and
  // the work that D made possible others have done meanwhile without it.
  EXPECT_EQ(units(row("D", 100).phi(hindsight())), 150);
  EXPECT_EQ(row("D", 100).given(hindsight()), CpuTime{});
  lose_five_seconds(100, 11);
  EXPECT_EQ(units(row("D", 150).phi(hindsight())), 150);
  EXPECT_EQ(row("D", 150).given(hindsight()), CpuTime{});
}

TEST_F(Newcomer, AGuestSharesNothingOfWhatWasBeforeItsFirstJob) {
  begin();
  apply(run(21, "guests", 20, {{"n1", cores(1)}}));
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  EXPECT_EQ(standing("guests", 20), 0);
}

// The rows except those of `left_out`.
std::map<std::string, std::string> rows_without(State& state, Instant t, const std::string& left_out) {
  const std::string_view only[] = {"hindsight"};
  std::map<std::string, std::string> rows = scenario::rows_as_text(state, state.advance(t).standings(), only);
  rows.erase(left_out);
  return rows;
}

// A joiner of either kind, after all that happens in a scenario: with a node on which nothing runs, or a job that
// starts.
void expect_that_joining_changes_nothing(const scenario::Shape& shape) {
  std::vector<Event> events = (*scenario::arbitrary(shape)).events;
  events.emplace_back(OrganizationsDeclared{shape.end(), {"zoology"}});
  State without;
  scenario::apply_all(without, scenario::shuffled(events));
  Instant t = shape.end();
  for (const Event& event : events) t = std::max(t, time_of(event));
  if (*rc::gen::arbitrary<bool>()) {
    events.emplace_back(owned("zoo", 0, {{"zoology", 1'000'000}}));
    events.emplace_back(CapacityChanged{"zoo", t, 0, cores(8)});
  } else {
    SegmentOpened job = wait(4711, "zoology", 0, 8);
    job.key.anchor = job.begin = t;
    events.emplace_back(job);
  }
  State with;
  for (const Event& event : scenario::shuffled(events)) {
    scenario::apply_all(with, {event});
    if (*rc::gen::inRange(0, 10) == 0) (void)with.standings();
  }
  const auto expected = rows_without(without, t, "zoology");
  RC_ASSERT(rows_without(with, t, "zoology") == expected);
  const Standing joined = with.advance(t).standings()[with.find_organization("zoology").value().value];
  RC_ASSERT(joined.phi(hindsight()) == Utility{});
  RC_ASSERT(joined.given(hindsight()) == CpuTime{});
}

RC_GTEST_PROP(Joining, ChangesNobodysContributionInItsSecond, ()) {
  expect_that_joining_changes_nothing({});
}
RC_GTEST_PROP(Joining, ChangesNobodysContributionInItsSecondOverManyPeriods, ()) {
  expect_that_joining_changes_nothing(scenario::k_years);
}

}  // namespace
}  // namespace shapley::accounting
