// Whatever is in a ledger, a daemon's answer, a file or an argument: the real shapleyctl prints no byte that a terminal
// obeys, no mark that turns text round, and no line that is not its own.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_daemon.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "program.hpp"
#include "reports/workflows.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/naive_printable.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::must;
using nlohmann::json;

// A sequence that wipes the screen, C1 as a character, a mark of direction, a forged line.
const std::string k_hostile = "x\033[2J\u009b2J\u202eab\ncorrect to the last unit\r";
const std::string k_escaped = "x\\x1b[2J\\u009b2J\\u202eab\\x0acorrect to the last unit\\x0d";

class Terminal : public testing::Test {
 protected:
  // Runs it, and requires of everything that it prints what this file is about.
  Outcome run(const std::string& arguments, const std::string& variables = "") const {
    const Outcome outcome = run_shapleyctl(directory / "", arguments, variables);
    EXPECT_TRUE(test::is_printable(outcome.out)) << arguments << ": " << test::naive_printable(outcome.out, true);
    EXPECT_TRUE(test::is_printable(outcome.err)) << arguments << ": " << test::naive_printable(outcome.err, true);
    for (const std::string& text : {outcome.out, outcome.err}) {
      EXPECT_FALSE(text.starts_with("correct") || contains(text, "\ncorrect")) << arguments << ": " << text;
    }
    return outcome;
  }

  // The example's events with every name that people or programs choose replaced.
  fs::path hostile_ledger() const {
    std::vector<accounting::Event> events = example_events();
    const std::string bytes = k_hostile + "\xff\x9b";
    for (accounting::Event& event : events) {
      if (auto* declared = std::get_if<accounting::OrganizationsDeclared>(&event)) declared->names[0] = k_hostile;
      if (auto* stated = std::get_if<accounting::OwnershipStated>(&event); stated != nullptr && stated->node == "n1")
        stated->spans[0].owners[0].organization = k_hostile;
      if (auto* opened = std::get_if<accounting::SegmentOpened>(&event);
          opened != nullptr && opened->key.job.value == 1)
        opened->organization = k_hostile;
      if (auto* ended = std::get_if<accounting::SegmentClosed>(&event)) ended->job_state = bytes;
      if (auto* described = std::get_if<accounting::JobDescribed>(&event)) {
        if (described->job.value == 1) described->organization = k_hostile;
        for (std::string* text :
             {&described->account, &described->partition, &described->qos, &described->name, &described->wckey})
          *text = bytes;
      }
    }
    const fs::path file = directory / "ledger.db";
    auto ledger = ledger::testing::writer(file);
    must(ledger.append(events, k_example_begin + Duration{60}));
    return file;
  }

  TempDirectory directory;
};

TEST_F(Terminal, NamesInALedger) {
  const std::string ledger = hostile_ledger().string();
  EXPECT_PRED2(contains, run("status --ledger " + ledger).out, k_escaped);
  EXPECT_PRED2(contains, run("status -l --ledger " + ledger).out, k_escaped);
  EXPECT_PRED2(contains, run("status -nP -o organization --ledger " + ledger).out, k_escaped + "\n");
  EXPECT_PRED2(contains, run("jobs -a --ledger " + ledger + " -o name%200,account%200,slurm_state%200").out,
               k_escaped + "\\xff\\x9b");
  EXPECT_PRED2(contains, run("jobs -nPa --ledger " + ledger + " -o name,organization").out,
               k_escaped + "\\xff\\x9b|" + k_escaped + "\n");
  ends(ExitCode::success, run("audit " + ledger));
}

TEST_F(Terminal, JsonOfALedgerKeepsTheNames) {
  const std::string ledger = hostile_ledger().string();
  const json status = json::parse(run("status --json --ledger " + ledger).out);
  bool found = false;
  for (const json& row : status["organizations"]) found = found || row["name"] == k_hostile;
  EXPECT_TRUE(found) << status.dump(2);
  const json jobs = json::parse(run("jobs -a --json --ledger " + ledger).out);
  EXPECT_EQ(jobs["jobs"][0]["name"], k_hostile + "\ufffd\ufffd");
}

