// An audit remembers what is open, not what the ledger holds, and finds the same for all that.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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
    if (now.value % 5'000 < 100) must(ledger.record_standings({now.value * 20}, state, state.standings(now)));
  }
}

std::string findings_of(const AuditReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) text += finding.check + ": " + finding.what + "\n";
  return text;
}

class AuditMemory : public LedgerTest {
 protected:
  AuditReport report(const ReplayPace& pace = k_hasty) const { return must(audit(reader(file()), {.pace = pace})); }
};

TEST_F(AuditMemory, does_not_grow_with_the_ledger) {
  write(file(), long_history(100));
  const AuditReport small = report();
  EXPECT_EQ(findings_of(small), "");
  std::filesystem::remove(file());
  write(file(), long_history(600));
  const AuditReport large = report();
  EXPECT_EQ(findings_of(large), "");
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
           Change{"DROP TRIGGER events_are_not_updated; UPDATE event_rows SET at = 1 "
                  "WHERE seq = (SELECT closed FROM segment_events WHERE job = 250)",
                  "rebuild: events by which a segment ends before it begins: opened "},
           Change{
               "DROP TRIGGER events_are_not_updated; INSERT INTO event_rows SELECT 9999, kind, received, 40000, job, "
               "anchor, ordinal, organization, processors, placement, reason, job_state, hash, released, waited_as "
               "FROM event_rows "
               "WHERE seq = (SELECT closed FROM segment_events WHERE job = 3)",
               "chain: events of segments that state a fact again: 1"},
       }) {
    std::filesystem::remove(file());
    write(file(), events);
    tamper(file(), change.sql);
    const std::string found = findings_of(report());
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
  EXPECT_EQ(findings_of(found), "");
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
  std::vector<Event> history = *any_history();
  const auto late = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  std::rotate(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(late), history.end());
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
      must(ledger.record_standings({day}, state, state.standings(state.now())));
    }
  }
  const Ledger ledger = reader(file);
  const ReplayPace pace = *rc::gen::arbitrary<bool>() ? k_hasty : k_impatient;
  RC_ASSERT(findings_of(must(audit(ledger, {.pace = pace}))) == "");
}

}  // namespace
}  // namespace shapley::ledger
