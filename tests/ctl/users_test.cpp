// `shapleyctl status --users`: who got what within an organization, by a ledger and by a daemon, with sshare's factors
// beside it.
#include "ctl/commands/users.hpp"

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/statement.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/offline.hpp"
#include "ctl/slurm/fair_share.hpp"
#include "fake_daemon.hpp"
#include "interval_fixture.hpp"
#include "named_row.hpp"
#include "no_terminal.hpp"
#include "program.hpp"
#include "tests/support/text.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::must;
using nlohmann::json;

constexpr const char* k_sshare =
    "root||\n root|root|1.000000\n astro||\n  astro|ada1|0.250000\n  astro_theory|ada1|0.750000\n"
    " bio||\n  bio|ada2|0.500000\n  bio_lab|ada3|0.500000\n";

class StatusUsers : public testing::Test {
 protected:
  // Users have names in the ledger, except the guest.
  void SetUp() override {
    write_site(file());
    std::vector<accounting::Event> users;
    for (const std::uint32_t user : {1U, 2U, 3U})
      users.emplace_back(accounting::UserNamed{at_second(1'000), 4'000'000 + user, "ada" + std::to_string(user)});
    ledger::Ledger books = ledger::testing::writer(file());
    must(books.append(users, at_second(2'000)));
  }
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }

  // What it prints.
  std::string printed(const StatusArguments& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    Environment environment = no_terminal(out, err);
    environment.run_program = [this](const std::vector<std::string>& words) -> Expected<std::string> {
      programs.push_back(words);
      return sshare;
    };
    must(run_status(arguments, {.socket = directory.path() / "s", .timeout = test::k_timeout}, environment));
    return out.str();
  }
  std::string of_the_file(StatusArguments arguments) {
    arguments.users = true;
    arguments.ledger = file().native();
    return printed(arguments);
  }
  // By a daemon, although this user could read its ledger; `change`: what else becomes of its statement.
  std::string of_a_daemon(StatusArguments arguments, const std::function<void(ledger::AccountReport&)>& change = {}) {
    ledger::StatusReport status = must(answers::answer(ledger::StatusRequest{}, {.path = file()}));
    status.daemon = protocol::DaemonReport{.ledger = file().native()};
    ledger::AccountReport statement =
        must(answers::answer(ledger::StatementRequest{.of = {.since = k_november, .until = at_second(2'100)}},
                             {.path = file(), .known_until = at_second(2'100)}));
    if (change) change(statement);
    fs::remove(directory.path() / "s");
    const FakeDaemon daemon(directory.path() / "s", FakeDaemon::welcoming([&](const json& request) {
                              if (request["request"] == "status") return json_of(status);
                              asked = request;
                              return json_of(statement);
                            }));
    arguments.users = true;
    return printed(arguments);
  }

  ledger::testing::TemporaryDirectory directory;
  Expected<std::string> sshare = std::string(k_sshare);
  std::vector<std::vector<std::string>> programs;
  json asked;
};

std::int64_t micro(const json& exact) {
  return std::llround(std::stod(exact.get<std::string>()) * 1e6);
}

TEST_F(StatusUsers, AddUpToWhatTheirOrganizationGot) {
  const json report = json::parse(of_the_file({.json = true}));
  EXPECT_TRUE(report["users"]["exact"]);
  ASSERT_EQ(report["users"]["organizations"].size(), report["organizations"].size());
  for (const json& row : report["organizations"]) {
    const json& organization = named(report["users"]["organizations"], row["name"]);
    std::int64_t got = 0;
    double part = 0;
    for (const json& user : organization["users"]) {
      got += micro(user["got"]["processor_seconds"]);
      part += user["part"].get<double>();
    }
    EXPECT_EQ(got, micro(row["got_processor_seconds"])) << row;
    EXPECT_NEAR(part, got > 0 ? 1 : 0, 1e-9) << row;
  }
  // Six processors for 500 s of November; two from 1,200 s to the last record, at 2,100 s.
  const json& users = named(report["users"]["organizations"], "astro")["users"];
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0]["account"], "astro");
  EXPECT_EQ(users[0]["got"]["processor_seconds"], "1800");
  EXPECT_EQ(users[1]["account"], "astro_theory");
  EXPECT_EQ(users[1]["user_id"], 4'000'001);
  EXPECT_EQ(users[1]["got"]["processor_seconds"], "3000");
}

TEST_F(StatusUsers, AreOfAnInstantOfThePastOrOfALedgerWithoutSlurmsFactors) {
  const json report = json::parse(of_the_file({.json = true, .at = "2026-11-01T00:10:00"}));
  EXPECT_EQ(named(report["users"]["organizations"], "astro")["users"].size(), 1U) << "the other one began later";
  EXPECT_EQ(report["users"]["no_fair_share"], "this is of a ledger or of the past, and Slurm knows the present only");
  EXPECT_TRUE(programs.empty());
  // A period that begins at this instant.
  const std::string text = of_the_file({.at = "2026-11-01T00:00:00"});
  EXPECT_PRED2(lacks, text, "(all)");
}

// The words of each line.
std::vector<std::vector<std::string>> words_of_lines(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string word; words >> word;) row.push_back(word);
  }
  return rows;
}

TEST_F(StatusUsers, OfADaemonHaveSlurmsFactorAndOrderBesideThem) {
  const std::string text = of_a_daemon({});
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_EQ(programs[0], (std::vector<std::string>{"sshare", "--all", "--noheader", "--parsable2",
                                                   "--format=Account,User,FairShare"}));
  EXPECT_EQ(asked, (json{{"request", "statement"}, {"since", k_november.value}, {"until", at_second(2'100).value}}));
  // Theory got 3,000 processor-seconds, which are 0.833 core-hours, and all of astro 1.333.
  EXPECT_EQ(text.substr(0, text.find("\nGot:")),
            "2026-11-01T00:35:00Z  contribution direct_contr  monthly period since 2026-11-01T00:00:00Z\n"
            "Organization Account      User         Got Part% FairShare Order\n"
            "------------ ------------ ----------- ---- ----- --------- -----\n"
            "astro                     (all)       1.33 100.0\n"
            "astro        astro        ada1        0.50  37.5  0.250000     2\n"
            "astro        astro_theory ada1        0.83  62.5  0.750000     1\n"
            "bio                       (all)       3.28 100.0\n"
            "bio          bio          ada2        2.17  66.1  0.500000     1\n"
            "bio          bio_lab      ada3        1.11  33.9  0.500000     1\n"
            "guests                    (all)       0.22 100.0\n"
            "guests                    uid 4000004 0.22 100.0         ?     ?\n");
  EXPECT_PRED2(lacks, text, "Slurm:");
  EXPECT_PRED2(lacks, text, "Private:");
  EXPECT_EQ(of_a_daemon({.parsable = true, .organizations = {"bio"}}),
            "organization|account|user|got|got_seconds|part|fair_share|order\n"
            "bio|bio|ada2|2.1666666666666665|7800|0.6610169491525424|0.5|1\n"
            "bio|bio_lab|ada3|1.1111111111111112|4000|0.3389830508474576|0.5|1\n");
}

TEST_F(StatusUsers, WithoutSlurmdbdHaveNoFactorAndOneLineSaysWhy) {
  sshare = "";
  const std::string text = of_a_daemon({});
  EXPECT_PRED2(contains, text, " 0.83  62.5         ?     ?\n");
  EXPECT_PRED2(contains, text,
               "\nSlurm:   FairShare and Order are not known: sshare shows no factor; Slurm has factors with slurmdbd "
               "only\n");
  sshare = fail(Errc::unavailable, "sshare failed: it does");
  const json users = json::parse(of_a_daemon({.json = true}))["users"];
  EXPECT_EQ(users["no_fair_share"], "sshare failed: it does");
  EXPECT_EQ(users["organizations"][0]["users"][0]["fair_share"], nullptr);
}

// What the daemon hides stays hidden, although sshare may show this user more.
TEST_F(StatusUsers, HideWhatPrivateDataHides) {
  const auto hide = [](ledger::AccountReport& statement) {
    statement.is_private = true;
    for (ledger::AccountRow& row : statement.organizations) {
      if (row.name != "astro") continue;
      row.users[0].account.reset();
      row.users[0].user_id.reset();
      row.users[0].user.clear();
    }
  };
  const std::string text = of_a_daemon({}, hide);
  EXPECT_PRED2(contains, text, "\nastro                     (others)    0.50  37.5         ?     ?\n");
  EXPECT_PRED2(contains, text, "\nastro        astro_theory ada1        0.83  62.5  0.750000     1\n");
  EXPECT_PRED2(contains, text, "\nPrivate: what others used is hidden (PrivateData in slurm.conf): (others)\n");
  const json users = json::parse(of_a_daemon({.json = true}, hide))["users"];
  EXPECT_TRUE(users["private"]);
  EXPECT_EQ(users["organizations"][0]["users"][1]["account"], nullptr) << "it comes last";
  EXPECT_EQ(users["organizations"][0]["users"][1]["order"], nullptr);
  EXPECT_EQ(users["organizations"][0]["users"][0]["order"], 1);
}

// A number may be another one's here: 0 is root's.
TEST_F(StatusUsers, HaveTheNamesOfTheLedgerOnEveryPaper) {
  {
    ledger::Ledger books = ledger::testing::writer(file());
    accounting::JobDescribed job;
    job.job = {4};
    job.submit = at_second(96);  // it was described a second before by its own user
    job.organization = "bio";
    job.account = "bio_lab";
    must(books.append(std::vector<accounting::Event>{job, accounting::UserNamed{at_second(1'500), 0, "eve"},
                                                     accounting::UserNamed{at_second(1'990), 0, "max"}},
                      at_second(2'000)));
  }
  const fs::path out = directory.path() / "page";
  const auto run = [&](const std::string& arguments) {
    return ends(ExitCode::success, run_shapleyctl(directory.path(), arguments + " --ledger " + file().native())).out;
  };
  run("report --no-audit --no-charts --users --month 2026-11 -o " + out.native());
  for (const std::string& paper :
       {of_a_daemon({}), of_the_file({}), run("statement --users --month 2026-11"),
        run("statement --csv --month 2026-11"), run("jobs -j 4"), run("jobs -P -o user -j 4"), run("explain 4"),
        run("explain 4 --at 2026-11-01T00:20:00"), content_of(out / "users.csv"), content_of(out / "index.html")}) {
    EXPECT_PRED2(contains, paper, "max");
    EXPECT_PRED2(lacks, paper, paper.starts_with("<!") ? ">root<" : "root") << "as this host calls it";
  }
  // By what it was called at the end of that time; if it had no name yet, by the first one.
  EXPECT_PRED2(contains, run("statement --users -S 2026-11-01 -E 2026-11-01T00:30:00"), " eve ");
  EXPECT_PRED2(contains, run("statement --users -S 2026-11-01 -E 2026-11-01T00:10:00"), " eve ");
}

// A name means the user that has it in the books; where they have no such name, this host's.
TEST_F(StatusUsers, AreFoundByTheirNamesInTheLedger) {
  const auto run = [&](ExitCode expected, const std::string& arguments) {
    return ends(expected, run_shapleyctl(directory.path(), arguments + " --ledger " + file().native()));
  };
  const std::string jobs = "jobs -S 2026-10-01 -P -n -o job -u ";
  EXPECT_EQ(run(ExitCode::success, jobs + "ada2").out, "3\n");
  EXPECT_EQ(run(ExitCode::success, jobs + "ada2,4000003").out, "3\n4\n");
  EXPECT_EQ(run(ExitCode::success, jobs + "root").out, "") << "jobs without a description have no user";
  const std::string adjust = " -S 2026-10-01 -E 2026-11-01T00:30:00 --to bio --reason why";
  EXPECT_PRED2(contains, run(ExitCode::success, "adjust --user ada1" + adjust).out, "runs of user ada1 (4000001)");
  EXPECT_PRED2(contains, run(ExitCode::usage, jobs + "no_such_user").err, "know a user 'no_such_user'");
  EXPECT_PRED2(contains, run(ExitCode::usage, jobs + "'x\033[7m'").err, "x\\x1b[7m");
  EXPECT_PRED2(contains, run(ExitCode::usage, "adjust --user no_such_user" + adjust).err, "know a user 'no_such_user'");
  {
    ledger::Ledger books = ledger::testing::writer(file());
    must(books.append(std::vector<accounting::Event>{accounting::UserNamed{at_second(1'100), 4'000'001, "root"},
                                                     accounting::UserNamed{at_second(1'000), 4'000'004, "ada2"}},
                      at_second(2'000)));
  }
  EXPECT_EQ(run(ExitCode::success, jobs + "root").out, "1\n2\n6\n");
  EXPECT_EQ(run(ExitCode::success, jobs + "ada2").out, "3\n5\n") << "two numbers have it";
  EXPECT_PRED2(contains, run(ExitCode::success, "adjust --user root" + adjust).out, "runs of user root (4000001)");
  EXPECT_PRED2(contains, run(ExitCode::usage, "adjust --user ada2" + adjust).err,
               "the books know 2 users 'ada2'; give the user's number");
  std::string thousand = "0";
  for (int i = 0; i < 1'000; ++i) thousand += i % 2 == 0 ? ",ada3" : ",root";
  EXPECT_EQ(run(ExitCode::success, jobs + thousand).out, run(ExitCode::success, jobs + "0,ada3,root").out);
}

// As people read it: users add up to the organization, parts to 100.
TEST_F(StatusUsers, AddUpAsPrinted) {
  std::map<std::string, std::pair<double, double>> sums;
  std::map<std::string, std::pair<double, double>> all;
  for (const auto& row : words_of_lines(of_a_daemon({}))) {
    if (row.size() == 4 && row[1] == "(all)") all[row[0]] = {std::stod(row[2]), std::stod(row[3])};
    const bool is_user = (row.size() == 7 || row.size() == 6) && row[0] != "Organization" && row[0][0] != '-';
    if (!is_user || !all.contains(row[0])) continue;
    sums[row[0]].first += std::stod(row[row.size() - 4]);
    sums[row[0]].second += std::stod(row[row.size() - 3]);
  }
  ASSERT_EQ(all.size(), 3U);
  for (const auto& [name, printed] : all) {
    EXPECT_NEAR(sums[name].first, printed.first, 1e-9) << name;
    EXPECT_NEAR(sums[name].second, 100, 1e-9) << name;
  }
}

TEST(FairShareFactors, AreThoseOfUsersWithTheGreatestOfTheirAssociations) {
  const auto of = [](const std::string& text) {
    return fair_shares([&](const std::vector<std::string>&) -> Expected<std::string> { return text; }).value();
  };
  // Rows of accounts, those that are cut off and those without a number are none; a partition's association is one.
  const FairShares shares =
      of("root||\n  lab|ada|0.5\n  lab|ada|0.75\n  lab|ada|0.25\nlab|bob|\nlab|eve|inf\nlab|sam|nan\nlab|max\n\n lab|b "
         "c|1\n");
  EXPECT_EQ(shares, (FairShares{{{"lab", "ada"}, 0.75}, {{"lab", "b c"}, 1}}));
  EXPECT_EQ(fair_shares({}).error().what, "this program runs no others here");
}

}  // namespace
}  // namespace shapley::ctl
