// An audit remembers what is open, not what the ledger holds, and finds the same faults nevertheless.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/calendar.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/naive_books.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"
#include "tests/accounting/scenario.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;

// Forgets at every opportunity.
constexpr ReplayPace k_hasty{.events_between_compactions = 1, .most_events_reached_back = 200'000};
// So that every event that reaches back at all makes books be made again.
constexpr ReplayPace k_impatient{.events_between_compactions = 1, .most_events_reached_back = 1};

// Nine jobs run at any time, and one all the time, on a node that is too small for them. One run is retracted long
// after its end.
std::vector<Event> long_history(std::uint32_t jobs) {
  const auto retracted = opened(jobs, 10'000, "b", 3);
  std::vector<Event> events{accounting::OrganizationsDeclared{{9'000}, {"a", "b"}},
                            accounting::OwnershipStated{"n1", {9'000}, {{{9'000}, {{"b", 333'333}}}}},
                            accounting::CapacityChanged{"n1", {9'000}, 0, {8 * k_micro}, {8 * k_micro}},
                            opened(1, 9'500, "a", 1),
                            retracted,
                            closed(retracted, 10'500),
                            accounting::SegmentRetracted{retracted.key, {11'500}}};
  for (std::uint32_t job = 2; job < jobs; ++job) {
    const std::int64_t begin = 10'000 + 100 * std::int64_t{job};
    const auto run = opened(job, begin, job % 2 == 0 ? "a" : "b", 2);
    events.insert(events.end(), {run, closed(run, begin + 900)});
    if (job % 50 == 0) events.emplace_back(accounting::CapacityChanged{"n1", {begin}, 0, {8 * k_micro}, {9 * k_micro}});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  return events;
}

// The events one by one, with the books of days of 5,000 seconds.
void write(const std::filesystem::path& file, const std::vector<Event>& events) {
  Ledger ledger = writer(file);
  accounting::State state;
  for (const Event& event : events) {
    if (must(ledger.append(std::vector<Event>{event}, time_of(event))).accepted.empty()) continue;
    must(state.apply(event));
    const Instant now = state.now();
    if (now.value % 5'000 < 100) must(ledger.record_standings({now.value * 20}, state, state.advance(now).standings()));
  }
}

class AuditMemory : public LedgerTest {
 protected:
  AuditReport report(const ReplayPace& pace = k_hasty) const { return must(audit(reader(file()), {.pace = pace})); }
};

TEST_F(AuditMemory, does_not_grow_with_the_ledger) {
  write(file(), long_history(100));
  const AuditReport small = report();
  EXPECT_EQ(problems(small), "");
  std::filesystem::remove(file());
  write(file(), long_history(600));
  const AuditReport large = report();
  EXPECT_EQ(problems(large), "");
  EXPECT_EQ(large.segments, 600);
  // While the retraction is to come the books remember what ran since the run's begin; else what runs, and the few that
  // ended since they forgot last, which they also do at the instants that are compared.
  EXPECT_LE(large.most_remembered, small.most_remembered + 1);
  EXPECT_LT(large.most_remembered, 30);
}

TEST_F(AuditMemory, finds_what_was_changed_long_before_the_end) {
  const std::vector<Event> events = long_history(300);
  struct Change {
    const char* sql;
    const char* finding;
  };
  for (const Change& change : {
           Change{"UPDATE segment_events SET closed = 9 WHERE job = 3",
                  "projection: segment_events: a row that does not"},
           Change{"DELETE FROM segment_events WHERE job = 3", "projection: segment_events: a row that follows"},
           Change{"INSERT INTO segment_events VALUES (3, 1, 0, 0, 5, NULL, NULL)", "projection: segment_events: a row"},
           Change{"INSERT INTO segment_events VALUES (9999, 1, 0, 0, NULL, NULL, NULL)",
                  "projection: segment_events: a row that does not follow from the events: job 9999"},
           Change{"UPDATE segment_events SET opened = (SELECT opened FROM segment_events WHERE job = 4) WHERE job = 3",
                  "projection: segment_events: a row that does not follow from the events: job 3"},
           Change{"UPDATE books_by_day SET psi = psi || '0' WHERE day = (SELECT MIN(day) FROM books_by_day)",
                  "projection: books_by_day: a row that does not follow from the events: day "},
           Change{"DROP TRIGGER events_are_not_updated; UPDATE event_rows SET at = at - 1 WHERE seq = 20",
                  "chain: event 20: its hash does not follow"},
           // An end long before its begin.
           Change{"DROP TRIGGER events_are_not_updated; UPDATE event_rows SET at = 1 WHERE seq = (SELECT closed FROM "
                  "segment_events WHERE job = 250)",
                  "rebuild: events by which a segment ends before it begins: opened "},
           Change{"DROP TRIGGER events_are_not_updated; INSERT INTO event_rows SELECT 9999, kind, received, 40000, "
                  "job, anchor, ordinal, organization, processors, placement, reason, job_state, hash, released, "
                  "waited_as, tasks FROM event_rows WHERE seq = (SELECT closed FROM segment_events WHERE job = 3)",
                  "chain: events of segments that state a fact again: 1"},
       }) {
    std::filesystem::remove(file());
    write(file(), events);
    tamper(file(), change.sql);
    const std::string found = problems(report());
    EXPECT_NE(found.find(change.finding), std::string::npos) << change.sql << ":\n" << found;
  }
}

// Of a run that began and ended in one second the end may be known first.
TEST_F(AuditMemory, an_end_waits_for_its_begin) {
  const auto empty = opened(1, 10'000, "a", 1);
  const auto later = opened(2, 10'100, "a", 1);
  write(file(), {accounting::OrganizationsDeclared{{9'000}, {"a"}}, closed(empty, 10'000), empty, later,
                 closed(later, 10'200)});
  const AuditReport found = report();
  EXPECT_EQ(problems(found), "");
  EXPECT_EQ(found.segments, 2);
}

// The naive books forget as they go; the same books with all facts at hand say the same at every instant asked.
void expect_same_rows(const std::vector<Event>& events) {
  Facts all;
  for (const Event& event : events) all.add(event);
  std::vector<Event> in_order = events;
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  const Instant first = time_of(in_order.front());
  const Duration span = time_of(in_order.back()) - first;
  std::vector<Instant> instants;
  for (std::int64_t i = 0; i <= 5; ++i) instants.push_back(first + Duration{span.value * i / 5});
  Facts facts = all.surveyed();
  NaiveBooks forgetful(facts, instants);
  const NaiveBooks books(all);
  std::size_t most = 0;
  std::size_t next = 0;
  const auto ask = [&](Instant t) {
    forgetful.settle(t);
    RC_ASSERT(forgetful.at(t) == books.at(t));
  };
  for (const Event& event : in_order) {
    const Instant t = time_of(event);
    for (; next < instants.size() && instants[next] < t; ++next) ask(instants[next]);
    if (*rc::gen::inRange(0, 3) == 0) {
      forgetful.settle(t);
      facts.forget_before(t);
    }
    facts.follow(event);
    most = std::max(most, facts.segments.size());
  }
  for (; next < instants.size(); ++next) ask(instants[next]);
  forgetful.settle(instants.back());
  Instant begin = k_beginning_of_time;
  for (const auto& [end, rows] : forgetful.closed_periods()) {
    RC_ASSERT(books.period_begin_at(end) == end);
    RC_ASSERT(rows == books.of_period({begin, end, k_end_of_time}));
    begin = end;
  }
  RC_ASSERT(books.period_begin_at(instants.back()) == begin);
}

RC_GTEST_PROP(ForgetfulNaiveBooks, say_what_those_that_remember_everything_say, ()) {
  expect_same_rows((*accounting::scenario::arbitrary()).events);
}

RC_GTEST_PROP(ForgetfulNaiveBooks, do_so_over_many_periods, ()) {
  expect_same_rows((*accounting::scenario::arbitrary(accounting::scenario::k_years)).events);
}

// Whatever comes late, and however little is remembered: a sound ledger is clean.
RC_GTEST_PROP(ForgetfulAudit, finds_nothing_in_a_sound_ledger, ()) {
  const std::vector<Event> history = pick_late_history();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  {
    Ledger ledger = writer(file);
    accounting::State state;
    std::int64_t day = 0;
    for (const Event& event : history) {
      if (must(ledger.append(std::vector<Event>{event}, {0})).accepted.empty()) continue;
      must(state.apply(event));
      if (*rc::gen::inRange(0, 10) > 0) continue;
      day += 24 * 3600;
      must(ledger.record_standings({day}, state, state.standings()));
    }
  }
  const Ledger ledger = reader(file);
  const ReplayPace pace = *rc::gen::arbitrary<bool>() ? k_hasty : k_impatient;
  RC_ASSERT(problems(must(audit(ledger, {.pace = pace}))) == "");
}

// The auditor's own sums, checked against sums that go second by second and unit part by unit part.

// SR13 Eq. 3 spelt out: a unit part executed in second i is worth t - i.
Int128 unit_by_unit(std::int64_t begin, std::int64_t end, std::int64_t processors, std::int64_t t) {
  Int128 sum = 0;
  for (std::int64_t i = begin; i < end && i < t; ++i) sum += Int128{processors} * (t - i);
  return sum;
}

Facts facts_of(const std::vector<accounting::Event>& events) {
  Facts facts;
  for (const auto& event : events) facts.add(event);
  return facts;
}

RC_GTEST_PROP(NaiveBooks, a_run_is_worth_its_unit_parts, ()) {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, 200);
  const auto end = begin + *rc::gen::inRange<std::int64_t>(0, 200);
  const auto t = *rc::gen::inRange<std::int64_t>(0, 500);
  const auto run = opened(1, begin, "a", *rc::gen::inRange<std::int64_t>(1, 9));
  const auto facts = facts_of({run, closed(run, end)});
  const auto rows = NaiveBooks(facts).at({t});
  const Int128 worth = unit_by_unit(begin, end, run.processors.value, t);
  RC_ASSERT(rows.at("a").psi.value == worth);
  RC_ASSERT(rows.at("commons").by_owner.phi.value == worth);
}

// The worked example of the paper's text: one processor from 0 to 3, seen at 13: 13 + 12 + 11.
TEST(NaiveBooks, agree_with_a_sum_by_hand) {
  const auto run = opened(1, 0, "a", 1);
  const auto facts = facts_of({run, closed(run, 3)});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.at({13}).at("a").psi.value, 36 * k_micro);
  EXPECT_EQ(books.at({13}).at("a").got.value, 3 * k_micro);
  EXPECT_EQ(books.at({2}).at("a").psi.value, 3 * k_micro);
  EXPECT_EQ(books.at({0}).at("a").psi.value, 0);
}

TEST(NaiveBooks, a_node_that_changes_hands_splits_the_run) {
  const auto run = opened(1, 100, "a", 2);
  const auto facts =
      facts_of({accounting::OwnershipStated{
                    "n1", {50}, {{k_beginning_of_time, {{"b", 1'000'000}}}, {{110}, {{"c", 1'000'000}}}}},
                run, closed(run, 130)});
  const auto rows = NaiveBooks(facts).at({200});
  EXPECT_EQ(rows.at("b").by_owner.phi.value, unit_by_unit(100, 110, 2 * k_micro, 200));
  EXPECT_EQ(rows.at("c").by_owner.phi.value, unit_by_unit(110, 130, 2 * k_micro, 200));
  EXPECT_EQ(rows.at("b").by_owner.given.value, 20 * k_micro);
}

// 1 micro-processor in thirds: the largest remainder takes it; of equal remainders, the first.
TEST(NaiveBooks, fractions_are_divided_by_largest_remainder) {
  auto run = opened(1, 100, "a", 1);
  run.processors = run.nodes[0].processors = {1'000'001};
  const auto facts =
      facts_of({accounting::OwnershipStated{"n1", {0}, {{{0}, {{"x", 250'000}, {"y", 500'000}, {"z", 250'000}}}}}, run,
                closed(run, 101)});
  const auto rows = NaiveBooks(facts).at({101});
  EXPECT_EQ(rows.at("x").by_owner.given.value, 250'000);
  EXPECT_EQ(rows.at("y").by_owner.given.value, 500'001);
  EXPECT_EQ(rows.at("z").by_owner.given.value, 250'000);

  const auto even =
      facts_of({accounting::OwnershipStated{"n1", {0}, {{{0}, {{"x", 500'000}}}}}, run, closed(run, 101)});
  EXPECT_EQ(NaiveBooks(even).at({101}).at("x").by_owner.given.value, 500'001);
  EXPECT_EQ(NaiveBooks(even).at({101}).at("commons").by_owner.given.value, 500'000);
}

TEST(NaiveBooks, know_only_what_was_true_by_then) {
  const auto run = opened(1, 100, "a", 1);
  const auto facts = facts_of({run, accounting::SegmentRetracted{run.key, {150}}});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.at({149}).at("a").psi.value, unit_by_unit(100, 149, k_micro, 149));
  EXPECT_EQ(books.at({150}).at("a").psi.value, 0);
}

TEST(NaiveBooks, waits_count_for_nothing) {
  const auto facts = facts_of(
      {accounting::SegmentOpened{{accounting::SegmentKind::wait, {1}, {100}, 0}, "a", {100}, {5 * k_micro}, {}}});
  EXPECT_EQ(NaiveBooks(facts).at({200}).at("a").psi.value, 0);
}

TEST(NaiveBooks, a_period_begins_at_its_boundary) {
  const Instant november = *parse_instant("2026-11-01");
  const Instant december = *parse_instant("2026-12-01");
  const auto run = opened(1, november.value - 100, "a", 1);
  const auto facts = facts_of({accounting::PeriodDeclared{{november.value - 500}, Period::monthly},
                               accounting::PeriodDeclared{{december.value + 500}, Period::none}, run});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.period_begin_at({november.value - 1}), k_beginning_of_time);
  EXPECT_EQ(books.period_begin_at(november), november);
  EXPECT_EQ(books.period_begin_at({december.value - 1}), november);
  EXPECT_EQ(books.period_begin_at({december.value + 100'000'000}), december);
  EXPECT_EQ(books.at(november + Duration{50}).at("a").psi.value,
            unit_by_unit(november.value, november.value + 50, k_micro, november.value + 50));
  EXPECT_EQ(books.of_period({k_beginning_of_time, november, december}).at("a").psi.value,
            unit_by_unit(november.value - 100, november.value, k_micro, november.value));
}

}  // namespace
}  // namespace shapley::ledger
