// `shapleyctl adjust`: what of the command line the daemon is asked, and what people read; of a real ledger file.
#include "ctl/commands/adjust.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/commands.hpp"
#include "fake_daemon.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "no_terminal.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

AdjustArguments with(AdjustArguments arguments) {
  arguments.reason = "why";
  return arguments;
}

json asked_by(AdjustArguments arguments) {
  return json_of(adjust_request(with(std::move(arguments))).value());
}

std::string fault_of(const AdjustArguments& arguments) {
  const auto request = adjust_request(arguments);
  return request ? "none: " + json_of(*request).dump() : request.error().what;
}

TEST(AdjustRequest, SaysWhatTheOptionsSay) {
  EXPECT_EQ(asked_by({.job = "4711", .to = "physics"}),
            json({{"reason", "why"}, {"attribute", {{"job", 4711}, {"into", "physics"}}}}));
  EXPECT_EQ(asked_by({.job = "72_3", .to = "physics", .since = "1970-01-02"})["attribute"],
            json({{"job", 72}, {"task", 3}, {"since", 86400}, {"into", "physics"}}));
  EXPECT_EQ(asked_by({.job = "72+1", .to = "physics"})["attribute"],
            json({{"job", 72}, {"part", 1}, {"into", "physics"}}));
  EXPECT_EQ(asked_by({.account = "phsyics", .to = "a", .since = "1970-01-01", .until = "1970-01-02"})["attribute"],
            json({{"account", "phsyics"}, {"since", 0}, {"until", 86400}, {"into", "a"}}));
  EXPECT_EQ(asked_by({.user = "root", .to = "a", .since = "1970-01-01", .until = "1970-01-02"})["attribute"]["user_id"],
            0);
  EXPECT_EQ(asked_by({.user = "no-such", .to = "a", .since = "1970-01-01", .until = "1970-01-02"})["attribute"],
            json({{"user", "no-such"}, {"since", 0}, {"until", 86400}, {"into", "a"}}));
  EXPECT_FALSE(
      asked_by({.user = "0", .to = "a", .since = "1970-01-01", .until = "1970-01-02"})["attribute"].contains("user"));
  const json half{{"organization", "a"}, {"parts_per_million", 500'000}};
  const json eighth{{"organization", "b"}, {"parts_per_million", 125'000}};
  EXPECT_EQ(asked_by({.nodes = "n[1-2]", .owners = "a=50%,b=12.5%", .since = "1970-01-02"})["own"],
            json({{"nodes", "n[1-2]"}, {"owners", {half, eighth}}, {"since", 86400}}));
  EXPECT_EQ(asked_by({.nodes = "n1", .owners = "commons", .since = "1970-01-02"})["own"]["owners"], json::array());
  EXPECT_EQ(asked_by({.rename = "a", .to = "b"})["rename"], json({{"organization", "a"}, {"into", "b"}}));
  EXPECT_EQ(asked_by({.merge = "a", .to = "b"})["merge"], json({{"organization", "a"}, {"into", "b"}}));
  EXPECT_EQ(asked_by({.to = "b", .amount = "500h", .from = "a", .at = "1970-01-02"})["settle"],
            json({{"from", "a"}, {"to", "b"}, {"processor_seconds", "1800000"}, {"at", 86400}}));
  EXPECT_EQ(asked_by({.to = "b", .amount = "0.5s", .from = "a", .at = "1970-01-02"})["settle"]["processor_seconds"],
            "0.5");
  EXPECT_EQ(asked_by({.reverse = "3"})["reverse"], 3);
}

TEST(AdjustRequest, FaultsNameTheOption) {
  EXPECT_PRED2(contains, fault_of({}), "name one of --job");
  EXPECT_PRED2(contains, fault_of({.job = "1", .to = "a"}), "--reason is missing");
  EXPECT_PRED2(contains, fault_of(with({.job = "1"})), "--to is missing");
  EXPECT_PRED2(contains, fault_of(with({.job = "1", .account = "x", .to = "a"})), "name one of");
  EXPECT_PRED2(contains, fault_of(with({.job = "1", .merge = "x", .to = "a"})), "name one of");
  EXPECT_PRED2(contains, fault_of(with({.job = "one", .to = "a"})), "--job: 'one' is no job");
  EXPECT_PRED2(contains, fault_of(with({.job = "72_[1-3]", .to = "a"})), "names no task");
  EXPECT_PRED2(contains, fault_of(with({.account = "x", .to = "a"})), "--since and --until");
  EXPECT_PRED2(contains, fault_of(with({.nodes = "n1", .since = "1970-01-02"})), "--owners");
  EXPECT_PRED2(contains, fault_of(with({.nodes = "n1", .owners = "a"})), "--since");
  for (const char* owners : {"a=", "a=0%", "a=101%", "a=5", "=5%", "a,,b", ",a"}) {
    EXPECT_PRED2(contains, fault_of(with({.nodes = "n1", .owners = owners, .since = "1970-01-02"})), "is no owner")
        << owners;
  }
  EXPECT_PRED2(contains, fault_of(with({.job = "1", .to = "a", .since = "soon"})), "--since: 'soon' is no time");
  EXPECT_PRED2(contains, fault_of(with({.reverse = "-1"})), "--reverse");
  EXPECT_PRED2(contains, fault_of(with({.amount = "5h", .from = "a", .at = "1970-01-02"})), "--to is missing");
  EXPECT_PRED2(contains, fault_of(with({.to = "b", .amount = "5h", .at = "1970-01-02"})), "--amount needs --from");
  EXPECT_PRED2(contains, fault_of(with({.to = "b", .amount = "5h", .from = "a"})), "--amount needs --at");
  EXPECT_PRED2(contains, fault_of(with({.job = "1", .to = "b", .amount = "5h"})), "name one of");
  for (const char* amount : {"5", "h", "0h", "-5h", "5d", "1e3h", "300000000h"}) {
    EXPECT_PRED2(contains, fault_of(with({.to = "b", .amount = amount, .from = "a", .at = "1970-01-02"})),
                 "is no amount")
        << amount;
  }
}

// The ledger of tests/ledger/dumps/002.sql.
class Adjust : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(std::string(SHAPLEY_LEDGER_DUMPS) + "/002.sql");
    ledger::testing::tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), "adjust --ledger " + file().string() + " " + arguments);
  }
  ledger::testing::TemporaryDirectory directory;
};

