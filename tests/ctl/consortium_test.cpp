// shapleyctl on the ledgers and statements of several clusters: the real binary.
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ctl/environment.hpp"
#include "fake_daemon.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/consortium/standing.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"
#include "paper_books.hpp"
#include "program.hpp"
#include "scripted_books.hpp"
#include "status_report.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/must.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"
#include "two_clusters.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class ConsortiumBinary : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) const { return run_shapleyctl(directory / "", arguments, ""); }

  TempDirectory directory;
};

// The north's ledger has two statements of the south's, an hour apart, and declares the west, too, if that is said.
struct TwoLedgers {
  fs::path north, south, key;

  TwoLedgers(const fs::path& directory, bool declares_west)
      : north(directory / "north.db"), south(directory / "south.db"), key(directory / "south.key") {
    using namespace accounting;
    const auto signer = ledger::make_key_files(key);
    ledger::OwnCluster own{"south", {k_example_begin, "uni", k_whole_weight, {}}};
    own.consortium.clusters.push_back({.cluster = "north", .key = signer->fingerprint(), .names = {}});
    ConsortiumDeclared declared{k_example_begin, "uni", k_whole_weight, {}};
    declared.clusters.push_back({.cluster = "south", .key = signer->fingerprint(), .names = {}});
    if (declares_west) declared.clusters.push_back({.cluster = "west", .key = signer->fingerprint(), .names = {}});
    std::vector<Event> events = example_events();
    events.emplace_back(ClusterNamed{k_example_begin, "north", "uid 0 (root)", ""});
    events.emplace_back(declared);
    auto there = ledger::Ledger::open(south, ledger::OpenMode::create_or_write);
    std::vector<Event> theirs = example_events();
    theirs.emplace_back(own.consortium);
    theirs.emplace_back(ClusterNamed{k_example_begin, "south", "uid 0 (root)", ""});
    EXPECT_TRUE(there->append(theirs, k_example_begin + Duration{40}));
    auto books = there->recover();
    for (const std::int64_t seconds : {100, 3700}) {
      auto statement = ledger::standing_statement(books->state, *there, own, k_default_estimator,
                                                  k_example_begin + Duration{seconds});
      EXPECT_TRUE(ledger::sign(*statement, *ledger::SigningKey::read(key)));
      events.emplace_back(statement->received(statement->figures.time));
    }
    auto here = ledger::Ledger::open(north, ledger::OpenMode::create_or_write);
    EXPECT_TRUE(here->append(events, k_example_begin + Duration{3700}));
  }
};

TEST_F(ConsortiumBinary, AnAuditComparesStatementsWithTheLedgersOfTheConsortium) {
  const TwoLedgers ledgers(directory.path(), false);
  const std::string audit = "audit " + ledgers.north.string() + " --consortium ";
  const std::string arguments = audit + ledgers.south.string() + " --consortium-key " + ledgers.key.string() + ".pub";
  const Outcome right = ends(ExitCode::success, run(arguments));
  EXPECT_PRED2(contains, right.out, "2 statements against the ledgers that they are of, ranks at 3 instants");
  EXPECT_PRED2(contains, right.out, "  note: 2 signatures verified");
  const json report = json::parse(run(arguments + " --json").out);
  EXPECT_TRUE(report["clean"].get<bool>());
  // Its page verifies them with the same keys.
  const fs::path page = directory / "page";
  const std::string consortium = "report --no-charts -o " + page.string() + " --consortium " + ledgers.north.string() +
                                 " " + ledgers.south.string() + " -S " + format_instant(k_example_begin) + " -E " +
                                 format_instant(k_example_begin + Duration{30});
  run(consortium);
  EXPECT_PRED2(contains, content_of(page / "index.html"), "2 signatures were not verified");
  run(consortium + " --consortium-key " + ledgers.key.string() + ".pub");
  EXPECT_PRED2(contains, content_of(page / "index.html"), "2 signatures verified with the keys that were given");
  EXPECT_EQ(report["examinations"][1]["against"], "consortium");
  EXPECT_EQ(report["examinations"][1]["statements"], 2);
  // Its own ledger is that of no statement.
  const Outcome none = ends(ExitCode::nothing_compared, run(audit + ledgers.north.string()));
  EXPECT_PRED2(contains, none.out, "  NOTHING COMPARED: no statement");
  EXPECT_PRED2(contains, none.out, "  MISSING south: 2 statements by its events 16 to 16: its ledger ");
  ends(ExitCode::unreadable, run(audit + (directory / "absent").string()));
  ends(ExitCode::usage, run("audit " + ledgers.north.string() + " --consortium-key " + ledgers.key.string() + ".pub"));
}

