// Questions about a time before the books begin: no command answers them with zeros.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/exit_code.hpp"
#include "ctl/offline.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::must;
using nlohmann::json;

// Books that begin at 2026-10-01T00:00:50Z; who owns the nodes is stated since 1970, as shapleyd does at its first
// start.
class BeforeTheBooks : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), arguments + " --ledger " + file().string());
  }
  void expect_refused(const std::string& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, code(ExitCode::usage)) << arguments << ": " << outcome.out << outcome.err;
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
                                  "compare physics biology --at 2026-09-30",
                                  "explain 1 --at 2026-09-30",
                                  "forecast --at 2026-09-30"};
  for (const std::string& command : commands) expect_refused(command);
  EXPECT_FALSE(fs::exists(page));
  for (const char* command : {"status --at 2026-10-01T00:00:50", "forecast --at 2026-10-01T00:00:50",
                              "statement -S 2026-09-01 -E 2026-10-01T00:00:51"}) {
    EXPECT_EQ(run(command).exit_code, code(ExitCode::success)) << command;
  }
}

TEST_F(BeforeTheBooks, a_time_that_they_begin_in_is_told_from_there_on) {
  ledger::testing::write_months(file(), 3, 12);
  const Outcome text = run("statement --month 2026-10");
  EXPECT_TRUE(contains(text.out, "\nNot all of that time: the books begin at 2026-10-01T00:00:50Z.\n")) << text.out;
  EXPECT_FALSE(contains(run("statement --month 2026-11").out, "Not all of that time")) << text.out;
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
  expect_refused("compare physics biology --at 2026-09-30");
  EXPECT_EQ(run("status --at 2026-10-09").exit_code, code(ExitCode::unreadable));
}

TEST_F(BeforeTheBooks, a_ledger_of_declarations_alone_has_none) {
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    const std::vector<accounting::Event> events{
        accounting::ConfigurationLoaded{{1'800'000'000}, "organizations: {}\n"}};
    must(ledger.append(events, {1'800'000'000}));
  }
  const auto status = offline_status({.ledger = file(), .at = Instant{1'800'000'000}, .contribution = std::nullopt});
  ASSERT_FALSE(status);
  EXPECT_TRUE(contains(status.error().what, "the books have not begun")) << status.error().what;
}

}  // namespace
}  // namespace shapley::ctl
