// A history's rows against status --at and against the statement of the same time.
#include "ctl/commands/history.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/exit_code.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/csv.hpp"
#include "interval_fixture.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "text.hpp"

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

TEST_F(History, every_row_is_what_status_says_at_its_end) {
  ledger::testing::write_months(file(), 3, 12);
  const Instant since = month_begin(0) + Duration{27 * k_day_s};
  const Instant until = month_begin(1) + Duration{3 * k_day_s};
  const json report = must(offline_history({.ledger = file(), .since = since, .until = until}, Interval::day));
  EXPECT_TRUE(report["exact"]);
  std::int64_t compared = 0;
  std::map<std::int64_t, json> status_at;
  for (const json& row : report["rows"]) {
    const std::int64_t end = row["end"].get<std::int64_t>();
    EXPECT_EQ(row["opens_period"], row["begin"] == month_begin(1).value);
    if (end == month_begin(1).value) continue;  // status shows the new period there
    if (!status_at.contains(end)) {
      status_at[end] = must(offline_status({.ledger = file(), .at = Instant{end}, .contribution = std::nullopt}));
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
  const IntervalQuestion question{.ledger = file(), .since = at_second(-100'000), .until = at_second(2'000)};
  const json hours = must(offline_history(question, Interval::hour));
  const Instant first{hours["rows"][0]["begin"].get<std::int64_t>()};
  EXPECT_LE(first, at_second(-1'000));
  EXPECT_GT(first, at_second(-1'000 - 3'600));
}

TEST_F(History, its_intervals_sum_to_the_statement) {
  write_site(file());
  const IntervalQuestion question{.ledger = file(), .since = at_second(-1'000), .until = at_second(2'000)};
  const json hours = must(offline_history(question, Interval::hour));
  const json statement = must(offline_statement(question));
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
  const Outcome text = run("");
  EXPECT_EQ(text.exit_code, code(ExitCode::success)) << text.err;
  EXPECT_TRUE(
      contains(text.out, "A period begins at 2026-11-01T00:00:00Z: standings, psi and phi start again from zero"))
      << text.out;
  EXPECT_EQ(run("-nP -o begin,organization,used -O bio").out,
            "2026-10-31T00:00:00Z|bio|6\n2026-11-01T00:00:00Z|bio|2\n");
  EXPECT_EQ(run("--by hour -nP -o begin,end -O bio -S 2026-10-31T23:50:00").out,
            "2026-10-31T23:50:00Z|2026-11-01T00:00:00Z\n2026-11-01T00:00:00Z|2026-11-01T00:33:20Z\n");
  EXPECT_TRUE(run("--csv").out.starts_with("begin,end,opens_period,organization,standing,")) << run("--csv").out;
  EXPECT_EQ(run("--by week").exit_code, code(ExitCode::usage));
  EXPECT_EQ(run("-O nosuch").exit_code, code(ExitCode::usage));
  EXPECT_EQ(json::parse(run("--by month --json").out)["by"], "month");
}

TEST(Csv, quotes_what_would_be_taken_for_more_than_one_value) {
  static constexpr std::array k_fields{
      Field{.name = "a", .member = "a", .title = {}, .meaning = {}},
      Field{.name = "b", .member = "b", .title = {}, .meaning = {}},
  };
  const json rows{{{"a", "x,y"}, {"b", "say \"so\""}}, {{"a", 1.5}, {"b", nullptr}}};
  EXPECT_EQ(render_csv(k_fields, rows), "a,b\n\"x,y\",\"say \"\"so\"\"\"\n1.5,\n");
}

}  // namespace
}  // namespace shapley::ctl
