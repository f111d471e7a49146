// Corrections of the books: what they come to is what the books would be had everything been booked so from the start,
// and reversing one leaves no trace in any figure.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adjusting.hpp"
#include "archived_months.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/adjustments/attribution.hpp"
#include "ledger/archive/archive.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

std::vector<std::string> figures(const Ledger& ledger, Instant t) {
  Recovered books = must(ledger.recover());
  return standings(books.state, t);
}

AttributionAsked of_job(std::uint32_t job, const std::string& into) {
  AttributionAsked asked;
  asked.job = JobId{job};
  asked.into = into;
  return asked;
}

// The same facts, with everything of the job that led to a run, or is one, booked under `into`.
std::vector<Event> booked_so(std::vector<Event> events, JobId job, const std::string& into) {
  std::set<SegmentKey> retracted;
  std::map<SegmentKey, Instant> ends;
  for (const Event& event : events) {
    if (const auto* e = std::get_if<SegmentRetracted>(&event)) retracted.insert(e->key);
    if (const auto* e = std::get_if<SegmentClosed>(&event)) ends[e->key] = e->end;
  }
  Instant last_run = k_beginning_of_time;
  for (const Event& event : events) {
    const auto* e = std::get_if<SegmentOpened>(&event);
    if (e != nullptr && e->key.job == job && e->key.kind == SegmentKind::run && !retracted.contains(e->key)) {
      last_run = std::max(last_run, e->key.anchor);
    }
  }
  for (Event& event : events) {
    auto* e = std::get_if<SegmentOpened>(&event);
    if (e == nullptr || e->key.job != job) continue;
    const bool led_to_a_run = ends.contains(e->key) && ends[e->key] <= last_run;
    if (e->key.kind == SegmentKind::run || led_to_a_run) e->organization = into;
  }
  return events;
}

std::set<std::uint32_t> jobs_of(const std::vector<Event>& events) {
  std::set<std::uint32_t> jobs;
  for (const Event& event : events) {
    if (const auto* e = std::get_if<JobDescribed>(&event)) jobs.insert(e->job.value);
  }
  return jobs;
}

RC_GTEST_PROP(Adjustments, AttributedRunsAreAsIfBookedSoFromTheStart, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const Instant now = latest(history) + Duration{10};
  must(ledger.append(history, now));
  const Instant t = now + Duration{*rc::gen::inRange<std::int64_t>(2, 40 * 24 * 3600)};
  const std::vector<std::string> before = figures(ledger, t);
  const std::uint32_t job = *rc::gen::elementOf(jobs_of(history));
  const std::string into = *rc::gen::element<std::string>("a", "b", "c", "guests");
  auto planned = plan(ledger, of_job(job, into), now);
  if (!planned) {
    RC_ASSERT(planned.error().what.starts_with("there are no runs of job"));
    RC_SUCCEED("it never ran, or is theirs already");
  }
  if (*rc::gen::arbitrary<bool>()) {
    Recovered books = must(ledger.recover());
    must(ledger.save_checkpoint(books.state, ledger.last_sequence(), books.state.now()));
  }
  const AdjustmentMade made = make(ledger, of_job(job, into), now);

  Ledger naive = writer(directory.path() / "naive.db");
  must(naive.append(booked_so(history, JobId{job}, into), now));
  const std::vector<std::string> expected = figures(naive, t);
  RC_ASSERT(figures(ledger, t) == expected);
  Recovered anew = must(ledger.recover_from_scratch());
  RC_ASSERT(standings(anew.state, t) == expected);
  RC_ASSERT(problems(must(audit(ledger))) == "");

  make(ledger, ReversalAsked{made.number}, now + Duration{1});
  RC_ASSERT(figures(ledger, t) == before);
  Recovered again = must(ledger.recover_from_scratch());
  RC_ASSERT(standings(again.state, t) == before);
  RC_ASSERT(problems(must(audit(ledger))) == "");
  RC_ASSERT(!plan(ledger, ReversalAsked{made.number}, now + Duration{2}).has_value());
}

// Who owns a node at an instant, plainly.
std::vector<OwnerPart> owners_at(const std::vector<OwnedStretch>& stretches, Instant t) {
  for (const OwnedStretch& stretch : stretches) {
    if (stretch.begin <= t && t < stretch.end) return stretch.owners;
  }
  return {};
}

OwnershipStatements statements_of(const std::vector<Event>& events, const std::string& node) {
  OwnershipStatements statements;
  for (const Event& event : events) {
    const auto* e = std::get_if<OwnershipStated>(&event);
    if (e != nullptr && e->node == node) statements.push_back(*e);
  }
  return statements;
}