// A user with sqlite3 makes a table, or writes what no program would.
TEST_F(Terminal, WhatAnAuditFinds) {
  const fs::path ledger = hostile_ledger();
  ledger::testing::tamper(ledger, "UPDATE ownership SET organization = organization || '" + k_hostile +
                                      "', node = X'9b324a' || node;UPDATE organizations SET name = name || '" +
                                      k_hostile + "'");
  const Outcome rows = ends(ExitCode::findings, run("audit " + ledger.string()));
  EXPECT_PRED2(contains, rows.out, k_escaped);
  EXPECT_FALSE(json::parse(run("audit --json " + ledger.string()).out)["clean"].get<bool>());

  ledger::testing::tamper(ledger,
                          "DROP TRIGGER words_are_not_updated; UPDATE words SET text = text || '" + k_hostile + "'");
  const Outcome words = ends(ExitCode::findings, run("audit " + ledger.string()));
  EXPECT_PRED2(contains, words.out, k_escaped);

  ledger::testing::tamper(ledger, "CREATE TABLE \"" + k_hostile + "\" (a)");
  const Outcome table = ends(ExitCode::unreadable, run("audit " + ledger.string()));
  EXPECT_PRED2(contains, table.err, "table " + k_escaped + " was added by hand");
}

TEST_F(Terminal, RecordsOfSlurm) {
  const fs::path records = directory / "records";
  std::ofstream(records) << "JobIDRaw|Start|End|State|AllocCPUS\n"
                         << "1|2026-11-18T11:06:40|2026-11-18T11:06:50|COMPLETED\033[2J|2\n"
                         << "\u202e2|\x9b|"
                         << "\033]0;title\a|FAILED|2\n";
  const Outcome outcome = run("audit " + hostile_ledger().string() + " --against " + records.string(), "TZ=UTC");
  EXPECT_NE(outcome.exit_code, code(ExitCode::success)) << outcome.out;
}

// Every string in every answer.
TEST_F(Terminal, WhatADaemonAnswers) {
  const json status = json_of(partial<ledger::StatusReport>(
      {{"at", 100},
       {"contribution", k_hostile},
       {"ranked_by", k_hostile},
       {"ranking", {{"sentences", {k_hostile}}}},
       {"organizations", json::array({{{"name", k_hostile},
                                       {"title", k_hostile},
                                       {"rank", 1},
                                       {"sentence", k_hostile},
                                       {"no_start_since", 1}}})},
       {"daemon", {{"ledger", k_hostile}, {"version", k_hostile}, {"order", k_hostile}, {"pid", 1}}},
       {"plugin", {{"connected", true}, {"program", k_hostile}, {"cluster", k_hostile}}}}));
  const json jobs = json_of(partial<ledger::JobsReport>(
      {{"at", 100},
       {"jobs",
        json::array({{{"job", 1},
                      {"name", k_hostile},
                      {"organization", k_hostile},
                      {"segments", json::array({{{"kind", "run"},
                                                 {"nodes", json::array({{{"node", k_hostile}, {"processors", 1}}})}}})},
                      {"processors", 1}}})},
       {"no_start", json::array({{{"organization", k_hostile}, {"since", 1}}})}}));
  const json workflows = json_of(partial<ledger::WorkflowsReport>(
      {{"at", 100},
       {"organizations",
        json::array({{{"organization", k_hostile},
                      {"eta", 0.5},
                      {"at", 1},
                      {"threshold", 0.2},
                      {"before", nullptr},
                      {"highest", nullptr},
                      {"workflows", json::array({{{"workflow", k_hostile}, {"levels", {3, 15}}}})}}})}}));
  const std::map<std::string, json> answers{{"status", status}, {"jobs", jobs}, {"workflows", workflows}};
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            return answers.at(request["request"].get<std::string>());
                          }));
  const std::string socket =
      " --timeout " + std::to_string(test::k_timeout.count()) + " --socket " + (directory / "s").string();
  for (const char* command :
       {"status", "status -l", "status -P", "jobs -o name,organization,nodes%300", "jobs", "jobs -P", "workflows -l"}) {
    const Outcome outcome = ends(ExitCode::success, run(command + socket));
    EXPECT_TRUE(contains(outcome.out, "\\x1b[2J") || contains(outcome.out, "x\\x1b+"))
        << command << ": " << outcome.out;
  }
  for (const std::string command : {"status", "jobs", "workflows"})
    EXPECT_EQ(json::parse(run(command + " --json" + socket).out), answers.at(command)) << command;
  EXPECT_TRUE(contains(run("audit" + socket).err, k_escaped)) << "a ledger of that name is not there";
}

