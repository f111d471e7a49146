// The real binary: its exit codes, its sentences, and books read from a copied ledger.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "config/configuration.hpp"
#include "config/keys.hpp"
#include "ctl/environment.hpp"
#include "fake_daemon.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"
#include "program.hpp"
#include "reports/workflows.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/cli_help.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class ShapleyctlBinary : public testing::Test {
 protected:
  Outcome run(const std::string& arguments, const std::string& variables = "") const {
    return run_shapleyctl(directory / "", arguments, variables);
  }

  // The example's events, on disk and closed.
  fs::path example_ledger() const {
    const fs::path file = directory / "ledger.db";
    auto ledger = must(ledger::Ledger::open(file, ledger::OpenMode::create_or_write));
    const auto events = example_events();
    const auto appended = ledger.append(events, k_example_begin + Duration{40});
    EXPECT_TRUE(appended) << appended.error().what;
    EXPECT_EQ(appended->appended, events.size());
    return file;
  }

  fs::path copied(const fs::path& file) const {
    fs::copy_file(file, directory / "copy.db");
    return directory / "copy.db";
  }

  TempDirectory directory;
};

// Options for a daemon that answers, however slow the machine is.
std::string asking(const fs::path& socket) {
  return " --timeout " + std::to_string(test::k_timeout.count()) + " --socket " + socket.string();
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ShapleyctlBinary, HelpVersionAndUsageSucceed) {
  for (const char* arguments : {"--help", "status --help", "jobs --help", "check-config -h", "audit -h", "--usage"}) {
    const Outcome outcome = ends(ExitCode::success, run(arguments));
    EXPECT_TRUE(contains(outcome.out, "shapleyctl")) << arguments << ": " << outcome.out;
    EXPECT_EQ(outcome.err, "") << arguments;
  }
  EXPECT_EQ(run("--version").out, "shapleyctl " SHAPLEY_VERSION "\n");
  EXPECT_PRED2(contains, run("--help").out, "Exit codes:");
  // The usage is made of the options, the hidden one aside.
  const std::string usage = run("--usage").out;
  EXPECT_TRUE(contains(usage, "[--host HOST[:PORT]] [--timeout SECONDS]") && !contains(usage, "--answer")) << usage;
  EXPECT_PRED2(contains, usage, "\n  backup [--ledger FILE] [--force] TARGET\n");
  EXPECT_PRED2(contains, usage, "\n  restore --ledger FILE BACKUP\n");
  EXPECT_PRED2(contains, usage, "\n  health [--max-backup-age AGE]");
  // A command's help has what applies to it, and says once what may be given in two ways.
  const std::string compact = run("compact --help").out;
  EXPECT_TRUE(contains(compact, "Use this as LEDGER") && !contains(compact, "SHAPLEY_SOCKET")) << compact;
  const std::string status = run("status --help").out;
  EXPECT_TRUE(contains(status, "--timeout") && contains(status, "SHAPLEYCTL_STATUS_FORMAT")) << status;
  EXPECT_TRUE(contains(status, "now-1hour") && !contains(status, "SHAPLEYCTL_JOBS_FORMAT")) << status;
  // Defaults that it names are the configuration's.
  EXPECT_TRUE(test::shows_default(run("--help", "SHAPLEY_SOCKET=").out, config::Configuration{}.socket.string()));
  EXPECT_TRUE(test::shows_default(run("check-config --help").out, config::k_default_file));
}

