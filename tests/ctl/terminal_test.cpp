// Whatever is in a ledger, a daemon's answer, a file or an argument: the real shapleyctl prints no byte that a terminal
// obeys, no mark that turns text round, and no line that is not its own.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_daemon.hpp"
#include "program.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/naive_printable.hpp"
#include "text.hpp"

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
    // One that advise can place: on a processor that its organization owns.
    auto run = ledger::testing::opened(4, k_example_begin.value + 40, k_hostile, 1);
    events.emplace_back(accounting::JobDescribed{.job = run.key.job,
                                                 .submit = run.begin,
                                                 .organization = k_hostile,
                                                 .array_task = std::nullopt,
                                                 .user_id = 1,
                                                 .account = bytes,
                                                 .partition = bytes,
                                                 .qos = bytes,
                                                 .name = bytes,
                                                 .wckey = bytes});
    events.emplace_back(run);
    events.emplace_back(ledger::testing::closed(run, k_example_begin.value + 50));
    const fs::path file = directory / "ledger.db";
    auto ledger = ledger::testing::writer(file);
    must(ledger.append(events, k_example_begin + Duration{60}));
    return file;
  }

  TemporaryDirectory directory;
};

TEST_F(Terminal, NamesInALedger) {
  const std::string ledger = hostile_ledger().string();
  EXPECT_TRUE(contains(run("status --ledger " + ledger).out, k_escaped));
  EXPECT_TRUE(contains(run("status -l --ledger " + ledger).out, k_escaped));
  EXPECT_TRUE(contains(run("status -nP -o organization --ledger " + ledger).out, k_escaped + "\n"));
  EXPECT_TRUE(contains(run("jobs -a --ledger " + ledger + " -o name%200,account%200,slurm_state%200").out,
                       k_escaped + "\\xff\\x9b"));
  EXPECT_TRUE(contains(run("jobs -nPa --ledger " + ledger + " -o name,organization").out,
                       k_escaped + "\\xff\\x9b|" + k_escaped + "\n"));
  EXPECT_TRUE(contains(run("advise --ledger " + ledger).out, "\n" + k_escaped + " did "));
  EXPECT_EQ(run("audit " + ledger).exit_code, code(ExitCode::success));
}

TEST_F(Terminal, JsonOfALedgerKeepsTheNames) {
  const std::string ledger = hostile_ledger().string();
  const json status = json::parse(run("status --json --ledger " + ledger).out);
  bool found = false;
  for (const json& row : status["organizations"]) found = found || row["name"] == k_hostile;
  EXPECT_TRUE(found) << status.dump(2);
  const json jobs = json::parse(run("jobs -a --json --ledger " + ledger).out);
  EXPECT_EQ(jobs["jobs"][0]["name"], k_hostile + "\ufffd\ufffd");
  EXPECT_EQ(run("advise --json --ledger " + ledger).exit_code, code(ExitCode::success));
}

