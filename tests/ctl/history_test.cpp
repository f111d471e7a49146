// A history's rows against status --at and against the statement of the same time.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/commands.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/environment.hpp"
#include "ctl/offline.hpp"
#include "interval_fixture.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "program.hpp"
#include "tables/table.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using ledger::Interval;
using ledger::testing::month_begin;
using ledger::testing::must;
using nlohmann::json;

class History : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }
  ledger::testing::TemporaryDirectory directory;
};

// Programs may read columns by their position.
TEST_F(History, new_columns_are_the_last) {
  write_site(file());
  const auto head = [this](const std::string& arguments) {
    const std::string out =
        ends(ExitCode::success, run_shapleyctl(directory.path(), "history --ledger " + file().string() + arguments))
            .out;
    return out.substr(0, out.find('\n'));
  };
  EXPECT_EQ(head(" -P"),
            "begin|organization|standing|psi|phi|got|given|owned|used|lent|borrowed|waiting|waited|settled");
  EXPECT_TRUE(head(" --csv").ends_with(
      ",waited,owned,used,lent,borrowed,waiting,settled,got_processor_seconds,given_processor_seconds,"
      "settled_processor_seconds"));
}

TEST_F(History, every_row_is_what_status_says_at_its_end) {
  ledger::testing::write_months(file(), 3, 12);
  const Instant since = month_begin(0) + Duration{27 * k_day_s};
  const Instant until = month_begin(1) + Duration{3 * k_day_s};
  const json report = json_of(must(answers::answer(
      ledger::HistoryRequest{.of = {.since = since, .until = until}, .by = Interval::day}, {.path = file()})));
  EXPECT_TRUE(report["exact"]);
  std::int64_t compared = 0;
  std::map<std::int64_t, json> status_at;
  for (const json& row : report["rows"]) {
    const std::int64_t end = row["end"].get<std::int64_t>();
    EXPECT_EQ(row["opens_period"], row["begin"] == month_begin(1).value);
    if (end == month_begin(1).value) continue;  // status shows the new period there
    if (!status_at.contains(end)) {
      status_at[end] = json_of(must(answers::answer(ledger::StatusAtRequest{.at = Instant{end}}, {.path = file()})));
    }
    for (const json& then : status_at[end]["organizations"]) {
      if (then["name"] != row["organization"]) continue;
      ++compared;
      for (const char* member : {"standing_core_hours", "psi", "phi", "owned", "used", "lent", "borrowed", "waiting"}) {
        EXPECT_EQ(row[member], then[member]) << member << " of " << row;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

TEST_F(History, begins_where_the_books_begin) {
  {
    auto events = site_events(Period::monthly);
    events[0] = accounting::OrganizationsDeclared{at_second(-100'000), {"astro", "bio"}};
    ledger::Ledger ledger = ledger::testing::writer(file());
    ledger::testing::must(ledger.append(events, at_second(2'000)));
  }
  const ledger::IntervalRequest asked{.since = at_second(-100'000), .until = at_second(2'000)};
  const json hours =
      json_of(must(answers::answer(ledger::HistoryRequest{.of = asked, .by = Interval::hour}, {.path = file()})));
  const Instant first{hours["rows"][0]["begin"].get<std::int64_t>()};
  EXPECT_LE(first, at_second(-1'000));
  EXPECT_GT(first, at_second(-1'000 - 3'600));
}

TEST_F(History, its_intervals_sum_to_the_statement) {
  write_site(file());
  const ledger::IntervalRequest asked{.since = at_second(-1'000), .until = at_second(2'000)};
  const json hours =
      json_of(must(answers::answer(ledger::HistoryRequest{.of = asked, .by = Interval::hour}, {.path = file()})));
  const json statement = json_of(must(answers::answer(ledger::StatementRequest{.of = asked}, {.path = file()})));
  for (const json& organization : statement["organizations"]) {
    std::map<std::string, double> sums;
    for (const json& row : hours["rows"]) {
      if (row["organization"] != organization["name"]) continue;
      for (const char* amount : {"got", "given", "lent", "borrowed", "waited"}) {
        sums[amount] += row[std::string(amount) + "_core_hours"].get<double>();
      }
    }
    for (const auto& [amount, sum] : sums) {
      EXPECT_NEAR(sum, organization[amount]["core_hours"].get<double>(), 1e-9) << amount << " of " << organization;
    }
    EXPECT_EQ(sums.size(), 5U);
  }
}

TEST(Intervals, begin_where_hours_days_and_months_do) {
  const auto begins = [](Interval by, const char* since, const char* until) {
    std::string text;
    for (const Instant t : ledger::begins_between(by, *parse_instant(since), *parse_instant(until)))
      text += format_instant(t) + ' ';
    return text;
  };
  EXPECT_EQ(begins(Interval::hour, "2026-11-01T00:00:00", "2026-11-01T02:00:01"),
            "2026-11-01T01:00:00Z 2026-11-01T02:00:00Z ");
  EXPECT_EQ(begins(Interval::day, "2026-10-31T12:00:00", "2026-11-02T00:00:00"), "2026-11-01T00:00:00Z ");
  EXPECT_EQ(begins(Interval::month, "2026-10-31", "2027-01-15"),
            "2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 2027-01-01T00:00:00Z ");
}

TEST_F(History, of_the_program) {
  write_site(file());
  const auto run = [&](const std::string& arguments) {
    return run_shapleyctl(directory.path(), "history --ledger " + file().string() + " " + arguments);
  };
  const Outcome text = ends(ExitCode::success, run(""));
  EXPECT_PRED2(contains, text.out,
               "A period begins at 2026-11-01T00:00:00Z: standings, psi and phi start again from zero");
  EXPECT_EQ(run("-nP -o begin,organization,used -O bio").out,
            "2026-10-31T00:00:00Z|bio|6\n2026-11-01T00:00:00Z|bio|2\n");
  EXPECT_EQ(run("--by hour -nP -o begin,end -O bio -S 2026-10-31T23:50:00").out,
            "2026-10-31T23:50:00Z|2026-11-01T00:00:00Z\n2026-11-01T00:00:00Z|2026-11-01T00:33:20Z\n");
  EXPECT_TRUE(run("--csv").out.starts_with("begin,end,opens_period,organization,standing,")) << run("--csv").out;
  ends(ExitCode::usage, run("--by week"));
  ends(ExitCode::usage, run("-O nosuch"));
  // Without --since whole intervals are shown: the books' last instant is 00:33:20 of November 1.
  const std::string hours = run("--by hour -nP -o begin -O bio").out;
  EXPECT_EQ(hours.substr(0, hours.find('\n')), "2026-10-31T23:00:00Z");
  const json months = json::parse(run("--by month --json").out);
  EXPECT_EQ(months["by"], "month");
  EXPECT_EQ(months["since_utc"], "2025-12-01T00:00:00Z") << months;
}

TEST(Csv, quotes_what_would_be_taken_for_more_than_one_value) {
  const tables::Table table{.columns = {{.name = "a"}, {.name = "b"}},
                            .rows = {{{"a", "x,y"}, {"b", "say \"so\""}}, {{"a", 1.5}, {"b", nullptr}}}};
  EXPECT_EQ(csv_text(table), "a,b\n\"x,y\",\"say \"\"so\"\"\"\n1.5,\n");
}

// Questions about a time before the books begin: no command answers them with zeros.

namespace fs = std::filesystem;

// Books that begin at 2026-10-01T00:00:50Z; who owns the nodes is stated since 1970, as shapleyd does at its first
// start.
class BeforeTheBooks : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), arguments + " --ledger " + file().string());
  }
  void expect_refused(const std::string& arguments) const {
    const Outcome outcome = ends(ExitCode::usage, run(arguments));
    EXPECT_TRUE(contains(outcome.err, "the books begin at 2026-10-01T00:00:50Z; there is nothing of 2026-"))
        << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  ledger::testing::TemporaryDirectory directory;
};

TEST_F(BeforeTheBooks, every_command_says_when_they_begin) {
  ledger::testing::write_months(file(), 3, 12);
  const std::string page = (directory.path() / "page").string();
  const std::string commands[] = {"statement --month 2026-09",
                                  "statement --json -S 2026-09-03 -E 2026-10-01T00:00:50",
                                  "report --no-charts --month 2026-09 -o " + page,
                                  "history --by month -S 2026-07-01 -E 2026-10-01",
                                  "history --by hour -S 2026-09-30 -E 2026-10-01",
                                  "status --at 2026-09-30T12:00:00",
                                  "status --worth --at 2026-10-01T00:00:49",
                                  "explain physics --against biology --at 2026-09-30",
                                  "explain 1 --at 2026-09-30",
                                  "status --forecast --at 2026-09-30"};
  for (const std::string& command : commands) expect_refused(command);
  EXPECT_FALSE(fs::exists(page));
  for (const char* command : {"status --at 2026-10-01T00:00:50", "status --forecast --at 2026-10-01T00:00:50",
                              "statement -S 2026-09-01 -E 2026-10-01T00:00:51"}) {
    EXPECT_EQ(run(command).exit_code, code(ExitCode::success)) << command;
  }
}

TEST_F(BeforeTheBooks, a_time_that_they_begin_in_is_reported_from_there_on) {
  ledger::testing::write_months(file(), 3, 12);
  const Outcome text = run("statement --month 2026-10");
  EXPECT_PRED2(contains, text.out, "\nNot all of that time: the books begin at 2026-10-01T00:00:50Z.\n");
  EXPECT_PRED2(lacks, run("statement --month 2026-11").out, "Not all of that time") << text.out;
  const json report = json::parse(run("statement --json -S 2026-08-15 -E 2026-10-09").out);
  EXPECT_EQ(report["books_begin_utc"], "2026-10-01T00:00:50Z");
  ASSERT_EQ(report["periods"].size(), 1U) << report;
  EXPECT_EQ(report["periods"][0]["begin_utc"], "2026-10-01T00:00:50Z");
  EXPECT_EQ(report["periods"][0]["period_begin_utc"], "2026-10-01T00:00:50Z");
  const json october = json::parse(run("statement --json -S 2026-10-01T00:00:50 -E 2026-10-09").out);
  EXPECT_EQ(report["organizations"], october["organizations"]);
  const json rows = json::parse(run("history --json --by month -S 2026-01-01").out)["rows"];
  EXPECT_EQ(rows[0]["begin_utc"], "2026-10-01T00:00:00Z");
}

TEST_F(BeforeTheBooks, archives_that_are_missing_are_not_asked_for) {
  ledger::testing::write_months(file(), 5, 12);
  ASSERT_EQ(run("archive").exit_code, code(ExitCode::success));
  expect_refused("status --at 2026-09-30");
  expect_refused("statement --month 2026-09");
  fs::remove_all(directory.path() / "archives");
  expect_refused("status --at 2026-09-30");
  expect_refused("explain physics --against biology --at 2026-09-30");
  ends(ExitCode::unreadable, run("status --at 2026-10-09"));
}

TEST_F(BeforeTheBooks, a_ledger_of_declarations_alone_has_none) {
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    const std::vector<accounting::Event> events{
        accounting::ConfigurationLoaded{{1'800'000'000}, "organizations: {}\n"}};
    must(ledger.append(events, {1'800'000'000}));
  }
  const auto status = answers::answer(ledger::StatusAtRequest{.at = Instant{1'800'000'000}}, {.path = file()});
  ASSERT_FALSE(status);
  EXPECT_PRED2(contains, status.error().what, "the books have not begun");
}

// Which corrections a statement names: those of its time, and later ones exactly where its amounts are others by them.

using ledger::AdjustmentAsked;

constexpr std::int64_t k_first = -1'000;
constexpr std::int64_t k_last = 2'000;
constexpr std::int64_t k_step = 200;

// In which order pairs stand is no amount.
json amounts_of(json report) {
  for (json& row : report["organizations"]) {
    for (const char* pairs : {"lent_to", "borrowed_from"}) std::sort(row[pairs].begin(), row[pairs].end());
  }
  return report["organizations"];
}

class Corrections : public testing::Test {
 protected:
  void SetUp() override { write_site(file(), Period::none); }
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }

  std::uint32_t make(decltype(AdjustmentAsked::what) what, std::int64_t second) const {
    ledger::Ledger ledger = ledger::testing::writer(file());
    const ledger::Recovered books = must(ledger.recover());
    const auto plan = must(ledger::plan_adjustment(
        ledger, books.state, {.what = std::move(what), .author = "uid 0 (root)", .reason = "a test"},
        at_second(second)));
    must(ledger.append(plan.events(), at_second(second)));
    return plan.made.number;
  }
  [[nodiscard]] json of(std::int64_t since, std::int64_t until) const {
    return json_of(must(answers::answer(
        ledger::StatementRequest{.of = {.since = at_second(since), .until = at_second(until)}}, {.path = file()})));
  }
  [[nodiscard]] std::vector<json> windows() const {
    std::vector<json> all;
    for (std::int64_t begin = k_first; begin < k_last; begin += k_step) all.push_back(of(begin, begin + k_step));
    return all;
  }
  // Made at 5,000 s, after all windows.
  void expect_named_where_amounts_changed(const decltype(AdjustmentAsked::what)& what) const {
    const std::vector<json> before = windows();
    const std::uint32_t number = make(what, 5'000);
    const std::vector<json> after = windows();
    std::size_t changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool other = amounts_of(before[i]) != amounts_of(after[i]);
      const json& named = after[i]["adjustments"];
      EXPECT_EQ(named.size(), other ? 1U : 0U) << "window " << i << ' ' << named;
      if (named.empty()) continue;
      ++changed;
      EXPECT_EQ(named[0]["number"], number);
      EXPECT_EQ(named[0]["later"], true);
      EXPECT_EQ(named[0]["reversed_by"], nullptr);
    }
    EXPECT_GT(changed, 0U);
    EXPECT_LT(changed, before.size());
  }
  ledger::testing::TemporaryDirectory directory;
};

ledger::AttributionAsked given(std::uint32_t job, const std::string& into) {
  ledger::AttributionAsked asked;
  asked.job = JobId{job};
  asked.into = into;
  return asked;
}

TEST_F(Corrections, LaterOnesOfARunAreNamedWhereItRan) {
  expect_named_where_amounts_changed(given(3, "astro"));  // from -200 s to 1,300 s
}

TEST_F(Corrections, LaterOnesOfARunThatGoesOnAreNamedFromItsBeginOn) {
  expect_named_where_amounts_changed(given(6, "bio"));  // from 1,200 s on
}

TEST_F(Corrections, LaterOnesOfOwnersAreNamedWhereTheyOwned) {
  ledger::OwnershipAsked owned;
  owned.nodes = "n2";
  owned.owners = {{"astro", 1'000'000}};
  owned.since = at_second(0);
  owned.until = at_second(1'000);
  expect_named_where_amounts_changed(owned);
}

TEST_F(Corrections, AStatementNamesThoseOfItsTimeWithWhatTheyMoved) {
  make(given(1, "bio"), 2'010);  // 4 processors for 600 s
  make(given(6, "bio"), 2'020);  // 2 processors since 1,200 s: 820 s so far
  make(ledger::ReversalAsked{1}, 2'030);
  // Of what is before 2,010 s two ran on job 1's time, and nothing of it is left.
  const json later = of(-800, -400)["adjustments"];
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0]["number"], 1);
  EXPECT_EQ(later[0]["reversed_by"], 3);
  EXPECT_EQ(later[1]["number"], 3);
  // At the begin of a time is within it, at its end is not, unless nothing later is known.
  const json report = of(2'015, 2'031);
  const json& within = report["adjustments"];
  ASSERT_EQ(within.size(), 2U);
  EXPECT_EQ(within[0]["number"], 2);
  EXPECT_EQ(within[0]["later"], false);
  EXPECT_EQ(within[0]["work"]["processor_seconds"], "1640");
  EXPECT_EQ(within[1]["number"], 3);
  EXPECT_EQ(within[1]["work"]["processor_seconds"], "2400");
  EXPECT_EQ(of(2'010, 2'020)["adjustments"][0]["number"], 1);
  EXPECT_EQ(of(2'010, 2'020)["adjustments"][0]["later"], false);
  EXPECT_EQ(of(2'000, 2'010)["adjustments"][0]["number"], 2) << "later";
  EXPECT_EQ(of(2'020, 2'030)["adjustments"].size(), 1U);

  json named = report;
  for (json& row : named["organizations"]) row["users"] = json::array();
  const std::string text = render_statement(must(from_json<ledger::AccountReport>(named)));
  EXPECT_PRED2(contains, text,
               "Corrections of the books made in that time:\n"
               "Adjustment 2, 2026-11-01T00:33:40Z, uid 0 (root):\n"
               "  runs of job 6 are bio's: 1 run, 0.456 core-hours; a test\n");
  EXPECT_PRED2(lacks, text, "made later");
}

TEST_F(Corrections, NamesChangeAllTimes) {
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    must(ledger.append(
        std::vector<accounting::Event>{accounting::OrganizationsDeclared{at_second(2'001), {"stars", "bio"}}},
        at_second(2'001)));
  }
  make(ledger::JoinAsked{.kind = accounting::AdjustmentKind::rename, .organization = "astro", .into = "stars"}, 5'000);
  for (const json& window : windows()) {
    ASSERT_EQ(window["adjustments"].size(), 1U);
    EXPECT_EQ(window["adjustments"][0]["work"], nullptr);
  }
}

}  // namespace
}  // namespace shapley::ctl