TEST_F(ShapleyctlBinary, ACommandLineItCannotUnderstandIsUsage) {
  for (const char* arguments : {"",
                                "frobnicate",
                                "status --nonsense",
                                "status -i 0",
                                "status --contribution magic",
                                "status -o nonsense",
                                "status --worth -P",
                                "status --worth -l",
                                "status --forecast --worth",
                                "status --forecast --users",
                                "status --forecast -P",
                                "status --forecast -O a",
                                "status --forecast --top 1",
                                "explain --against a",
                                "explain --submit -A x --against a",
                                "explain a",
                                "status --ledger x --at yesterday",
                                "jobs -j seven",
                                "jobs -S soon",
                                "--timeout 0 status"}) {
    const Outcome outcome = ends(ExitCode::usage, run(arguments));
    EXPECT_NE(outcome.err, "") << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST_F(ShapleyctlBinary, AWordThatIsNoCommandIsNamedWithTheNearestOne) {
  const auto first_line = [&](const char* arguments) {
    const std::string text = run(arguments).err;
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line("statsu --json"), "'statsu' is no command; did you mean status?");
  EXPECT_EQ(first_line("--timeout 3 explian 4711"), "'explian' is no command; did you mean explain?");
  EXPECT_EQ(first_line("frobnicate"), "'frobnicate' is no command");
  EXPECT_EQ(first_line("status --jsno"), "'--jsno' is no option of this command; did you mean --json?");
  EXPECT_EQ(first_line("status --tmieout=3"), "'--tmieout' is no option of this command; did you mean --timeout?");
  // What is missing is often what was misspelt.
  EXPECT_EQ(first_line("restore --leger x y"), "'--leger' is no option of this command; did you mean --ledger?");
  EXPECT_EQ(first_line("status --nonsense"), "'--nonsense' is no option of this command; --help lists them");
}

TEST_F(ShapleyctlBinary, ATimeThatEndsBeforeItBeginsIsUsage) {
  for (const char* command : {"statement --ledger x", "history --ledger x", "report -o x --no-charts --ledger x",
                              "audit x --against x", "adjust --account x --to y --reason z"}) {
    const Outcome outcome = ends(ExitCode::usage, run(std::string(command) + " -S 2025-11-02 -E 2025-11-01"));
    EXPECT_TRUE(contains(outcome.err, "--until: 2025-11-01T00:00:00Z is not after --since 2025-11-02T00:00:00Z"))
        << command << ": " << outcome.err;
  }
}

TEST_F(ShapleyctlBinary, AConfigurationThatIsNotThereHasNoFaults) {
  const Outcome absent = ends(ExitCode::unreadable, run("check-config nosuch.yaml"));
  EXPECT_EQ(absent.err, "shapleyctl: check-config: nosuch.yaml: No such file or directory; name a readable file\n");
  EXPECT_EQ(absent.out, "");
  ends(ExitCode::unreadable, run("check-config /"));
}

TEST_F(ShapleyctlBinary, ADaemonThatIsAwayIsOneSentence) {
  const std::string socket = (directory / "no-socket").string();
  for (const char* command : {"status", "status --json", "jobs", "audit", "status --at 2026-11-21"}) {
    const Outcome outcome = ends(ExitCode::unavailable, run(std::string("--socket ") + socket + " " + command));
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_EQ(lines_of(outcome.err), 1U) << outcome.err;
    EXPECT_PRED2(contains, outcome.err, "shapleyctl: cannot reach shapleyd at " + socket);
  }
  EXPECT_PRED2(contains, run("status", "SHAPLEY_SOCKET=" + socket).err, socket);
  // Where a daemon serves this very machine it answers, and nothing is said.
  const std::string standard = "/run/shapley/shapleyd.sock";
  EXPECT_TRUE(contains(run("jobs", "SHAPLEY_SOCKET=").err, standard) || fs::exists(standard));
  EXPECT_PRED2(contains, run("status --socket /other", "SHAPLEY_SOCKET=" + socket).err, "at /other:");
}

TEST_F(ShapleyctlBinary, ARefusingDaemonHasItsOwnCode) {
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) {
    return Reaction{.answer = protocol::Refused{.reason = "not today"}};
  });
  const Outcome outcome = ends(ExitCode::refused, run("status" + asking(directory / "s")));
  EXPECT_EQ(outcome.err, "shapleyctl: shapleyd refuses: not today\n");
}

