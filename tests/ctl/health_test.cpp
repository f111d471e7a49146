// What health says of a status, and how it ends.
#include "ctl/commands/health.hpp"

#include <array>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/app.hpp"
#include "ctl/output/health.hpp"
#include "fake_daemon.hpp"
#include "no_terminal.hpp"
#include "status_report.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t k_now = 1'795'244'400;

json well() {
  return json::parse(R"({
    "at": 1795244400, "organizations": [], "conservation": {"holds": true},
    "daemon": {"version": "1.0.0", "now": 1795244400, "mode": "priorities", "ranks_computed_at": 1795244398,
               "stale_after_s": 300, "events": 12345, "lost_runs": 0, "dropped_observations": 0, "rebuild": null,
               "clock": null, "held_observations": null, "failures": {}, "controller": null, "backup": null, "audit": null,
               "commits": {"count": 7, "seconds": 0.5, "last_s": 0.004, "buckets": []},
               "storage": {"ledger_bytes": 4096, "wal_bytes": 8192, "free_bytes": 50000000000}},
    "plugin": {"connected": true, "last_heard_at": 1795244390, "backlog": 2}
  })");
}

Health judge(const json& status, const health::Limits& limits) {
  return health_of(partial<health::Report>(status), limits);
}

// The line of a status in which all but one member is well.
std::string line_with(const char* pointer, const json& value, const health::Limits& limits = {}) {
  json status = well();
  status[json::json_pointer(pointer)] = value;
  return health_line(judge(status, limits));
}
// Up to the numbers.
std::string words_with(const char* pointer, const json& value, const health::Limits& limits = {}) {
  const std::string line = line_with(pointer, value, limits);
  return line.substr(0, line.find(" | "));
}

TEST(Health, OfAWellDaemonIsOneLineWithNumbers) {
  EXPECT_EQ(health_line(judge(well(), {})),
            "SHAPLEY OK: plugin connected, mode priorities | plugin_connected=1 ranks_age=2s events=12345c backlog=2 "
            "lost_runs=0c commit=0.004s ledger=4096B log=8192B free=50000000000B\n");
}

TEST(Health, IsCriticalWhereTheBooksOrTheRanksDoNotWork) {
  EXPECT_EQ(words_with("/plugin/connected", false),
            "SHAPLEY CRITICAL: the plugin is not connected, last heard 10 s ago");
  EXPECT_EQ(words_with("/plugin", {{"connected", false}, {"last_heard_at", 0}}),
            "SHAPLEY CRITICAL: the plugin is not connected, never heard");
  EXPECT_EQ(words_with("/daemon/ranks_computed_at", k_now - 301), "SHAPLEY CRITICAL: the ranks are 5 min old");
  EXPECT_EQ(words_with("/conservation/holds", false), "SHAPLEY CRITICAL: the books are not balanced");
  EXPECT_EQ(words_with("/daemon/failures", {{"commit", "the disk is full"}}),
            "SHAPLEY CRITICAL: commit fails: the disk is full");
  EXPECT_EQ(words_with("/daemon/audit", {{"at", k_now - 60}, {"sequence", 5}, {"clean", false}}),
            "SHAPLEY CRITICAL: the last audit, 1 min ago, had findings");
}

TEST(Health, TellsAnIdleClusterFromASlurmctldThatHangs) {
  const auto plugin = [](std::int64_t age, int sign_of_life) {
    return json{{"connected", true}, {"last_heard_at", k_now - age}, {"backlog", 0}, {"sign_of_life_s", sign_of_life}};
  };
  EXPECT_EQ(words_with("/plugin", plugin(30, 10)), "SHAPLEY OK: plugin connected, mode priorities");
  EXPECT_EQ(words_with("/plugin", plugin(31, 10)),
            "SHAPLEY WARNING: the plugin is connected and silent for 31 s: slurmctld hangs or is very busy");
  EXPECT_EQ(words_with("/plugin", plugin(1020, 10)),
            "SHAPLEY CRITICAL: the plugin is connected and silent for 17 min: slurmctld hangs or is very busy");
  // One of an older release says nothing where nothing changes.
  EXPECT_EQ(words_with("/plugin", plugin(1020, 0)), "SHAPLEY OK: plugin connected, mode priorities");
}