TEST_F(ConsortiumBinary, AnAuditOfAConsortiumSaysWhatIsMissing) {
  const TwoLedgers ledgers(directory.path(), true);
  const std::string arguments = "audit " + ledgers.north.string() + " --consortium " + ledgers.south.string();
  const Outcome outcome = ends(ExitCode::incomplete, run(arguments));
  EXPECT_PRED2(contains, outcome.out, "  MISSING west: none of its statements was recorded");
  EXPECT_PRED2(contains, outcome.out, "  what was compared is correct to the last unit");
  EXPECT_EQ(json::parse(run(arguments + " --json").out)["examinations"][1]["missing"].size(), 1U);
}

TEST_F(ConsortiumBinary, AStatementOfAConsortiumAddsTheClustersUp) {
  write_two_clusters(directory.path());
  const std::string files = (directory / "north.db").string() + " " + (directory / "south.db").string();
  const std::string month = "statement --month 2026-11 --consortium " + files;
  const json report = json::parse(ends(ExitCode::success, run(month + " --json")).out);
  std::map<std::pair<std::string, std::string>, double> differences;
  for (const json& row : report["members"]) {
    differences[{row["organization"].get<std::string>(), row["cluster"].get<std::string>()}] =
        row["difference"]["core_hours"].get<double>();
  }
  using Cell = std::pair<std::string, std::string>;
  EXPECT_EQ((differences[Cell{"a", "north"}]), 2);
  EXPECT_EQ((differences[Cell{"b", "north"}]), -2);
  EXPECT_EQ((differences[Cell{"a", "south"}]), -2);
  EXPECT_EQ((differences[Cell{"b", "south"}]), 2) << "it is B there";
  EXPECT_EQ((differences[Cell{"a", ""}]), 1);
  EXPECT_EQ((differences[Cell{"b", ""}]), -1);
  ASSERT_EQ(report["lent"].size(), 2U) << report;
  EXPECT_EQ(report["lent"][1]["owner"], "b");
  EXPECT_EQ(report["lent"][1]["borrower"], "a");
  EXPECT_EQ(report["lent"][1]["cluster"], "south");
  EXPECT_PRED2(contains, ends(ExitCode::success, run(month)).out, "b            south ");
  EXPECT_PRED2(contains, ends(ExitCode::success, run(month + " --csv -O b")).out, ",b,south,lent_to,a,2,7200,");
  const Outcome twice = ends(ExitCode::usage, run(month + " " + (directory / "north.db").string()));
  EXPECT_PRED2(contains, twice.err, "a ledger of the cluster 'north' was given already");
  const Outcome unknown = ends(ExitCode::usage, run(month + " -O b,absent"));
  EXPECT_PRED2(contains, unknown.err, "'absent'");
  const Outcome alone =
      ends(ExitCode::usage, run("statement --month 2026-11 --consortium " + (directory / "south.db").string()));
  EXPECT_PRED2(contains, alone.err, "its cluster is in no consortium");
}

TEST_F(ConsortiumBinary, AStatementOfAConsortiumSaysWhatDebtsOfGuestsCount) {
  write_two_clusters(directory.path());
  const std::string statement = "statement --month 2026-11 --consortium " + (directory / "north.db").string() + " " +
                                (directory / "south.db").string();
  const std::string sentence = "What they owe on one cluster counts in the ranks of no other.\n";
  EXPECT_PRED2(lacks, ends(ExitCode::success, run(statement)).out, sentence);
  {
    using ledger::testing::opened;
    const auto guest = opened(9, k_example_begin.value + 100, "guests", 1, "n1");
    must(ledger::testing::writer(directory / "south.db")
             .append(std::vector<accounting::Event>{guest, ledger::testing::closed(guest, guest.begin.value + 3600)},
                     k_example_begin + Duration{4000}));
  }
  const std::string text = ends(ExitCode::success, run(statement)).out;
  EXPECT_PRED2(contains, text, "guests       south       0.00 1.00");
  EXPECT_PRED2(contains, text, sentence);
}