TEST_F(ShapleyctlBinary, PassesTheQuestionOnAndPrintsTheAnswer) {
  json asked;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            asked = request;
                            if (request["request"] == "workflows") return json_of(ledger::WorkflowsReport{});
                            if (request["request"] == "jobs") return json_of(ledger::JobsReport{});
                            if (request["request"] == "compare") return json_of(ledger::CompareReport{});
                            ledger::StatusReport status;
                            if (request.contains("forecast")) status.forecast.emplace();
                            return json_of(status);
                          }));
  const auto says = [&](const std::string& arguments, const json& expected) {
    const Outcome outcome = run(arguments + asking(directory / "s"));
    ASSERT_EQ(outcome.exit_code, code(ExitCode::success)) << outcome.err;
    EXPECT_EQ(asked, expected) << arguments;
    EXPECT_TRUE(json::parse(outcome.out).is_object()) << outcome.out;
  };
  says("status --json --contribution hindsight", {{"request", "status"}, {"contribution", "hindsight"}});
  says("status --worth --json", {{"request", "status"}, {"worth", true}});
  says("status --forecast --json", {{"request", "status"}, {"forecast", true}});
  says("explain physics --against 4_2 --json", {{"request", "compare"}, {"a", "physics"}, {"b", "4_2"}});
  says("workflows physics --json", {{"request", "workflows"}, {"organization", "physics"}});
  says("jobs --json -A Phys,maths -O a -u 7 -j 3,4", {{"request", "jobs"},
                                                      {"all", true},
                                                      {"organizations", {"a"}},
                                                      {"accounts", {"phys", "maths"}},
                                                      {"user_ids", {7}},
                                                      {"jobs", {3, 4}}});
}

// An answer that has not what this shapleyctl reads is refused, and the member is named.
TEST_F(ShapleyctlBinary, AnAnswerOfAnotherReleaseIsRefusedByTheMembersName) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) {
                            json report = json_of(ledger::StatusReport{});
                            report["organisations"] = std::move(report["organizations"]);
                            report.erase("organizations");
                            return report;
                          }));
  const Outcome outcome = ends(ExitCode::refused, run("status" + asking(directory / "s")));
  EXPECT_EQ(outcome.err,
            "shapleyctl: shapleyd answers otherwise than this shapleyctl reads: organizations is missing\n");
}

TEST_F(ShapleyctlBinary, AStatusWithoutTheForecastThatWasAskedForIsRefused) {
  const FakeDaemon daemon(directory / "s",
                          FakeDaemon::welcoming([&](const json&) { return json_of(ledger::StatusReport{}); }));
  const Outcome outcome = ends(ExitCode::refused, run("status --forecast" + asking(directory / "s")));
  EXPECT_PRED2(contains, outcome.err, "shapleyd answers without the forecast that it was asked for");
}

TEST_F(ShapleyctlBinary, FormatsComeFromTheEnvironmentUnlessGiven) {
  const std::string ledger = example_ledger().string();
  EXPECT_EQ(run("status -P --ledger " + ledger, "SHAPLEYCTL_STATUS_FORMAT=rank,organization").out,
            "rank|organization\n1|B\n2|guests\n3|A\n|commons\n");
  EXPECT_EQ(run("status -nP -o psi --ledger " + ledger, "SHAPLEYCTL_STATUS_FORMAT=rank").out, "310\n0\n710\n0\n");
  ends(ExitCode::success, run("status --helpformat"));
}

TEST_F(ShapleyctlBinary, WorthOfTheExampleFromACopiedLedger) {
  const std::string copy = copied(example_ledger()).string();
  const Outcome now = ends(ExitCode::success, run("status --worth --ledger " + copy));
  EXPECT_EQ(now.out.substr(0, now.out.find('\n')),
            "2026-11-18T11:07:20Z  what cooperation is worth, since 2026-11-18T11:06:40Z; core-hours, on average over "
            "that time");
  EXPECT_PRED2(contains, now.out, "A has got 16 % more than it would have got alone: ");
  EXPECT_PRED2(contains, now.out, "B has got 48 % more than it would have got alone: ");
  EXPECT_PRED2(contains, now.out, "\nNo coalition would have got more by leaving.\n");
  EXPECT_PRED2(contains, now.out, "\nLimits:  ");
  // While A's first job runs it has got twice of what it would have got alone.
  const json then = json::parse(run("status --worth --json --at 2026-11-18T11:06:50 --ledger " + copy).out)["worth"];
  EXPECT_EQ(then["organizations"][0]["psi"], "110");
  EXPECT_EQ(then["organizations"][0]["alone"], "55");
  EXPECT_EQ(then["organizations"][0]["gain_percent"], 100);
  EXPECT_EQ(json::parse(run("status --json --ledger " + copy).out).count("worth"), 0U);
  const Outcome one = run("status --worth -O B --ledger " + copy);
  EXPECT_PRED2(lacks, one.out, "A has got");
  EXPECT_PRED2(contains, one.out, "B has got 48 %");
  ends(ExitCode::usage, run("status --worth -O nosuch --ledger " + copy));
}