TEST_F(Adjust, ListsWhatALedgerHas) {
  const Outcome listed = run("--list");
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_EQ(listed.out,
            "Adjustment 1, 2026-11-01T06:28:20Z, uid 0 (root), reversed by 3:\n"
            "  runs of job 104 are library's; a typo in the account\n"
            "Adjustment 2, 2026-11-01T06:28:30Z, uid 0 (root):\n"
            "  nodes n1 of physics 50%, biology 50%, since 2026-10-31T21:00:00Z, until 2026-10-31T22:00:00Z; agreed on "
            "1 November\n"
            "Adjustment 3, 2026-11-01T06:28:40Z, uid 0 (root):\n"
            "  adjustment 1 (runs of job 104) does not hold; it was none\n"
            "Adjustment 4, 2026-11-01T06:35:00Z, uid 0 (root), reversed by 5:\n"
            "  500 core-hours given by physics to biology as of 2026-11-01T06:20:00Z; invoice 12 was paid\n"
            "Adjustment 5, 2026-11-01T06:35:00Z, uid 0 (root):\n"
            "  adjustment 4 (500 core-hours given by physics to biology as of 2026-11-01T06:20:00Z) does not hold; it "
            "was the invoice of another year\n");
  EXPECT_EQ(json::parse(run("--list --json").out)["adjustments"].size(), 5U);
}

TEST_F(Adjust, ShowsWhatWouldChangeAndLeavesTheFileAsItIs) {
  const std::string before = ledger::testing::content_of(file());
  const Outcome shown = run("--job 104 --to library --reason 'a typo'");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_PRED2(contains, shown.out,
               "Adjustment 6: runs of job 104 are library's\nMoves:  1 run, 2.0 core-hours so far\n");
  EXPECT_PRED2(contains, shown.out, "Nothing is booked yet");
  const json report = json::parse(run("--job 104 --to library --reason 'a typo' --json").out);
  EXPECT_EQ(report["organizations"].size(), 5U);
  double sum_before = 0;
  double sum_after = 0;
  for (const json& row : report["organizations"]) {
    sum_before += row["standing_core_hours_before"].get<double>();
    sum_after += row["standing_core_hours_after"].get<double>();
    if (row["name"] == "guests") {
      EXPECT_GT(row["standing_core_hours_after"], row["standing_core_hours_before"]);
    }
  }
  EXPECT_NEAR(sum_before, 0, 1e-9);
  EXPECT_NEAR(sum_after, 0, 1e-9);
  EXPECT_EQ(ledger::testing::content_of(file()), before);
}