// Ten minutes at the end of a run: less than a core-hour was given in that time, but more was owed before.
TEST_F(ConsortiumBinary, AStatementOfAConsortiumHasTheDigitsOfItsClusters) {
  write_two_clusters(directory.path());
  const std::string north = (directory / "north.db").string();
  const std::string south = (directory / "south.db").string();
  for (const std::string only : {"", " -O b"}) {
    const std::string time = " -S " + format_instant(k_example_begin + Duration{3100}) + " -E " +
                             format_instant(k_example_begin + Duration{3700}) + only;
    std::map<std::string, PrintedRow> alone;
    const std::string statement = ends(ExitCode::success, run("statement --ledger " + north + time)).out;
    for (const PrintedRow& row : printed_rows(statement, "Organization Before", 1))
      if (!row.words.at(0).starts_with('(')) alone.insert_or_assign(row.words.at(0), row);
    const std::string text = ends(ExitCode::success, run("statement --consortium " + north + ' ' + south + time)).out;
    std::size_t compared = 0;
    for (const PrintedRow& row : printed_rows(text, "Organization Cluster Given", 2)) {
      if (row.words.at(1) != "north" || row.words.at(0).starts_with('(')) continue;
      const auto same = alone.find(row.words.at(0));
      if (same == alone.end()) {  // guests and commons, which have done nothing
        EXPECT_EQ(row.cells.at("Given") + row.cells.at("Got"), "0.000.00") << statement << text;
        continue;
      }
      EXPECT_EQ(row.cells.at("Given"), same->second.cells.at("Given")) << statement << text;
      EXPECT_EQ(row.cells.at("Got"), same->second.cells.at("Got")) << statement << text;
      ++compared;
    }
    EXPECT_EQ(compared, alone.size()) << statement << text;
    EXPECT_PRED2(contains, text, "b            north       0.00 0.33");
  }
}