TEST_F(ShapleyctlBinary, StatusOfTheExampleAtEveryInstantOfACopiedLedger) {
  const std::string copy = copied(example_ledger()).string();
  const auto books_at = [&](const std::string& at) {
    const Outcome outcome =
        ends(ExitCode::success, run("status -nP -o organization,psi,phi --ledger " + copy + " --at " + at));
    return outcome.out;
  };
  // k_example_begin is 2026-11-18T11:06:40Z.
  EXPECT_EQ(books_at("2026-11-18T11:06:50"), "B|0|55\nguests|0|0\nA|110|55\ncommons|0|0\n");
  EXPECT_EQ(books_at("2026-11-18T11:07:00Z"), "B|0|155\nguests|0|0\nA|310|155\ncommons|0|0\n");
  EXPECT_EQ(books_at("2026-11-18T11:07:10Z"), "B|110|310\nguests|0|0\nA|510|310\ncommons|0|0\n");
  EXPECT_EQ(books_at("2026-11-18T11:07:20Z"), "B|310|510\nguests|0|0\nA|710|510\ncommons|0|0\n");
  // Without --at: when the ledger last recorded something.
  EXPECT_EQ(run("status -nP -o organization,psi,phi --ledger " + copy).out, books_at("2026-11-18T11:07:20Z"));
  EXPECT_EQ(run("status -nP -o phi --contribution hindsight --at 2026-11-18T11:06:50 --ledger " + copy).out,
            "27.5\n0\n82.5\n0\n");
}

TEST_F(ShapleyctlBinary, ARetractedRunCountsAtNoInstant) {
  const fs::path file = example_ledger();
  {
    auto ledger = must(ledger::Ledger::open(file, ledger::OpenMode::create_or_write));
    const accounting::SegmentKey run{.kind = accounting::SegmentKind::run, .job = JobId{1}, .anchor = k_example_begin};
    const std::vector<accounting::Event> events{accounting::SegmentRetracted{run, k_example_begin + Duration{45}}};
    ASSERT_TRUE(ledger.append(events, k_example_begin + Duration{45}));
  }
  EXPECT_EQ(run("status -nP -o organization,psi,phi --at 2026-11-18T11:06:50 --ledger " + file.string()).out,
            "A|0|0\nB|0|0\nguests|0|0\ncommons|0|0\n");
}

TEST_F(ShapleyctlBinary, JobsOfACopiedLedger) {
  const std::string copy = copied(example_ledger()).string();
  const std::string format = " -nP -o job,organization,account,user,state,processors,processor_seconds,segments,name";
  EXPECT_EQ(run("jobs --ledger " + copy + format).out, "3|guests|acct|uid 4000000003|pending|1.5|0|1|it's job 3\n");
  EXPECT_EQ(run("jobs -a --ledger " + copy + format).out,
            "1|A|acct|uid 4000000001|ended|2|20|1|it's job 1\n"
            "2|B|acct|uid 4000000002|ended|2|20|1|it's job 2\n"
            "3|guests|acct|uid 4000000003|pending|1.5|0|1|it's job 3\n");
  EXPECT_EQ(run("jobs -j 2 --ledger " + copy + " -nP -o job,slurm_state,begin,end,elapsed,nodes").out,
            "2|FAILED|2026-11-18T11:07:00Z|2026-11-18T11:07:10Z|10|n1:1,n2:1\n");
  EXPECT_EQ(run("jobs -S 2026-11-18T11:07:00 --ledger " + copy + " -nP -o job").out, "2\n3\n");
  EXPECT_EQ(run("jobs -S 2026-11-20 --ledger " + copy + " -nP -o job").out, "3\n");
  EXPECT_EQ(run("jobs -a -u 4000000001 --ledger " + copy + " -nP -o job").out, "1\n");
  EXPECT_EQ(run("jobs -a -O B,A --ledger " + copy + " -nP -o job").out, "1\n2\n");
  EXPECT_EQ(run("jobs -a -A \"a' OR '1'='1\" --ledger " + copy + " -nP -o job").out, "");
  EXPECT_PRED2(contains, ends(ExitCode::usage, run("jobs -a -A other --ledger " + copy)).err,
               "the ledger has no job of account 'other'");
}