TEST_F(Adjust, ShowsWhatAnAmountWouldChange) {
  const std::string asked = "--amount 500h --from physics --to biology --at 2026-11-01T06:00:00 --reason 'paid'";
  EXPECT_PRED2(contains, run(asked).out,
               "Adjustment 6: 500 core-hours given by physics to biology as of 2026-11-01T06:00:00Z\nReason: paid\n");
  std::map<std::string, double> moved;
  const json report = json::parse(run(asked + " --json").out);
  for (const json& row : report["organizations"])
    moved[row["name"]] =
        row["standing_core_hours_after"].get<double>() - row["standing_core_hours_before"].get<double>();
  EXPECT_PRED2(contains, run(asked).out, "Organization Standing Corrected ");
  EXPECT_PRED2(lacks, run(asked).out, "No standing of this period changes");
  for (const json& row : report["organizations"]) {
    if (row["name"] == "physics") EXPECT_GT(row["key_core_hours_after"], row["key_core_hours_before"]);
    if (row["name"] == "commons") EXPECT_TRUE(row["key_core_hours_after"].is_null());
  }
  EXPECT_GT(moved["physics"], 0);
  EXPECT_NEAR(moved["physics"], -moved["biology"], 1e-9);
  for (const char* other : {"library", "guests", "commons"}) EXPECT_EQ(moved[other], 0) << other;
}

// What a preview shows of an amount: the month that has its date, and the keys that ranks go by.
TEST(AdjustPreview, ShowsTheMonthThatChanges) {
  using namespace ledger;
  using namespace ledger::testing;
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "ledger.db";
  write_months(file, 3);
  const Ledger ledger = writer(file);
  const Instant now = month_begin(3) - Duration{3600};
  const std::vector<std::string> names = must(ledger.recover()).state.organizations();
  const CpuTime hour{Int128{3600} * k_micro};
  const auto preview = [&](Instant at) {
    return must(
        preview_report(ledger, {SettlementAsked{names.at(2), names.at(3), hour, at}, "uid 0 (root)", "why"}, now));
  };
  const auto changes = [](const StandingsRow& row) {
    return row.before != row.after || row.key_before != row.key_after;
  };
  const PreviewReport past = preview(month_begin(1) - Duration{1});
  ASSERT_EQ(past.closed.size(), 1U);
  EXPECT_EQ(past.closed[0].end, month_begin(1));
  ASSERT_EQ(past.closed[0].organizations.size(), 2U);
  for (const ClosedRow& row : past.closed[0].organizations) {
    const bool gave = row.name == names.at(2);
    EXPECT_TRUE(gave || row.name == names.at(3)) << row.name;
    EXPECT_NEAR(row.given_after - row.given_before, gave ? 1 : 0, 1e-9);
    EXPECT_NEAR(row.got_after - row.got_before, gave ? 0 : 1, 1e-9);
    EXPECT_EQ(row.standing_after > row.standing_before, gave);
  }
  EXPECT_TRUE(std::ranges::none_of(past.organizations, changes)) << "October is not this month";
  const PreviewReport present = preview(month_begin(2) + Duration{86400});
  EXPECT_TRUE(present.closed.empty());
  EXPECT_EQ(std::ranges::count_if(present.organizations, changes), 2);
  for (const StandingsRow& row : present.organizations) {
    if (row.name == names.at(2)) EXPECT_GT(row.key_after.value_or(0), row.key_before.value_or(0));
  }
}