TEST_F(Terminal, WhyADaemonRefuses) {
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) {
    return Reaction{.answer = protocol::Refused{.reason = k_hostile + "\xff"}};
  });
  const Outcome outcome =
      run("status --timeout " + std::to_string(test::k_timeout.count()) + " --socket " + (directory / "s").string());
  EXPECT_EQ(outcome.err, "shapleyctl: shapleyd refuses: " + k_escaped + "\\xff\n");
}

TEST_F(Terminal, ArgumentsAndVariables) {
  const std::string sequence = "'x\033[7m\u009b\u202e\xff\ncorrect'";
  const std::string escaped = "x\\x1b[7m\\u009b\\u202e\\xff\\x0acorrect";
  for (const std::string& arguments :
       {sequence, "--" + sequence, "status --contribution " + sequence, "status -o " + sequence, "jobs -S " + sequence,
        "jobs -j " + sequence, "--socket " + sequence + " status", "audit " + sequence, "check-config " + sequence,
        "backup --ledger " + sequence + " " + sequence, "compact " + sequence, "status -i " + sequence}) {
    const Outcome outcome = run(arguments);
    EXPECT_NE(outcome.exit_code, code(ExitCode::success)) << arguments;
    EXPECT_PRED2(contains, outcome.out + outcome.err, escaped) << outcome.out << outcome.err;
  }
  EXPECT_PRED2(contains, run("--help", "SHAPLEY_SOCKET=" + sequence).out, escaped);
  EXPECT_PRED2(contains, run("status", "SHAPLEY_SOCKET=" + sequence).err, escaped);
}

TEST_F(Terminal, FaultsOfAConfiguration) {
  std::ofstream(directory / "bad.yaml") << "\"colour\\e[2J\\u202e\\ncorrect\": green\n"
                                        << "organizations:\n  - name: \"\\e[2J\"\n    accounts: [\"\\x9b\"]\n"
                                        << "    nodes: [\"n[1-\\e\"]\n";
  const Outcome outcome = ends(ExitCode::findings, run("check-config " + (directory / "bad.yaml").string()));
  EXPECT_PRED2(contains, outcome.out, "colour\\x1b[2J\\u202e\\x0acorrect");
  std::ofstream(directory / "bytes.yaml") << "colour\x9b: \033[2J\xff\n";
  ends(ExitCode::findings, run("check-config " + (directory / "bytes.yaml").string()));
}

// Each on its line, and what a fault quotes within it, whichever command read the file.
TEST_F(Terminal, SeveralFaultsOfAFileAreSeveralLines) {
  const std::string file = (directory / "bad.yaml").string();
  std::ofstream(file) << "\"colour\\ncorrect\": green\nsize: 1\n";
  const std::string first = file + ":1: unknown key 'colour\\x0acorrect';";
  const std::string second = "\n" + file + ":2: unknown key 'size';";
  const Outcome imported =
      ends(ExitCode::usage, run("import --sacct /dev/null --config " + file + " --ledger " + file + ".db"));
  EXPECT_PRED2(contains, imported.err, "shapleyctl: import: " + file + ": organizations: missing;");
  EXPECT_PRED2(contains, imported.err, "\n" + first);
  EXPECT_PRED2(contains, imported.err, second);
  const Outcome asked = ends(ExitCode::usage, run("status", "SHAPLEY_SOCKET= SHAPLEYCTL_CONFIG=" + file));
  EXPECT_PRED2(contains, asked.err, "shapleyctl: " + first);
  EXPECT_PRED2(contains, asked.err, second);
}

// So is what another program says.
TEST_F(Terminal, SeveralLinesOfAProgramAreSeveralLines) {
  const fs::path program = directory / "scontrol";
  std::ofstream(program) << "#!/bin/sh\nprintf 'no\\rway\\nnot at all\\n' >&2\nexit 1\n";
  fs::permissions(program, fs::perms::owner_all);
  const Outcome outcome =
      ends(ExitCode::unavailable, run("init", "PATH=" + (directory / "").string() + ":/usr/bin:/bin"));
  EXPECT_EQ(outcome.err, "shapleyctl: scontrol show config: exit code 1: no\\x0dway\nnot at all\n");
}

}  // namespace
}  // namespace shapley::ctl