// Guests' job waits since second 35; no job of theirs ever started. No job waits before.
TEST_F(ShapleyctlBinary, AnUnknownOrganizationIsAnErrorThatNamesTheKnownOnes) {
  const fs::path ledger = example_ledger();
  const Outcome jobs = ends(ExitCode::usage, run("jobs -O A,nosuch --ledger " + ledger.string()));
  EXPECT_EQ(jobs.out, "");
  EXPECT_EQ(jobs.err, "shapleyctl: the books know no organization 'nosuch'; they know A, B, guests, commons\n");
}

TEST_F(ShapleyctlBinary, TheFutureIsRefused) {
  const fs::path ledger = example_ledger();
  for (const char* asked : {"status --at 2999-01-01", "jobs -S 2999-01-01"}) {
    const Outcome outcome = ends(ExitCode::usage, run(std::string(asked) + " --ledger " + ledger.string()));
    EXPECT_EQ(outcome.out, "") << asked;
    EXPECT_PRED2(contains, outcome.err,
                 ": 2999-01-01T00:00:00Z lies in the future, of which the books know nothing; it is ");
  }
}

// The daemon is not asked, which could not heed them.
TEST_F(ShapleyctlBinary, OptionsAboutALedgersFileNeedOne) {
  for (const char* asked : {"status --archives x", "explain 1 --archives x", "explain A --against B --archives x",
                            "status --forecast --archives x", "statement --archives x",
                            "history --known-until 2026-11-18", "report --no-charts -o page --archives x"}) {
    const Outcome outcome = ends(ExitCode::usage, run(asked));
    EXPECT_EQ(outcome.out, "") << asked;
    EXPECT_PRED2(contains, outcome.err, "name the file with --ledger FILE\n") << asked;
  }
}

TEST_F(ShapleyctlBinary, UnknownJobsAreReported) {
  const fs::path ledger = example_ledger();
  const Outcome outcome = ends(ExitCode::success, run("jobs -j 999_3 --ledger " + ledger.string()));
  EXPECT_EQ(outcome.err,
            "shapleyctl: the books have no such job; tasks that wait are one job with their array's number\n");
}

TEST_F(ShapleyctlBinary, WhoHasHadNoStartIsReadFromALedgerToo) {
  const std::string copy = copied(example_ledger()).string();
  const std::string line =
      "Waits:   guests has startable jobs and has had no start since 2026-11-18T11:07:15Z (1 min)\n";
  EXPECT_PRED2(contains, run("status --ledger " + copy + " --at 2026-11-18T11:08:15").out, line);
  EXPECT_PRED2(lacks, run("status --ledger " + copy + " --at 2026-11-18T11:08:14").out, "Waits:");
  EXPECT_PRED2(lacks, run("jobs --ledger " + copy).out, "Waits:");
  EXPECT_PRED2(lacks, run("jobs -O A --ledger " + copy).out, "Waits:");
  EXPECT_EQ(json::parse(run("jobs --json --ledger " + copy).out)["no_start"],
            json::array({{{"organization", "guests"}, {"since", k_example_begin.value + 35}}}));
}

TEST_F(ShapleyctlBinary, AFileThatIsNoLedgerIsUnreadable) {
  std::ofstream(directory / "noise") << "this is no ledger\n";
  for (const char* command : {"status --ledger ", "jobs --ledger ", "audit "}) {
    for (const char* file : {"noise", "missing"}) {
      const Outcome outcome = ends(ExitCode::unreadable, run(command + (directory / file).string()));
      EXPECT_EQ(lines_of(outcome.err), 1U) << outcome.err;
      EXPECT_PRED2(contains, outcome.err, file);
    }
  }
  EXPECT_FALSE(fs::exists(directory / "missing")) << "reading must not create a ledger";
}

TEST_F(ShapleyctlBinary, AnAuditOfSoundBooksSucceeds) {
  const fs::path copy = copied(example_ledger());
  const Outcome outcome = ends(ExitCode::success, run("audit " + copy.string()));
  EXPECT_PRED2(contains, outcome.out, "14 events, 3 segments");
  EXPECT_PRED2(contains, outcome.out, "correct to the last unit");
  const json report = json::parse(run("audit --json " + copy.string()).out);
  EXPECT_TRUE(report["clean"].get<bool>());
  EXPECT_EQ(report["examinations"][0]["events"], 14);
}