// The table of the month that has the date.
TEST(AdjustOverTheSocket, ShowsTheClosedMonthsThatChange) {
  TempDirectory directory;
  ledger::PreviewReport preview{
      .adjustment = {.number = 5, .kind = accounting::AdjustmentKind::settle, .reason = "why"},
      .organizations = {{.name = "a", .before = 1, .after = 1}}};
  for (int month = 0; month < 14; ++month) {
    preview.closed.push_back({.begin = Instant{month * 2'678'400 + 1},
                              .end = Instant{(month + 1) * 2'678'400},
                              .organizations = {{"a", 1, 1.5, 10, 10, 11, 11.5}}});
  }
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) { return json_of(preview); }));
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = no_terminal(out, err);
  ASSERT_TRUE(run_adjust(with({.to = "b", .amount = "1h", .from = "a", .at = "1970-01-02"}),
                         {.socket = directory / "s", .timeout = std::chrono::minutes(4)}, environment));
  EXPECT_PRED2(contains, out.str(), "No standing of this period changes, and no key.\n");
  EXPECT_PRED2(contains, out.str(), "\n2 earlier periods change, too; --json lists all of them.\n");
  EXPECT_PRED2(contains, out.str(), "\nFrom 1971-02-08T00:00:01Z to 1971-03-11T00:00:00Z, in core-hours:\n");
  EXPECT_PRED2(contains, out.str(), "Organization Standing Corrected  Got Corrected Given Corrected\n");
  EXPECT_PRED2(lacks, out.str(), "From 1970-01-01T00:00:01Z");
}

TEST_F(Adjust, WhatAFileCannotDoIsSaid) {
  EXPECT_EQ(run("--job 104 --to library --reason x --yes").exit_code, 2);
  EXPECT_EQ(run("--job 104 --to unknown --reason x").exit_code, 2);
  EXPECT_EQ(run("--job 9999 --to library --reason x").exit_code, 2) << "a number that the books do not have";
  EXPECT_EQ(run("--reverse 1 --reason x").exit_code, 5);
  EXPECT_PRED2(contains, run("--reverse 1 --reason x").err, "adjustment 1 was reversed by adjustment 3 already");
  EXPECT_EQ(run("--reverse 7 --reason x").exit_code, 2);
}

// In the words of who asked: the events behind a correction have names that are known in the ledger only.
TEST_F(Adjust, OwnersThatCannotBeAreReportedInTheWordsOfTheQuestion) {
  const Outcome twice =
      run("--nodes n1 --owners physics=60%,physics=30% -S 2026-10-31T21:00:00 -E 2026-10-31T22:00:00 --reason x");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_EQ(twice.err,
            "shapleyctl: adjust: nodes n1 of physics 60%, physics 30%, since 2026-10-31T21:00:00Z, until "
            "2026-10-31T22:00:00Z: physics owns twice; add its parts up\n");
  const Outcome more =
      run("--nodes n1 --owners physics=60%,biology=50% -S 2026-10-31T21:00:00 -E 2026-10-31T22:00:00 --reason x");
  EXPECT_PRED2(contains, more.err, ": the owners' parts exceed 100 %\n");
  EXPECT_PRED2(lacks, more.err, "/");
}

TEST(AdjustOverTheSocket, BooksOnlyWithYes) {
  TempDirectory directory;
  std::string asked;
  const json adjustment{{"number", 5}, {"kind", "attribute"}, {"what", "runs of job 7"}, {"into", "a"},
                        {"runs", 2},   {"reason", "why"},     {"organization", ""},      {"reverses", nullptr}};
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            asked += request["request"].get<std::string>() + " ";
                            if (request["request"] == "adjust") {
                              return json_of(partial<ledger::AdjustedReport>(
                                  {{"adjustment", adjustment}, {"core_hours", 1.5}, {"rebuild", true}}));
                            }
                            return json_of(partial<ledger::PreviewReport>(
                                {{"adjustment", adjustment}, {"core_hours", 1.5}, {"contribution", "direct_contr"}}));
                          }));
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = no_terminal(out, err);
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  AdjustArguments arguments = with({.job = "7", .to = "a"});
  ASSERT_TRUE(run_adjust(arguments, endpoint, environment).has_value());
  arguments.yes = true;
  out.str("");
  ASSERT_TRUE(run_adjust(arguments, endpoint, environment).has_value());
  EXPECT_EQ(asked, "adjust_preview adjust ");
  EXPECT_EQ(out.str(),
            "adjustment 5 is booked: runs of job 7 are a's: 2 runs, 1.5 core-hours so far\n"
            "shapleyctl adjust --reverse 5 takes it back\n"
            "the books are rebuilt for it: ranks and standings follow in a while\n");
}