// Somebody with sqlite3 names a table, or writes what no program would.
TEST_F(Terminal, WhatAnAuditFinds) {
  const fs::path ledger = hostile_ledger();
  ledger::testing::tamper(ledger, "UPDATE ownership SET organization = organization || '" + k_hostile +
                                      "', node = X'9b324a' || node;"
                                      "UPDATE organizations SET name = name || '" +
                                      k_hostile + "'");
  const Outcome rows = run("audit " + ledger.string());
  EXPECT_EQ(rows.exit_code, code(ExitCode::findings));
  EXPECT_TRUE(contains(rows.out, k_escaped)) << rows.out;
  EXPECT_FALSE(json::parse(run("audit --json " + ledger.string()).out)["clean"].get<bool>());

  ledger::testing::tamper(ledger,
                          "DROP TRIGGER words_are_not_updated; UPDATE words SET text = text || '" + k_hostile + "'");
  const Outcome words = run("audit " + ledger.string());
  EXPECT_EQ(words.exit_code, code(ExitCode::findings));
  EXPECT_TRUE(contains(words.out, k_escaped)) << words.out;

  ledger::testing::tamper(ledger, "CREATE TABLE \"" + k_hostile + "\" (a)");
  const Outcome table = run("audit " + ledger.string());
  EXPECT_EQ(table.exit_code, code(ExitCode::unreadable));
  EXPECT_TRUE(contains(table.err, "table " + k_escaped + " was added by hand")) << table.err;
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
  const json organization{{"name", k_hostile},
                          {"organization", k_hostile},
                          {"rank", 1},
                          {"sentence", k_hostile},
                          {"psi", k_hostile},
                          {"phi", k_hostile},
                          {"processors", 4},
                          {"no_start_since", 1},
                          {"since", 1},
                          {"eta", 0.5},
                          {"at", 1},
                          {"threshold", 0.2},
                          {"before", nullptr},
                          {"highest", nullptr},
                          {"workflows", json::array({{{"workflow", k_hostile}, {"levels", {k_hostile, "\u009b"}}}})}};
  const json answer{
      {"at", 100},
      {"at_utc", k_hostile},
      {"contribution", k_hostile},
      {"period", {{"name", k_hostile}, {"begin_utc", k_hostile}}},
      {"ranking", {{"sentences", {k_hostile}}}},
      {"conservation", {{"holds", false}, {"sum_psi", k_hostile}}},
      {"daemon", {{"ledger", k_hostile}, {"version", k_hostile}, {"order", k_hostile}, {"pid", k_hostile}}},
      {"plugin", {{"connected", true}, {"program", k_hostile}, {"cluster", k_hostile}}},
      {"organizations", {organization}},
      {"jobs", json::array({{{"job", 1},
                             {"name", k_hostile},
                             {"organization", k_hostile},
                             {"segments",
                              json::array({{{"kind", "run"}, {"nodes", {{{"node", k_hostile}, {"processors", 1}}}}}})},
                             {"processors", 1},
                             {"time_limit_s", 60}}})},
      {"no_start", {organization}}};
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) { return answer; }));
  const std::string socket =
      " --timeout " + std::to_string(test::k_timeout.count()) + " --socket " + (directory / "s").string();
  for (const char* command : {"status", "status -l", "status -P", "jobs -o name,organization,nodes%300", "jobs",
                              "jobs -P", "workflows -l", "advise"}) {
    const Outcome outcome = run(command + socket);
    EXPECT_EQ(outcome.exit_code, code(ExitCode::success)) << command << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "\\x1b[2J") || contains(outcome.out, "x\\x1b+"))
        << command << ": " << outcome.out;
  }
  for (const char* command : {"status --json", "jobs --json", "workflows --json"}) {
    EXPECT_EQ(json::parse(run(command + socket).out), answer) << command;
  }
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
        "jobs -u " + sequence, "jobs -j " + sequence, "--socket " + sequence + " status", "audit " + sequence,
        "check-config " + sequence, "backup --ledger " + sequence + " " + sequence, "compact " + sequence,
        "status -i " + sequence}) {
    const Outcome outcome = run(arguments);
    EXPECT_NE(outcome.exit_code, code(ExitCode::success)) << arguments;
    EXPECT_TRUE(contains(outcome.out + outcome.err, escaped)) << outcome.out << outcome.err;
  }
  EXPECT_TRUE(contains(run("--help", "SHAPLEY_SOCKET=" + sequence).out, escaped));
  EXPECT_TRUE(contains(run("status", "SHAPLEY_SOCKET=" + sequence).err, escaped));
}

TEST_F(Terminal, FaultsOfAConfiguration) {
  std::ofstream(directory / "bad.yaml") << "\"colour\\e[2J\\u202e\\ncorrect\": green\n"
                                        << "organizations:\n  - name: \"\\e[2J\"\n    accounts: [\"\\x9b\"]\n"
                                        << "    nodes: [\"n[1-\\e\"]\n";
  const Outcome outcome = run("check-config " + (directory / "bad.yaml").string());
  EXPECT_EQ(outcome.exit_code, code(ExitCode::findings));
  EXPECT_TRUE(contains(outcome.out, "colour\\x1b[2J\\u202e\\x0acorrect")) << outcome.out;
  std::ofstream(directory / "bytes.yaml") << "colour\x9b: \033[2J\xff\n";
  EXPECT_EQ(run("check-config " + (directory / "bytes.yaml").string()).exit_code, code(ExitCode::findings));
}

}  // namespace
}  // namespace shapley::ctl