// One letter of one name, changed behind SQLite's back.
TEST_F(ShapleyctlBinary, AnAuditFindsATamperedLedger) {
  const fs::path copy = copied(example_ledger());
  std::string bytes = content_of(copy);
  const std::string name = "it's job 2";
  const std::size_t at = bytes.find(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at + name.size() - 1] = 'T';
  std::ofstream(copy, std::ios::binary | std::ios::trunc) << bytes;
  const Outcome outcome = ends(ExitCode::findings, run("audit " + copy.string()));
  EXPECT_PRED2(contains, outcome.out, "FINDING chain");
  EXPECT_PRED2(contains, outcome.out, "NOT correct");
  EXPECT_FALSE(json::parse(run("audit --json " + copy.string()).out)["clean"].get<bool>());
}

TEST_F(ShapleyctlBinary, AnAuditComparesWithSlurmsRecords) {
  const std::string copy = copied(example_ledger()).string();
  const auto record = [](const char* job, const char* end) {
    return std::string("JobId=") + job + " UserId=u(1) GroupId=g(1) Name=x JobState=COMPLETED Partition=main " +
           "TimeLimit=UNLIMITED StartTime=" + (job[0] == '1' ? "2026-11-18T11:06:40" : "2026-11-18T11:07:00") +
           " EndTime=" + end +
           " NodeList=n[1-2] NodeCnt=2 ProcCnt=2 WorkDir=/ ReservationName= Tres=cpu=2 Account=acct " +
           "QOS=normal WcKey= Cluster=unknown SubmitTime=2026-11-18T11:06:40 EligibleTime=2026-11-18T11:06:40 " +
           "DerivedExitCode=0:0 ExitCode=0:0 \n";
  };
  std::ofstream(directory / "right") << record("1", "2026-11-18T11:06:50") << record("2", "2026-11-18T11:07:10");
  std::ofstream(directory / "wrong") << record("1", "2026-11-18T11:06:50") << record("2", "2026-11-18T11:07:11");
  const Outcome right =
      ends(ExitCode::success, run("audit " + copy + " --against " + (directory / "right").string(), "TZ=UTC"));
  EXPECT_PRED2(contains, right.out, "2 records read, 2 runs compared");
  const Outcome wrong =
      ends(ExitCode::findings, run("audit " + copy + " --against " + (directory / "wrong").string(), "TZ=UTC"));
  ends(ExitCode::unreadable, run("audit " + copy + " --against " + (directory / "absent").string()));
}

// Nothing compared is not correct, and the notes say what became of the records.
TEST_F(ShapleyctlBinary, AnAuditThatComparesNoRunIsNotCorrect) {
  const std::string copy = copied(example_ledger()).string();
  const std::string header = "JobIDRaw|Start|End|State|AllocCPUS\n";
  const std::string run_of_1 = "1|2026-11-18T11:06:40|2026-11-18T11:06:50|COMPLETED|2\n";
  struct Case {
    std::string rows;
    std::string interval;
    std::string note;
  };
  const Case cases[] = {
      {"", "", "the records have no row of a job"},
      {"1.batch|2026-11-18T11:06:40|2026-11-18T11:06:50|COMPLETED|2\n", "", "1 row of job steps left out"},
      {"9|Unknown|Unknown|PENDING|0\n", "", "1 row of jobs that had not started left out"},
      {"9|2025-11-18T11:06:40|2025-11-18T11:06:50|COMPLETED|2\n", "",
       "1 recorded run ended before the ledger began: left out"},
      {run_of_1, " --since 2026-11-18T12:00:00 --until 2026-11-18T13:00:00",
       "1 run that both sides or the records alone have lies outside of the interval: not compared"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rows + c.interval);
    std::ofstream(directory / "records") << header << c.rows;
    const std::string arguments = "audit " + copy + " --against " + (directory / "records").string() + c.interval;
    const Outcome outcome = ends(ExitCode::nothing_compared, run(arguments, "TZ=UTC"));
    const std::string of_records = outcome.out.substr(outcome.out.find("records\n"));
    EXPECT_PRED2(contains, of_records, "  NOTHING COMPARED: ") << outcome.out;
    EXPECT_PRED2(lacks, of_records, "correct to the last unit") << outcome.out;
    EXPECT_PRED2(contains, of_records, "  note: " + c.note) << outcome.out;
    const json report = json::parse(run(arguments + " --json", "TZ=UTC").out);
    EXPECT_FALSE(report["clean"].get<bool>());
    EXPECT_TRUE(report["examinations"][0]["clean"].get<bool>());
    EXPECT_FALSE(report["examinations"][1]["clean"].get<bool>());
  }
  std::ofstream(directory / "records") << header << run_of_1;
  ends(ExitCode::success, run("audit " + copy + " --against " + (directory / "records").string(), "TZ=UTC"));
}

