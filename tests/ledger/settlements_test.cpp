// Amounts that are settled: two rows move by exactly that, in the period that holds the date, and no other figure does.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adjusting.hpp"
#include "archived_months.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/archive/archive.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

// The figures of one row that do not depend on others'.
struct Figures {
  std::string rest;  // levels
  Int128 psi = 0, got = 0;
  std::vector<std::pair<Int128, Int128>> credits;  // phi and work given, by estimator
  friend bool operator==(const Figures&, const Figures&) = default;
};
using FiguresByRow = std::map<std::string, Figures>;

FiguresByRow rows_of(const State& state, const std::vector<Standing>& standings) {
  FiguresByRow rows;
  for (const Standing& row : standings) {
    Figures& figures = rows[state.organizations()[row.organization.value]];
    for (const ProcessorMillionths level : {row.owned, row.used, row.waiting, row.lent, row.borrowed})
      figures.rest += std::to_string(level.value) + ' ';
    figures.psi = row.psi.value;
    figures.got = row.got.value;
    for (const EstimatorId estimator : estimator_ids())
      figures.credits.emplace_back(row.phi(estimator).value, row.given(estimator).value);
  }
  return rows;
}

// Of every period, with its bounds: the closed ones, and the one that holds t.
std::vector<std::pair<std::pair<Instant, Instant>, FiguresByRow>> periods_of(Recovered books, Instant t) {
  State& state = books.state;
  const FiguresByRow present = rows_of(state, state.advance(t).standings());
  std::vector<std::pair<std::pair<Instant, Instant>, FiguresByRow>> periods;
  Instant begin = k_beginning_of_time;
  for (const ClosedPeriod& period : state.closed_periods()) {
    periods.push_back({{begin, period.end}, rows_of(state, period.standings)});
    begin = period.end;
  }
  periods.push_back({{begin, t}, present});
  return periods;
}

RC_GTEST_PROP(Settlements, MoveTwoRowsByTheAmountAndNothingElse, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const Instant now = latest(history) + Duration{10};
  must(ledger.append(history, now));
  const Instant t = now + Duration{*rc::gen::inRange<std::int64_t>(2, 40 * 24 * 3600)};
  const std::int64_t begin = std::max(must(ledger.recover()).state.begin().value, latest(history).value - 7000);
  auto expected = periods_of(must(ledger.recover()), t);
  const auto before = expected;
  if (*rc::gen::arbitrary<bool>()) {
    Recovered books = must(ledger.recover());
    must(ledger.save_checkpoint(books.state, ledger.last_sequence(), books.state.now()));
  }

  std::vector<AdjustmentMade> all;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    using Sides = std::pair<const char*, const char*>;
    const auto [from, to] = *rc::gen::element(Sides("a", "b"), Sides("b", "a"), Sides("a", "guests"),
                                              Sides("commons", "c"), Sides("c", "commons"));
    const Instant at{*rc::gen::inRange<std::int64_t>(begin, now.value + 1)};
    const CpuTime work{*rc::gen::inRange<std::int64_t>(1, k_max_settled.value)};
    all.push_back(make(ledger, SettlementAsked{from, to, work, at}, now));
    for (auto& [bounds, rows] : expected) {
      if (at < bounds.first || at >= bounds.second) continue;
      const Int128 worth = work.value * (bounds.second - at).value;
      rows[to].psi += worth;
      rows[to].got += work.value;
      for (auto& [phi, given] : rows[from].credits) {
        phi += worth;
        given += work.value;
      }
    }
  }
  RC_ASSERT(periods_of(must(ledger.recover()), t) == expected);
  RC_ASSERT(periods_of(must(ledger.recover_from_scratch()), t) == expected);
  RC_ASSERT(problems(must(audit(ledger))) == "");

  for (const AdjustmentMade& made : all) make(ledger, ReversalAsked{made.number}, now + Duration{1});
  RC_ASSERT(periods_of(must(ledger.recover()), t) == before);
  RC_ASSERT(periods_of(must(ledger.recover_from_scratch()), t) == before);
  RC_ASSERT(problems(must(audit(ledger))) == "");
}