RC_GTEST_PROP(Adjustments, PastOwnershipIsStatedForItsTimeAndNoOther, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const Instant now = latest(history) + Duration{10};
  must(ledger.append(history, now));
  const Instant t = now + Duration{*rc::gen::inRange<std::int64_t>(2, 40 * 24 * 3600)};
  const std::vector<std::string> before = figures(ledger, t);
  const Instant since = now - Duration{*rc::gen::inRange<std::int64_t>(2, 9000)};
  const Instant until = since + Duration{*rc::gen::inRange<std::int64_t>(1, (now - since).value)};
  const OwnershipAsked asked{.nodes = "n[1-2]", .owners = {{"c", 600'000}}, .since = since, .until = until};
  const AdjustmentPlan planned = must(plan(ledger, asked, now));
  must(ledger.append(planned.events(), now));

  std::vector<Event> all = history;
  all.insert(all.end(), planned.facts.begin(), planned.facts.end());
  for (const std::string node : {"n1", "n2"}) {
    const auto was = resolve_ownership(statements_of(history, node));
    const auto is = resolve_ownership(statements_of(all, node));
    std::set<Instant> looked_at{since - Duration{1}, since, until - Duration{1}, until, now, t};
    for (const OwnedStretch& stretch : was) looked_at.insert(stretch.begin);
    for (const Instant at : looked_at) {
      const bool within = at >= since && at < until;
      const std::vector<OwnerPart> stated{{"c", 600'000}, {"commons", 400'000}};
      RC_ASSERT(owners_at(is, at) == (within ? stated : owners_at(was, at)));
    }
  }
  RC_ASSERT(problems(must(audit(ledger))) == "");
  Recovered anew = must(ledger.recover_from_scratch());
  RC_ASSERT(standings(anew.state, t) == figures(ledger, t));

  make(ledger, ReversalAsked{planned.made.number}, now + Duration{1});
  RC_ASSERT(figures(ledger, t) == before);
  RC_ASSERT(problems(must(audit(ledger))) == "");
}

// psi, got and every phi and given, summed over all organizations.
std::string sums(State& state, Instant t) {
  Standing sum;
  for (const Standing& row : state.advance(t).standings()) sum += row;
  std::string text = to_string(sum.psi.value) + ' ' + to_string(sum.got.value);
  for (const EstimatorId e : estimator_ids()) {
    text += ' ' + to_string(sum.phi(e).value) + ' ' + to_string(sum.given(e).value);
  }
  return text;
}

RC_GTEST_PROP(Adjustments, AMergerAddsTwoRowsAndLeavesTheOthersAlone, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const Instant now = latest(history) + Duration{10};
  must(ledger.append(history, now));
  must(ledger.append(std::vector<Event>{OrganizationsDeclared{now, {"b", "c"}}}, now));
  const Instant t = now + Duration{*rc::gen::inRange<std::int64_t>(2, 40 * 24 * 3600)};
  Recovered apart = must(ledger.recover());
  const std::vector<Standing> rows = apart.state.advance(t).standings();
  const std::vector<std::string> before = figures(ledger, t);
  const auto kind = *rc::gen::element(AdjustmentKind::rename, AdjustmentKind::merge);
  const AdjustmentMade made = make(ledger, JoinAsked{kind, "a", "b"}, now);

  Recovered books = must(ledger.recover());
  State& state = books.state;
  const std::vector<Standing> joined = state.advance(t).standings();
  RC_ASSERT(sums(state, t) == sums(apart.state, t));
  const OrgId a{2};
  const OrgId b{3};
  RC_ASSERT(state.organizations()[a.value] == "a");
  RC_ASSERT(state.organizations()[b.value] == "b");
  for (const Standing& row : rows) {
    const std::size_t id = row.organization.value;
    const auto same = [&](const Standing& other) {
      bool equal = other.psi == row.psi && other.got == row.got && other.credits == row.credits;
      equal = equal && other.owned == row.owned && other.used == row.used && other.waiting == row.waiting;
      return equal;
    };
    if (row.organization == a) {
      RC_ASSERT(joined[id].psi == Utility{});
    } else if (row.organization == b) {
      Standing whole = row;
      whole += rows[a.value];
      RC_ASSERT(joined[id].psi == whole.psi);
      RC_ASSERT(joined[id].credits == whole.credits);
      RC_ASSERT(joined[id].owned == whole.owned);
      // What one lent the other is its own now.
      RC_ASSERT(joined[id].lent <= whole.lent);
      RC_ASSERT(whole.lent - joined[id].lent == whole.borrowed - joined[id].borrowed);
    } else {
      RC_ASSERT(same(joined[id]));
    }
  }
  RC_ASSERT(state.find_organization("a") == b);
  for (const OrgId id : state.configured_order()) RC_ASSERT(id != a);
  RC_ASSERT(problems(must(audit(ledger))) == "");
  const State loaded = must(State::load(state.save()));
  RC_ASSERT(loaded.save() == state.save());
  State again = must(State::load(state.save()));
  RC_ASSERT(standings(again, t) == standings(state, t));

  make(ledger, ReversalAsked{made.number}, now + Duration{1});
  RC_ASSERT(figures(ledger, t) == before);
  RC_ASSERT(problems(must(audit(ledger))) == "");
}

// --- by hand ---

Event job_of(std::uint32_t job, std::int64_t submit, const std::string& account, std::uint32_t user,
             std::uint32_t array = 0, std::optional<std::uint32_t> task = std::nullopt) {
  JobDescribed e;
  e.job = {job};
  e.submit = {submit};
  e.organization = "guests";
  e.account = account;
  e.user_id = user;
  e.array_job = array;
  e.array_task = task;
  return e;
}

class AdjustmentTest : public LedgerTest {
 protected:
  void SetUp() override {
    record({OrganizationsDeclared{{10}, {"a", "b"}},
            OwnershipStated{.node = "n1", .effective = {10}, .spans = {{{10}, {{"a", 1'000'000}}}}},
            CapacityChanged{.node = "n1", .at = {10}, .processors = {8 * k_micro}}, job_of(1, 100, "phsyics", 7),
            opened(1, 100, "guests", 2), closed(opened(1, 100, "guests", 2), 200), job_of(2, 300, "phsyics", 8),
            opened(2, 300, "guests", 2), job_of(70, 400, "x", 7, 70, 2), opened(70, 400, "guests", 1),
            job_of(71, 400, "x", 7, 70, 1), opened(71, 450, "guests", 1)});
  }
  void record(const std::vector<Event>& events) {
    EXPECT_EQ(must(ledger.append(events, {900})).appended, events.size());
  }
  [[nodiscard]] std::vector<std::string> runs() const {
    return rows(file(),
                "SELECT job, ordinal, organization, begin, end FROM segments WHERE kind = 'run' AND retracted IS "
                "NULL ORDER BY job, ordinal");
  }
  [[nodiscard]] Error refused(decltype(AdjustmentAsked::what) what) const {
    const auto planned = plan(ledger, std::move(what), {1000});
    if (!planned) return planned.error();
    ADD_FAILURE() << "it is accepted";
    return {};
  }
  Ledger ledger = writer(file());
};

TEST_F(AdjustmentTest, AnAccountsRunsOfATimeAreMovedTheOpenOneToo) {
  AttributionAsked asked;
  asked.account = "phsyics";
  asked.since = Instant{0};
  asked.until = Instant{1000};
  asked.into = "a";
  const AdjustmentMade made = make(ledger, asked, {1000});
  EXPECT_EQ(made.runs, 2);
  EXPECT_EQ(made.what, "runs of account phsyics, since 1970-01-01T00:00:00Z, until 1970-01-01T00:16:40Z");
  EXPECT_EQ(runs(), (std::vector<std::string>{"1|1|a|100|200", "2|1|a|300|", "70|0|guests|400|", "71|0|guests|450|"}));
  EXPECT_EQ(rows(file(), "SELECT job, organization FROM jobs ORDER BY job"),
            (std::vector<std::string>{"1|a", "2|a", "70|guests", "71|guests"}));
  EXPECT_EQ(rows(file(), "SELECT number, what, runs, author, reason, last_fact - first_fact + 1 FROM adjustments"),
            (std::vector<std::string>{"1|" + made.what + "|2|uid 0 (root)|agreed on 3 November|" +
                                      std::to_string(made.facts)}));
  make(ledger, ReversalAsked{1}, {1001});
  EXPECT_EQ(runs(), (std::vector<std::string>{"1|2|guests|100|200", "2|2|guests|300|", "70|0|guests|400|",
                                              "71|0|guests|450|"}));
  EXPECT_EQ(rows(file(), "SELECT job, organization FROM jobs ORDER BY job"),
            (std::vector<std::string>{"1|guests", "2|guests", "70|guests", "71|guests"}));
}

TEST_F(AdjustmentTest, AUsersRunsAndAnArraysTask) {
  AttributionAsked user;
  user.user_id = 8;
  user.since = Instant{300};
  user.until = Instant{301};
  user.into = "b";
  EXPECT_EQ(make(ledger, user, {1000}).runs, 1);
  AttributionAsked task = of_job(70, "b");
  task.task = 1;
  EXPECT_EQ(make(ledger, task, {1000}).runs, 1);
  EXPECT_EQ(runs(), (std::vector<std::string>{"1|0|guests|100|200", "2|1|b|300|", "70|0|guests|400|", "71|1|b|450|"}));
  EXPECT_EQ(make(ledger, of_job(70, "a"), {1000}).runs, 2) << "the whole array";
}

TEST_F(AdjustmentTest, APartOfAHeterogeneousJobAndTheWholeOfIt) {
  for (const std::uint32_t part : {0U, 1U}) {
    JobDescribed described = std::get<JobDescribed>(job_of(80 + part, 500, "x", 7));
    described.het_job = 80;
    record({described, opened(80 + part, 500, "guests", 1)});
  }
  // Of a number in a row, and no part.
  record({job_of(82, 500, "x", 7), opened(82, 500, "guests", 1)});
  AttributionAsked asked = of_job(80, "b");
  asked.part = 1;
  const AdjustmentMade made = make(ledger, asked, {1000});
  EXPECT_EQ(made.runs, 1);
  EXPECT_EQ(made.what, "runs of job 80+1");
  EXPECT_EQ(rows(file(), "SELECT job, organization FROM jobs WHERE job >= 80 ORDER BY job"),
            (std::vector<std::string>{"80|guests", "81|b", "82|guests"}));
  asked.part = 2;
  EXPECT_EQ(refused(asked).what, "there are no runs of job 80+2 that are not booked under b already");
  asked.task = 1;
  EXPECT_EQ(refused(asked).code, Errc::invalid_argument);
  EXPECT_EQ(make(ledger, of_job(80, "a"), {1001}).runs, 2) << "the whole job";
}

TEST_F(AdjustmentTest, WhatCannotBeIsRefusedWithTheWayOut) {
  EXPECT_EQ(refused(of_job(9, "a")).what, "there are no runs of job 9 that are not booked under a already");
  EXPECT_EQ(refused(of_job(9, "a")).code, Errc::invalid_argument);
  EXPECT_EQ(refused(of_job(1, "unknown")).what, "the books know no organization 'unknown'; they know a, b, guests");
  EXPECT_EQ(refused(of_job(1, "ünis")).what, "the books know no organization 'ünis'; they know a, b, guests");
  EXPECT_EQ(refused(of_job(1, "commons")).code, Errc::invalid_argument);
  EXPECT_EQ(refused(of_job(1, "guests")).what, "there are no runs of job 1 that are not booked under guests already");
  AttributionAsked timeless;
  timeless.account = "x";
  timeless.into = "a";
  EXPECT_EQ(refused(timeless).code, Errc::invalid_argument);
  EXPECT_EQ(refused(ReversalAsked{4}).code, Errc::invalid_argument);
  EXPECT_EQ(refused(OwnershipAsked{.nodes = "n9", .owners = {{"a", 1}}, .since = {100}, .until = Instant{200}}).what,
            "the books know no node 'n9'");
  EXPECT_EQ(refused(OwnershipAsked{.nodes = "n1", .owners = {{"z", 1}}, .since = {100}, .until = Instant{200}}).code,
            Errc::invalid_argument);
  EXPECT_EQ(
      refused(OwnershipAsked{
                  .nodes = "n1", .owners = {{"a", 600'000}, {"b", 600'000}}, .since = {100}, .until = Instant{200}})
          .code,
      Errc::invalid_argument);
  EXPECT_EQ(refused(OwnershipAsked{.nodes = "n1", .owners = {{"a", 1}}, .since = {100}, .until = Instant{5000}}).code,
            Errc::invalid_argument);
  EXPECT_EQ(refused(JoinAsked{AdjustmentKind::rename, "a", "b"}).code, Errc::conflict) << "the configuration has it";
  EXPECT_EQ(refused(JoinAsked{AdjustmentKind::merge, "guests", "b"}).code, Errc::invalid_argument);
  EXPECT_EQ(refused(JoinAsked{AdjustmentKind::merge, "b", "b"}).code, Errc::invalid_argument);
  const Recovered books = must(ledger.recover());
  const auto silent = plan_adjustment(ledger, books.state, {of_job(1, "a"), "uid 0", ""}, {1000});
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code, Errc::invalid_argument);
}

TEST_F(AdjustmentTest, OnlyWhatWasNotCorrectedSinceIsReversed) {
  make(ledger, of_job(1, "a"), {1000});
  make(ledger, of_job(1, "b"), {1001});
  EXPECT_EQ(refused(ReversalAsked{1}).code, Errc::conflict);
  make(ledger, ReversalAsked{2}, {1002});
  EXPECT_EQ(runs().front(), "1|3|a|100|200");
  EXPECT_EQ(refused(ReversalAsked{2}).code, Errc::conflict) << "twice";
  EXPECT_EQ(refused(ReversalAsked{3}).code, Errc::invalid_argument) << "a reversal";
  make(ledger, ReversalAsked{1}, {1003});
  EXPECT_EQ(runs().front(), "1|4|guests|100|200");

  const OwnershipAsked past{.nodes = "n1", .owners = {{"b", 1'000'000}}, .since = {100}, .until = Instant{200}};
  make(ledger, past, {1004});
  make(ledger, past, {1005});
  EXPECT_EQ(refused(ReversalAsked{5}).code, Errc::conflict);
  make(ledger, ReversalAsked{6}, {1006});
  make(ledger, ReversalAsked{5}, {1007});
  EXPECT_EQ(rows(file(), "SELECT begin, organization, end FROM ownership WHERE node = 'n1'"),
            (std::vector<std::string>{"0|commons|10", "10|a|"}));
  EXPECT_TRUE(must(audit(ledger)).clean());
}

TEST_F(AdjustmentTest, ADeadNameIsNeitherConfiguredNorAskedFor) {
  record({OrganizationsDeclared{{950}, {"b"}}});
  make(ledger, JoinAsked{AdjustmentKind::rename, "a", "b"}, {1000});
  EXPECT_EQ(refused(of_job(1, "a")).what, "'a' is a part of b by adjustment 1; write b");
  const FormerNames expected{{"a", {.today = "b", .merged = false, .at = {1000}}}};
  EXPECT_EQ(must(former_names(ledger)), expected);
  // A name by way of another one, and one that was taken back.
  record({OrganizationsDeclared{{1001}, {"c"}}});
  make(ledger, JoinAsked{AdjustmentKind::merge, "b", "c"}, {1002});
  EXPECT_EQ(must(former_names(ledger)).at("a").today, "c");
  make(ledger, ReversalAsked{2}, {1003});
  EXPECT_EQ(must(former_names(ledger)), expected);
  make(ledger, ReversalAsked{1}, {1004});
  EXPECT_TRUE(must(former_names(ledger)).empty());
}

// October to January, of which October and November are archived, and December is closed.
class AdjustedMonths : public LedgerTest {
 protected:
  void SetUp() override {
    write_months(file(), 4);
    ASSERT_EQ(must(archive_closed_periods(file(), nullptr, now)).archives.size(), 2U);
  }
  const Instant now = month_begin(4) - Duration{3600};
};

TEST_F(AdjustedMonths, AClosedMonthIsRestatedAndAnArchivedOneIsNot) {
  Ledger ledger = writer(file());
  const auto closed_rows = [&] {
    const Recovered books = must(ledger.recover());
    const ClosedPeriod& december = books.state.closed_periods().back();
    EXPECT_EQ(december.end, month_begin(3));
    std::string text;
    for (const Standing& row : december.standings) text += to_string(row.phi(EstimatorId{0}).value) + " ";
    return text;
  };
  const std::string before = closed_rows();
  const auto owned_in = [&](int month) {
    return OwnershipAsked{.nodes = "n1",
                          .owners = {},
                          .since = month_begin(month) + Duration{86400},
                          .until = month_begin(month) + Duration{20 * 86400}};
  };
  const auto refused = plan(ledger, owned_in(1), now);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_TRUE(refused.error().what.starts_with("nodes n1 of no organization, since ")) << refused.error().what;
  EXPECT_NE(refused.error().what.find(": that changes books that are archived; they can be corrected back to"),
            std::string::npos)
      << refused.error().what;
  EXPECT_EQ(closed_rows(), before);
  const AdjustmentMade made = make(ledger, owned_in(2), now);
  EXPECT_NE(closed_rows(), before);
  EXPECT_EQ(problems(must(audit(ledger))), "");
  make(ledger, ReversalAsked{made.number}, now);
  EXPECT_EQ(closed_rows(), before);
  EXPECT_EQ(problems(must(audit(ledger))), "");
}

}  // namespace
}  // namespace shapley::ledger