TEST_F(ShapleyctlBinary, CheckConfigListsEveryFault) {
  std::ofstream(directory / "good.yaml") << "slurm_user: root\n"
                                            "organizations:\n"
                                            "  - name: physics\n"
                                            "    accounts: [phys]\n"
                                            "    nodes: [\"n[1-4]\"]\n";
  const Outcome good = ends(ExitCode::success, run("check-config " + (directory / "good.yaml").string()));
  EXPECT_PRED2(contains, good.out, "no fault: 1 organization, 1 rule, 4 nodes with owners");

  std::ofstream(directory / "bad.yaml") << "colour: green\norder: sideways\n";
  const Outcome bad = ends(ExitCode::findings, run("check-config " + (directory / "bad.yaml").string()));
  EXPECT_PRED2(contains, bad.out, "bad.yaml:1: ");
  EXPECT_PRED2(contains, bad.out, "bad.yaml:2: ");
  ends(ExitCode::unreadable, run("check-config " + (directory / "absent.yaml").string()));

  // What shapleyd refuses, this refuses, too.
  std::ofstream(directory / "unknown.yaml") << "slurm_user: root\n"
                                               "signing_key: /no/such/key\n"
                                               "organizations:\n"
                                               "  - name: physics\n"
                                               "    users: [no-such-user]\n"
                                               "    groups: [no-such-group]\n";
  const Outcome unknown = ends(ExitCode::findings, run("check-config " + (directory / "unknown.yaml").string()));
  for (const char* part :
       {"user 'no-such-user' is unknown", "group 'no-such-group' is unknown", "signing_key: ", "3 faults"})
    EXPECT_PRED2(contains, unknown.out, part);
}