// The file against what the consortium's other cluster states.
TEST_F(ConsortiumBinary, CheckConfigComparesWithStandingStatements) {
  const std::string key = (directory / "key").string();
  const std::string books = (directory / "north.db").string();
  const fs::path brought = directory / "south.json";
  ASSERT_TRUE(ledger::make_key_files(key).has_value());
  ledger::testing::must(ledger::testing::writer(books).append(
      std::array{accounting::Event(accounting::ClusterNamed{{1'795'000'000}, "north", "the first feeder", ""})},
      {1'795'000'000}));
  ledger::StandingStatement statement;
  statement.cluster = "south";
  statement.figures = {.consortium = "uni",
                       .ledger = std::string(32, 'a'),
                       .event = 7,
                       .hash = std::string(64, 'b'),
                       .time = {1'795'000'000},
                       .contribution = "direct_contr",
                       .period = Period::none,
                       .period_begin = {0},
                       .weights = {{"north", 1'000'000}, {"south", 1'500'000}},
                       .organizations = std::vector<accounting::OrganizationElsewhere>(2)};
  statement.figures.organizations[0].organization = "chemistry";
  statement.figures.organizations[1].organization = "physik";
  const auto bring = [&] {
    ledger::testing::must(ledger::sign(statement, ledger::testing::must(ledger::SigningKey::read(key))));
    std::ofstream(brought) << statement.text();
  };
  const std::string file = (directory / "north.yaml").string();
  std::string asked = "--ledger " + books;
  std::string physics_there = "physik";
  const auto check = [&](ExitCode code, const std::string& weight = "1.5") {
    std::ofstream(file) << "slurm_user: root\nsigning_key: " << key << "\nconsortium:\n  name: uni\n  clusters:\n"
                        << "    - {name: south, standing: " << brought.string() << ", public_key: " << key
                        << ".pub, weight: " << weight << ", as: {physics: " << physics_there << "}}\n"
                        << "organizations: [{name: physics, nodes: [n1]}]\n";
    return ends(code, run("check-config " + asked + " " + file)).out;
  };
  EXPECT_PRED2(contains, check(ExitCode::success),
               "note: cluster 'south': its statement at " + brought.string() + ": not compared: ");
  bring();
  EXPECT_PRED2(contains, check(ExitCode::success), ": has organizations that this file does not name: chemistry\n");
  physics_there = "physics";
  EXPECT_PRED2(contains, check(ExitCode::success),
               ": has organizations that this file does not name: chemistry, physik; and none of these names of `as`: "
               "physics\n");
  physics_there = "physik";
  EXPECT_PRED2(contains, check(ExitCode::findings, "2"),
               ":6: consortium: cluster 'south': its statement at " + brought.string() +
                   ": a processor of south is worth '1.5', here '2'; agree on it with that site");
  // The ledger counts a statement of another line of events, and once a change is found in it that is the reason.
  const auto record = [&](const accounting::Event& event) {
    ledger::testing::must(ledger::testing::writer(books).append(std::array{event}, accounting::time_of(event)));
  };
  record(statement.received({1'795'000'001}));
  EXPECT_FALSE(contains(check(ExitCode::success), "refuses"));
  statement.figures.event = 6;
  bring();
  const std::string refused = ": shapleyd refuses it: its ledger went back from event 7 to 6";
  const std::string way_out = "; shapleyctl standing --accept south shows what changes if it is accepted\n";
  EXPECT_PRED2(contains, check(ExitCode::success), refused + ": it was restored" + way_out);
  record(accounting::LedgerReplaced{{1'795'000'002},
                                    "south",
                                    statement.figures.ledger,
                                    7,
                                    statement.figures.ledger,
                                    6,
                                    statement.figures.hash,
                                    "shapleyd",
                                    ""});
  statement.figures.event = 9;
  bring();
  EXPECT_PRED2(contains, check(ExitCode::success), refused + ", which was found at 2026-11-18T11:06:42Z" + way_out);
  {  // A running shapleyd says itself what it refuses.
    const FakeDaemon daemon(
        directory / "s", FakeDaemon::welcoming([&](const json& request) {
          if (request["request"] == "adjustments") return json_of(partial<ledger::AdjustmentsReport>(json::object()));
          json status = with_daemon(fixed_report());
          status["daemon"]["cluster"] = {{"name", "north"}};
          status["clusters"] = json::array({{{"cluster", "south"}, {"is_refused", true}, {"fault", "before"}}});
          return json_of(partial<ledger::StatusReport>(status));
        }));
    asked = "--socket " + (directory / "s").string();
    EXPECT_PRED2(contains, check(ExitCode::success), ": shapleyd refuses it: before\n");
  }
  asked = "--ledger " + books;
  statement.figures.period = Period::monthly;
  bring();
  EXPECT_PRED2(contains, check(ExitCode::findings), "its period is 'monthly', here 'none'; ");
  statement.figures.event = 10;
  std::ofstream(brought) << statement.text();
  EXPECT_PRED2(contains, check(ExitCode::findings), "the statement was edited or forged");
  std::ofstream(brought) << "{}";
  EXPECT_PRED2(contains, check(ExitCode::findings), "this is no standing statement");
}

// Root reads everything, and shapleyd does not.
TEST_F(ConsortiumBinary, CheckConfigTriesWhatItNamesAsShapleydsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
  const std::string key = (directory / "key").string();
  const std::string file = (directory / "north.yaml").string();
  const std::string brought = (directory / "south.json").string();
  ASSERT_TRUE(ledger::make_key_files(key).has_value());
  std::ofstream(brought) << "{}";
  std::ofstream(file) << "slurm_user: 1\nsigning_key: " << key
                      << "\nconsortium:\n  name: uni\n  clusters:\n    - {name: south, standing: " << brought
                      << ", public_key: " << key << ".pub}\norganizations: [{name: physics, nodes: [n1]}]\n";
  const auto check = [&] { return ends(ExitCode::findings, run("check-config " + file)).out; };
  const std::string who = ": daemon, as which shapleyd runs, cannot read it";
  fs::permissions(directory / "", fs::perms::owner_all);
  EXPECT_PRED2(contains, check(),
               "signing_key: " + key + who + ": it may not enter " + fs::path(directory / "").parent_path().string() +
                   "; run: chmod a+x ");
  fs::permissions(directory / "", fs::perms::others_exec | fs::perms::group_exec, fs::perm_options::add);
  EXPECT_PRED2(contains, check(), "signing_key: " + key + who + "; run: chown daemon: " + key + '\n');
  ASSERT_EQ(::chown(key.c_str(), 1, 1), 0);
  fs::permissions(key + ".pub", fs::perms::owner_read);
  fs::permissions(brought, fs::perms::owner_read);
  EXPECT_PRED2(
      contains, check(),
      ":6: consortium: cluster 'south': public_key: " + key + ".pub" + who + "; run: chmod a+r " + key + ".pub\n");
  EXPECT_PRED2(contains, check(),
               ":6: consortium: cluster 'south': standing: " + brought + who + "; run: chmod a+r " + brought + '\n');
}

}  // namespace
}  // namespace shapley::ctl