class SettlementTest : public LedgerTest {
 protected:
  void SetUp() override {
    const SegmentOpened run = opened(1, 100, "a", 2);
    must(ledger.append(std::vector<Event>{OrganizationsDeclared{{50}, {"a", "b"}}, run, closed(run, 200)}, {1000}));
  }
  Error refused(const SettlementAsked& asked) {
    auto planned = plan(ledger, asked, {1000});
    EXPECT_FALSE(planned.has_value());
    return planned ? Error{} : planned.error();
  }
  Ledger ledger = writer(file());
  const CpuTime hour{Int128{3600} * k_micro};
};

TEST_F(SettlementTest, IsSaidInWordsAndReversedByAnEventOfItsOwn) {
  const AdjustmentMade made = make(ledger, SettlementAsked{"a", "b", {hour.value / 2 * 3}, {900}}, {1000});
  EXPECT_EQ(made.what, "1.5 core-hours given by a to b as of 1970-01-01T00:15:00Z");
  EXPECT_EQ(make(ledger, SettlementAsked{"b", "guests", {1'500'000}, {900}}, {1000}).what,
            "1.5 core-seconds given by b to guests as of 1970-01-01T00:15:00Z");
  make(ledger, ReversalAsked{1}, {1001});
  EXPECT_EQ(rows(file(),
                 "SELECT json_extract(payload, '$.adjustment') || ' ' || at || ' ' || json_extract(payload, '$.work')"
                 " FROM events WHERE kind = 'work_settled' ORDER BY seq"),
            (std::vector<std::string>{"1 900 5400", "2 900 1.5", "3 900 -5400"}));
  EXPECT_FALSE(plan(ledger, ReversalAsked{1}, {1002}).has_value()) << "twice";
  EXPECT_TRUE(must(audit(ledger)).clean());
}

TEST_F(SettlementTest, WhatCannotBeIsRefused) {
  const auto says = [&](const SettlementAsked& asked, const std::string& what) {
    const Error error = refused(asked);
    EXPECT_EQ(error.code, Errc::invalid_argument);
    EXPECT_NE(error.what.find(what), std::string::npos) << error.what;
  };
  says({"a", "a", hour, {900}}, "cannot settle with itself");
  says({"a", "x", hour, {900}}, "the books know no organization 'x'");
  says({"a", "b", hour, {1001}}, "lies in the future");
  says({"a", "b", {}, {900}}, "more than nothing");
  says({"a", "b", -hour, {900}}, "what b gave, write as from b");
  says({"a", "b", hour, {49}}, "before the books begin, at 1970-01-01T00:00:50Z");
  EXPECT_TRUE(plan(ledger, SettlementAsked{"a", "b", hour, {50}}, {1000}).has_value());
  says({"a", "b", {k_max_settled.value + 1}, {900}}, "277 million hours of a processor at most");
}

// October to January, of which October and November are archived, and December is closed.
TEST_F(LedgerTest, ASettlementInAnArchivedMonthIsRefused) {
  write_months(file(), 4);
  const Instant now = month_begin(4) - Duration{3600};
  ASSERT_EQ(must(archive_closed_periods(file(), nullptr, now)).archives.size(), 2U);
  Ledger ledger = writer(file());
  const auto in = [&](int month) {
    const Recovered books = must(ledger.recover());
    const std::vector<std::string>& names = books.state.organizations();
    return SettlementAsked{names.at(2), names.at(3), {k_micro}, month_begin(month) + Duration{86400}};
  };
  const auto archived = plan(ledger, in(1), now);
  ASSERT_FALSE(archived.has_value());
  EXPECT_EQ(archived.error().code, Errc::denied);
  make(ledger, in(2), now);
  EXPECT_EQ(problems(must(audit(ledger))), "");
}

}  // namespace
}  // namespace shapley::ledger