// Against what a ledger says is in force, and against a Slurm whose commands are scripts.
TEST_F(ShapleyctlBinary, CheckConfigSaysWhatChangesAndWhatSlurmDoesNotKnow) {
  const std::string ledger = (directory / "of-a-site.db").string();
  // Of a release that had another key.
  const std::string before =
      "slurm_user: root\nhorizon: 7d\norganizations: [{name: physics, partitions: [batch], nodes: [n1]}]\n";
  {
    auto opened = must(ledger::Ledger::open(ledger, ledger::OpenMode::create_or_write));
    ASSERT_TRUE(opened
                    .append(std::array{accounting::Event(accounting::ConfigurationLoaded{{1'795'000'000}, before})},
                            {1'795'000'000})
                    .has_value());
  }
  const std::string after = (directory / "after.yaml").string();
  std::ofstream(after) << "slurm_user: root\nmode: observe\n"
                       << "organizations: [{name: physics, partitions: [bach], nodes: [\"n[1-2]\"]}]\n";
  const Outcome diff = ends(ExitCode::success, run("check-config --diff --ledger " + ledger + " " + after));
  EXPECT_PRED2(contains, diff.out,
               "changes what is in force (" + ledger +
                   "):\n"
                   "  key horizon: ranks do not look a fixed time ahead any more\n"
                   "  key mode: priorities -> observe\n"
                   "  partition bach: new, -> physics\n"
                   "  partition batch: no longer named, was of physics\n"
                   "  nodes n2: commons -> physics\n");
  // Without --diff the ledger is asked for former names alone.
  ends(ExitCode::success, run("check-config --ledger " + ledger + " " + after));

  const auto script = [&](const char* name, const std::string& text) {
    std::ofstream(directory / name) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(directory / name, std::filesystem::perms::owner_all);
  };
  const std::string path = "PATH=" + (directory / "").string() + ":/usr/bin:/bin";
  script("scontrol",
         "case \"$*\" in\n"
         "  *config) echo 'ClusterName = consort'; echo 'SlurmUser = root(0)' ;;\n"
         "  *partition) echo 'PartitionName=batch AllowAccounts=ALL' ;;\n"
         "  *nodes) echo 'NodeName=n1 CPUTot=8 Partitions=batch' ;;\n"
         "esac\n");
  const Outcome compared = ends(ExitCode::findings, run("check-config --against-slurm " + after, path));
  for (const char* part : {"partition 'bach' is unknown to Slurm", "node n2 is unknown to Slurm",
                           "note: Slurm runs without slurmdbd", "2 lines with names that Slurm does not know"})
    EXPECT_PRED2(contains, compared.out, part);
  // The first configuration is one, and is put into no file that is there.
  const std::string first = (directory / "first.yaml").string();
  ends(ExitCode::success, run("init -o " + first, path));
  ends(ExitCode::success, run("check-config --against-slurm " + first, path));
  ends(ExitCode::unreadable, run("init -o " + first, path));
  script("scontrol", "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2; exit 1\n");
  const Outcome away = ends(ExitCode::unavailable, run("init", path));
  EXPECT_PRED2(contains, away.err, "scontrol show config: exit code 1: slurm_load_ctl_conf error");
}

// A script's variable that is not set: neither the daemon's own ledger nor an audit without a comparison is meant.
TEST_F(ShapleyctlBinary, AnEmptyNameOfAFileIsRefused) {
  for (const char* arguments :
       {"status --ledger ''", "statement --ledger ''", "statement --consortium '' a.db", "report -o '' --ledger a.db",
        "audit ''", "audit a.db --against ''", "audit a.db --against-head a --public-key ''", "archive ''",
        "compact --ledger ''", "backup ''", "import --sacct a --config b --ledger '' --nodes c"}) {
    const Outcome outcome = ends(ExitCode::usage, run(arguments));
    EXPECT_PRED2(contains, outcome.err, ": the name is empty") << arguments;
  }
}

// As root these commands would replace /dev/null, which all programs of the host need.
TEST_F(ShapleyctlBinary, ADeviceOrAPipeIsNotReplaced) {
  const std::string ledger = example_ledger().string();
  const fs::path pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string key = (directory / "key").string();
  ends(ExitCode::success, run("keygen " + key));
  for (const std::string& arguments :
       {"backup --force --ledger " + ledger + ' ' + pipe.string(), "restore " + ledger + " --ledger " + pipe.string(),
        "audit " + ledger + " --head --sign-with " + key + " -o " + pipe.string()}) {
    const Outcome outcome = ends(ExitCode::unreadable, run(arguments));
    EXPECT_PRED2(contains, outcome.err, "no regular file") << arguments;
    EXPECT_TRUE(fs::is_fifo(pipe)) << arguments;
  }
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory / "")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pipe")) left.push_back(name);
  }
  EXPECT_EQ(left, std::vector<std::string>{"pipe"});
}

TEST_F(ShapleyctlBinary, NoLedgerIsMadeOfAnEmptyFile) {
  const fs::path file = directory / "lost.db";
  std::ofstream(file) << "";
  for (const char* command : {"archive ", "compact "}) {
    const Outcome outcome = ends(ExitCode::unreadable, run(command + file.string()));
    EXPECT_PRED2(contains, outcome.err, "an empty file, not a ledger");
    EXPECT_EQ(fs::file_size(file), 0U);
  }
}

TEST_F(ShapleyctlBinary, CheckConfigDoubtsAnOrganizationWithoutRulesAndNodes) {
  const fs::path file = directory / "doubtful.yaml";
  std::ofstream(file) << "organizations:\n  - {name: a, accounts: [x]}\n  - {name: b}\n";
  const Outcome outcome = ends(ExitCode::success, run("check-config " + file.string()));
  EXPECT_PRED2(contains, outcome.out, ":3: warning: organization 'b' has neither rules nor nodes; ");
}

}  // namespace
}  // namespace shapley::ctl