TEST_F(Adjust, CheckConfigKnowsWhatAnOrganizationIsCalledNow) {
  using namespace accounting;
  const std::string ledger = (directory.path() / "renamed.db").string();
  const Instant at{1'795'000'000};
  const auto joined = [&](std::uint32_t number, AdjustmentKind kind, const char* from, const char* into) {
    AdjustmentMade made;
    made.number = number;
    made.at = at;
    made.kind = kind;
    made.organization = from;
    made.into = into;
    made.author = "uid 0 (root)";
    made.reason = "a test";
    return made;
  };
  {
    ledger::Ledger writer = ledger::testing::writer(ledger);
    const std::vector<Event> events{
        OrganizationsDeclared{at, {"sciences", "physics", "optics"}},
        ConfigurationLoaded{at, "slurm_user: root\norganizations: [{name: sciences, partitions: [batch]}]\n"},
        joined(1, AdjustmentKind::merge, "optics", "physics"),
        joined(2, AdjustmentKind::rename, "physics", "sciences")};
    ledger::testing::must(writer.append(events, at));
  }
  const std::string after = (directory.path() / "former.yaml").string();
  const std::string former = "slurm_user: root\norganizations: [{name: optics, partitions: [batch]}]\n";
  const std::string fault =
      ":2: organization 'optics' was merged into sciences by a correction of the books of 2026-11-18; write sciences\n";
  std::ofstream(after) << former;
  for (const std::string options : {"", "--diff "}) {
    const Outcome outcome =
        run_shapleyctl(directory.path(), "check-config " + options + "--ledger " + ledger + " " + after);
    EXPECT_EQ(outcome.exit_code, code(ExitCode::findings)) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, after + fault + after + ": 1 fault\n");
  }
  // Without a daemon, and no ledger named, the books are not read, although the file names them.
  std::ofstream(after) << "ledger: " << ledger << "\n" << former;
  const std::string check = "check-config " + after + " --socket " + (directory.path() / "no-socket").string();
  const Outcome unasked = ends(ExitCode::success, run_shapleyctl(directory.path(), check));
  EXPECT_PRED2(contains, unasked.out,
               "note: names of organizations were not compared with the books: cannot reach shapleyd at ");
  EXPECT_PRED2(contains, unasked.out, "without a daemon: --ledger FILE");
  // A first configuration is written before there are books.
  std::filesystem::remove(ledger);
  EXPECT_PRED2(lacks, ends(ExitCode::success, run_shapleyctl(directory.path(), check)).out, "note: ");
}

TEST(CheckConfig, AsksTheRunningDaemonForFormerNames) {
  TempDirectory directory;
  const json renamed{{"number", 1}, {"at", 1'795'000'000}, {"kind", "rename"},   {"organization", "physics"},
                     {"into", "b"}, {"runs", 0},           {"reason", "a test"}, {"reverses", nullptr}};
  const FakeDaemon daemon(
      directory / "s", FakeDaemon::welcoming([&](const json& request) {
        EXPECT_EQ(request["request"], "adjustments");
        return json_of(partial<ledger::AdjustmentsReport>({{"adjustments", json::array({renamed})}}));
      }));
  std::ofstream(directory / "site.yaml") << "slurm_user: root\nledger: " << (directory / "none.db").string()
                                         << "\norganizations:\n  - {name: b, partitions: [x]}\n"
                                            "  - {name: physics, partitions: [y]}\n";
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = no_terminal(out, err);
  const auto checked = run_check_config({.file = (directory / "site.yaml").string()},
                                        {.socket = directory / "s", .timeout = std::chrono::minutes(4)}, environment);
  ASSERT_TRUE(checked.has_value()) << checked.error().what;
  EXPECT_EQ(*checked, ExitCode::findings);
  EXPECT_PRED2(contains, out.str(), "site.yaml:5: organization 'physics' was renamed to b by a correction");
}

}  // namespace
}  // namespace shapley::ctl