TEST(Health, WarnsOfWhatWillWantAttention) {
  EXPECT_EQ(words_with("/daemon/lost_runs", 3), "SHAPLEY WARNING: 3 runs lost since the start of shapleyd");
  EXPECT_EQ(words_with("/daemon/dropped_observations", 1),
            "SHAPLEY WARNING: 1 message of a wrong clock dropped since the start of shapleyd");
  EXPECT_EQ(words_with("/daemon/clock", {{"ahead_s", 70}}), "SHAPLEY WARNING: the wall clock is in doubt");
  EXPECT_EQ(words_with("/daemon/held_observations", {{"messages", 2}}),
            "SHAPLEY WARNING: observations wait for the clock");
  EXPECT_EQ(words_with("/daemon/rebuild", {{"percent", 40}}),
            "SHAPLEY WARNING: the books are being rebuilt; the ranks hold meanwhile");
  EXPECT_EQ(words_with("/daemon/configuration",
                       {{"hash", "00"}, {"loaded_at", 1}, {"refused_at", k_now - 5}, {"refusal", "line 3: no node"}}),
            "SHAPLEY WARNING: the configuration was refused 5 s ago: line 3: no node");
  json loss{{"at", k_now - 3600}, {"seen", k_now - 3660},
            {"closed", 2},        {"closed_processor_seconds", 4800},
            {"retracted", 1},     {"retracted_processor_seconds", 16}};
  EXPECT_EQ(words_with("/daemon/state_losses", {{"count", 1}, {"last", loss}}),
            "SHAPLEY WARNING: slurmctld lost runs 1 h ago: 2 runs (4,800 processor-seconds) counted until the "
            "last look, 1 run (16 processor-seconds) retracted, begun within seconds before it");
  loss["at"] = k_now - 90'000;
  EXPECT_EQ(words_with("/daemon/state_losses", {{"count", 1}, {"last", loss}}),
            "SHAPLEY OK: plugin connected, mode priorities");
  json refused{{"cluster", "trial"}, {"state_location", nullptr}, {"times", 2}, {"last_at", k_now - 5}};
  EXPECT_EQ(words_with("/daemon/cluster", {{"name", "box"}, {"refused", refused}}),
            "SHAPLEY WARNING: the plugin of another cluster, trial, is refused, last 5 s ago");
  refused["state_location"] = "/var/trial";
  EXPECT_EQ(words_with("/daemon/cluster", {{"name", "box"}, {"refused", refused}}),
            "SHAPLEY WARNING: the plugin of a second slurmctld of this cluster, whose StateSaveLocation is /var/trial, "
            "is refused, last 5 s ago");
  EXPECT_EQ(words_with("/daemon/gaps",
                       {{"count", 1}, {"seconds", 60}, {"last_begin", k_now - 3660}, {"last_end", k_now - 3600}}),
            "SHAPLEY WARNING: nothing was observed for 1 min until 1 h ago");
  EXPECT_EQ(
      words_with(
          "/daemon/gaps",
          {{"count", 1}, {"last_begin", k_now - 3660}, {"last_end", k_now - 3600}, {"last_cause", "events_lost"}}),
      "SHAPLEY WARNING: the ledger lost what was observed for 1 min until 1 h ago");
  EXPECT_EQ(
      words_with("/daemon/gaps", {{"count", 1}, {"seconds", 60}, {"last_begin", 1}, {"last_end", k_now - 90'000}}),
      "SHAPLEY OK: plugin connected, mode priorities");
  EXPECT_EQ(
      words_with("/daemon/gaps",
                 {{"count", 1}, {"last_begin", k_now - 60}, {"last_end", k_now - 5}, {"last_cause", "slurmctld_down"}}),
      "SHAPLEY OK: plugin connected, mode priorities");
}

TEST(Health, WarnsOfADiskAndASpoolThatDoNotSuffice) {
  EXPECT_EQ(words_with("/plugin/backlog", 1204),
            "SHAPLEY WARNING: 1,204 messages of the plugin are not in the ledger yet");
  EXPECT_EQ(
      words_with("/plugin/dropped_backlogs", 1),
      "SHAPLEY WARNING: the plugin dropped what its spool could not hold, 1 time since it was loaded: runs may be "
      "missing");
  EXPECT_EQ(words_with("/daemon/commits/slow_in_a_row", 4),
            "SHAPLEY WARNING: the last 4 commits took longer than a second each: the ledger's disk is slow");
  EXPECT_EQ(words_with("/daemon/storage/free_bytes", 12'345'678),
            "SHAPLEY WARNING: the ledger's file system has 12 MB left");
}

TEST(Health, WarnsOfOtherClustersWhoseStatementsDoNotCount) {
  const char* k_ok = "SHAPLEY OK: plugin connected, mode priorities";
  const auto words = [](const json& cluster) { return words_with("/clusters", json::array({cluster})); };
  json south{{"cluster", "south"},
             {"stated_at", k_now - 120},
             {"stands_still", k_now + 3480},
             {"is_stale", false},
             {"refused", 0},
             {"ahead_s", 1}};
  EXPECT_EQ(words(south), k_ok);
  // What is not too old counts, so one that is away for minutes is no fault.
  south["fault"] = "no route";
  EXPECT_EQ(words(south), k_ok);
  south["is_refused"] = true;
  south["fault"] = "its period is 'monthly', here 'none'";
  EXPECT_EQ(words(south),
            "SHAPLEY WARNING: a statement of the cluster south is refused: its period is 'monthly', here 'none'");
  south["is_stale"] = true;
  south["stated_at"] = k_now - 7500;
  EXPECT_EQ(words(south),
            "SHAPLEY WARNING: the last statement of the cluster south is 2 h 5 min old, and what ranks count of it "
            "stands still: its period is 'monthly', here 'none'");
  EXPECT_EQ(words({{"cluster", "west"}, {"fault", "no route"}}),
            "SHAPLEY WARNING: ranks do not count the cluster west yet, of which there is no statement: no route");
  EXPECT_EQ(words({{"cluster", "south"}, {"stated_at", k_now}, {"ahead_s", 2}}),
            "SHAPLEY WARNING: the clock of the cluster south is 2 s ahead of the one here");
}

TEST(Health, LooksAtBackupsAndAuditsOnRequest) {
  const health::Limits limits{.backup_age = Duration{3600}, .audit_age = Duration{86'400}};
  EXPECT_EQ(words_with("/daemon/audit", {{"at", k_now - 60}, {"sequence", 5}, {"clean", true}}, limits),
            "SHAPLEY WARNING: no backup is known of");
  json status = well();
  status["daemon"]["audit"] = {{"at", k_now - 100'000}, {"sequence", 5}, {"clean", true}};
  status["daemon"]["backup"] = {{"at", k_now - 60}, {"sequence", 6}};
  EXPECT_TRUE(health_line(judge(status, limits)).starts_with("SHAPLEY WARNING: the last audit was 1 day 3 h ago | "));
  EXPECT_PRED2(contains, health_line(judge(status, limits)), " backup_age=60s audit_age=100000s\n");
  EXPECT_EQ(judge(status, {}).state, health::State::ok);
}

TEST(Health, MissesThePapersOfAMonthThatEndedWhereThereWereSomeBefore) {
  constexpr std::int64_t k_day_of_month = 20;  // of November 2026, at 7:00
  constexpr std::int64_t k_november = 1'793'491'200;
  const health::Limits limits{.papers_delay = Duration{k_day_of_month * 86'400}};
  const auto words_of = [&](std::int64_t until, const health::Limits& asked) {
    return words_with("/daemon/papers", {{"at", until + 900}, {"sequence", 5}, {"until", until}}, asked);
  };
  const std::string ok = "SHAPLEY OK: plugin connected, mode priorities";
  EXPECT_EQ(words_with("/daemon/papers", nullptr, limits), ok) << "none are known";
  EXPECT_EQ(words_of(k_november, limits), ok);
  const std::int64_t october = k_november - 31 * 86'400;
  EXPECT_EQ(words_of(october, limits),
            "SHAPLEY WARNING: the papers of 2026-10 are missing; the last ones are of 2026-09");
  EXPECT_EQ(words_of(october, {.papers_delay = Duration{(k_day_of_month + 1) * 86'400}}), ok)
      << "they are not late yet";
  EXPECT_EQ(words_of(october, {}), ok) << "it was not asked";
  EXPECT_PRED2(contains, line_with("/daemon/papers", {{"at", k_now}, {"sequence", 5}, {"until", k_now - 70}}),
               " papers_age=70s\n");
}

TEST(Health, OfAStandbyDoesNotWantAPlugin) {
  json status = well();
  status["plugin"]["connected"] = false;
  status["daemon"]["controller"] = {
      {"role", "standby"}, {"state", "follows"}, {"peer_answers", true}, {"fault", nullptr}};
  EXPECT_TRUE(health_line(judge(status, {})).starts_with("SHAPLEY OK: standby follows | "));
  json& controller = status["daemon"]["controller"];
  controller["peer_answers"] = false;
  EXPECT_EQ(judge(status, {}).state, health::State::warning);
  controller["fault"] = "both wrote";
  EXPECT_EQ(judge(status, {}).state, health::State::critical);
  controller = {{"role", "standby"}, {"state", "waits for slurmctld"}, {"peer_answers", true}, {"fault", nullptr}};
  EXPECT_EQ(judge(status, {}).causes, std::vector<std::string>{"the plugin is connected to neither controller"});
}

TEST(Health, SaysThatWhatIsAcknowledgedIsOnOneHostOnly) {
  json status = well();
  json& controller = status["daemon"]["controller"];
  controller = {{"role", "active"}, {"state", "writes"}, {"peer_answers", true}, {"in_step", true}, {"fault", nullptr}};
  EXPECT_EQ(judge(status, {}).state, health::State::ok);
  controller["in_step"] = false;
  EXPECT_EQ(judge(status, {}).causes,
            std::vector<std::string>{"the other controller lags: what is acknowledged is on this host only"});
}

TEST(Health, PutsTheWorstFirst) {
  json status = well();
  status["daemon"]["lost_runs"] = 1;
  status["conservation"]["holds"] = false;
  EXPECT_EQ(judge(status, {}).causes,
            (std::vector<std::string>{"the books are not balanced", "1 run lost since the start of shapleyd"}));
}

TEST(Health, StaysOneLineWhateverAFailureSays) {
  const std::string line = line_with("/daemon/failures", {{"commit", "a | b\nSHAPLEY OK"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  EXPECT_EQ(line.find('|'), line.find(" | plugin_connected=") + 1) << line;
}

TEST(Health, OfSomethingElseIsUnknown) {
  const auto line = [](Errc code) { return health_line(health_of(tl::unexpected<Error>(Error{code, "no"}), {})); };
  EXPECT_EQ(line(Errc::denied), "SHAPLEY UNKNOWN: no\n");
  EXPECT_EQ(line(Errc::protocol), "SHAPLEY UNKNOWN: no\n");
  EXPECT_EQ(line(Errc::unavailable), "SHAPLEY CRITICAL: no\n");
}

class HealthCommand : public testing::Test {
 protected:
  int run(std::vector<const char*> arguments) {
    const std::string socket = (directory / "s").string();
    const std::string timeout = std::to_string(std::chrono::seconds(test::k_timeout).count());
    std::vector<const char*> argv{"shapleyctl", "--socket", socket.c_str(), "--timeout", timeout.c_str(), "health"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return static_cast<int>(ctl::run(static_cast<int>(argv.size()), argv.data(), environment));
  }

  TempDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Environment environment = no_terminal(out, err);
};

TEST_F(HealthCommand, EndsAsNagiosWantsIt) {
  json status = well();
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) {
                            return json_of(partial<ledger::StatusReport>(status));
                          }));
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(run({"--max-backup-age", "2d"}), 1);
  EXPECT_EQ(run({"--max-papers-delay", "3d"}), 0);
  status["daemon"]["papers"] = {{"at", 1'700'000'000}, {"sequence", 1}, {"until", 1'700'000'000}};
  EXPECT_EQ(run({"--max-papers-delay", "3d"}), 1);
  status["plugin"]["connected"] = false;
  EXPECT_EQ(run({}), 2);
}

TEST_F(HealthCommand, WithoutADaemonIsCriticalAndWithAFaultyCommandLineUnknown) {
  EXPECT_EQ(run({}), 2);
  EXPECT_PRED2(contains, out.str(), "SHAPLEY CRITICAL: cannot reach shapleyd at ");
  EXPECT_PRED2(lacks, out.str(), "--ledger");
  EXPECT_EQ(run({"--max-audit-age", "soon"}), 3);
  EXPECT_EQ(run({"--nonsense"}), 3);
  EXPECT_PRED2(contains, out.str(), "SHAPLEY UNKNOWN: the command line cannot be understood\n");
  EXPECT_EQ(run({"--help"}), 0);
}

// The lines about daemon and plugin below the table of `shapleyctl status`.

std::string health_lines(const json& report, bool colour) {
  return ctl::health_lines(partial<ledger::StatusReport>(report), colour);
}

TEST(Health, OfflineReportsHaveNone) {
  EXPECT_EQ(health_lines(fixed_report(), false), "");
}

TEST(Health, AMissingPluginAndLostRunsAreSaid) {
  json report = with_daemon(fixed_report());
  report["daemon"]["lost_runs"] = 3;
  report["plugin"] = {{"connected", false}, {"last_heard_at", 1795244400 - 125}};
  EXPECT_EQ(health_lines(report, false),
            "Ledger:  /var/lib/shapley/ledger.db, 12,345 events\n"
            "Daemon:  shapleyd 1.0.0, pid 4711, up 5 h 12 min, order strict, mode priorities\n"
            "Config:  /etc/shapley/shapleyd.yaml, SHA-256 aaaaaaaaaaaaaaaa..., in force since 2026-11-21T01:48:00Z\n"
            "Lost:    3 runs ended before their start was seen; shapleyctl audit --against names them\n"
            "Plugin:  NOT CONNECTED, last heard 2 min ago; the ranks do not act; see slurmctld's log (grep shapley)\n");
  report["plugin"] = {{"connected", false}};
  EXPECT_PRED2(contains, health_lines(report, false), "NOT CONNECTED, never heard;");
}

TEST(Health, WhatHindsightGaveUpForMemoryIsSaid) {
  json report = with_daemon(fixed_report());
  report["hindsight_bounded"] = nullptr;
  EXPECT_PRED2(lacks, health_lines(report, false), "Memory:");
  report["hindsight_bounded"] = {{"coalitions", "pairs"},
                                 {"since", 1795244400 - 65},
                                 {"needed_bytes", std::int64_t{3} << 30},
                                 {"bound_bytes", 1 << 30}};
  EXPECT_PRED2(contains, health_lines(report, false),
               "Memory:  hindsight keeps pairs instead of all coalitions since 2026-11-21T06:58:55Z: it took 3,072 "
               "MiB and may have 1,024 (hindsight_memory)\n");
  report["hindsight_bounded"]["coalitions"] = "none";
  EXPECT_PRED2(contains, health_lines(report, false), "hindsight keeps nothing since");
}

TEST(Health, AConnectedPluginThatIsSilentIsSaid) {
  json report = with_daemon(fixed_report());
  report["plugin"]["sign_of_life_s"] = 10;
  report["plugin"]["last_heard_at"] = 1795244400 - 12;
  EXPECT_PRED2(contains, health_lines(report, false), "cluster consort, last heard 12 s ago\n");
  report["plugin"]["last_heard_at"] = 1795244400 - 1020;
  EXPECT_PRED2(contains, health_lines(report, false),
               "Plugin:  connected, priority/shapley 1.0.0, Slurm 22.05.8, cluster consort, SILENT: last heard 17 "
               "min ago, and it gives a sign of life every 10 s; slurmctld hangs or is very busy (scontrol "
               "ping)\n");
}

TEST(Health, ARebuildIsSaidAndHowFarItIs) {
  json report = with_daemon(fixed_report());
  report["daemon"]["rebuild"] = nullptr;
  EXPECT_PRED2(lacks, health_lines(report, false), "Rebuild");
  report["daemon"]["rebuild"] = {{"since", 1795244400}, {"percent", nullptr}};
  EXPECT_PRED2(contains, health_lines(report, false),
               "Rebuild: when the feed has caught up; late events came, standings and "
               "ranks are still those of 2026-11-21T07:00:00Z\n");
  report["daemon"]["rebuild"]["percent"] = 37;
  EXPECT_PRED2(contains, health_lines(report, false), "Rebuild: 37 %; late events");
}

TEST(Health, AClockInDoubtIsSaidAndWhatWaitsForIt) {
  json report = with_daemon(fixed_report());
  report["daemon"]["clock"] = nullptr;
  report["daemon"]["held_observations"] = nullptr;
  report["daemon"]["dropped_observations"] = 0;
  EXPECT_PRED2(lacks, health_lines(report, false), "Clock");
  report["daemon"]["clock"] = {{"since", 1795244400}, {"ahead_s", 40 * 24 * 3600}, {"exact", true}};
  report["daemon"]["held_observations"] = {
      {"since", 1795244400}, {"messages", 3}, {"observed_from", 1798700400}, {"observed_to", 1798700500}};
  report["daemon"]["dropped_observations"] = 1200;
  const std::string lines = health_lines(report, false);
  EXPECT_PRED2(contains, lines,
               "Clock:   IN DOUBT since 2026-11-21T07:00:00Z: the wall clock is 40 days ahead of the time that "
               "shapleyd trusts\n"
               "Clock:   observations wait since 2026-11-21T07:00:00Z; they claim to be of 2026-12-31T07:00:00Z "
               "and later\n"
               "Clock:   1,200 messages of a wrong clock were dropped since the start of shapleyd\n");
  report["daemon"]["clock"]["ahead_s"] = -7200;
  EXPECT_PRED2(contains, health_lines(report, false), "the wall clock is 2 h behind the time that shapleyd trusts\n");
}

TEST(Health, OneOfTwoControllersSaysWhichItIs) {
  json report = with_daemon(fixed_report());
  report["daemon"]["controller"] =
      json::parse(R"({"host": "ctl1", "role": "active", "state": "writes", "feeder_held": false,
    "peer": "/run/peer.sock", "peer_answers": true, "peer_host": "ctl2", "peer_role": "standby", "peer_events": 100,
    "heard_s": 0, "behind": null, "in_step": true, "fault": null, "set_aside": []})");
  json& controller = report["daemon"]["controller"];
  const auto lines_of_pair = [&] {
    const std::string lines = health_lines(report, false);
    const auto at = lines.find("Pair:");
    return at == std::string::npos ? lines : lines.substr(at);
  };
  EXPECT_EQ(lines_of_pair().find("Pair:    active, writes, in step; ctl2 is standby\nPlugin:  connected"), 0U)
      << lines_of_pair();
  controller["in_step"] = false;
  EXPECT_EQ(lines_of_pair().find("Pair:    active, writes, OUT OF STEP; ctl2 is standby\n"), 0U) << lines_of_pair();
  // A standby has no plugin, so it misses none.
  controller["role"] = "standby";
  controller["state"] = "follows";
  controller["in_step"] = nullptr;
  controller["behind"] = 12;
  controller["peer_host"] = "ctl1";
  controller["peer_role"] = "active";
  report["plugin"] = {{"connected", false}};
  EXPECT_EQ(lines_of_pair(), "Pair:    standby, follows; ctl1 is active, events behind: 12\n");
  controller["peer_answers"] = false;
  controller["heard_s"] = 70;
  controller["feeder_held"] = true;
  controller["behind"] = nullptr;
  controller["fault"] = "cannot follow";
  controller["set_aside"] = json::parse(
      R"([{"at": 1, "file": "old", "events": 9, "absent": 9, "different": 0},
          {"at": 2, "file": "/srv/ledger.db.superseded-1", "events": 12, "absent": 2, "different": 1}])");
  EXPECT_EQ(lines_of_pair(),
            "Pair:    standby, follows, holds the plugin; the other one DOES NOT ANSWER, seconds since it did: 70, its "
            "events then: 100; cannot follow\n"
            "Aside:   /srv/ledger.db.superseded-1: of its 12 own events 2 are not in this ledger, 1 are there "
            "otherwise\n");
  controller["set_aside"][1]["absent"] = nullptr;
  EXPECT_PRED2(contains, lines_of_pair(), "superseded-1: its own events are counted once this one follows\n");
}

}  // namespace
}  // namespace shapley::ctl
