// What health says of a status, and how it ends.
#include "ctl/commands/health.hpp"

#include <array>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/app.hpp"
#include "fake_daemon.hpp"
#include "tests/support/waiting.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t k_now = 1'795'244'400;

json well() {
  return json::parse(R"({
    "at": 1795244400, "organizations": [], "conservation": {"holds": true},
    "daemon": {"version": "0.1.0", "now": 1795244400, "mode": "priorities", "ranks_computed_at": 1795244398,
               "stale_after_s": 300, "events": 12345, "lost_runs": 0, "dropped_observations": 0, "rebuild": null,
               "clock": null, "held_observations": null, "failures": {}, "controller": null, "backup": null, "audit": null,
               "commits": {"count": 7, "seconds": 0.5, "last_s": 0.004, "buckets": []},
               "storage": {"ledger_bytes": 4096, "wal_bytes": 0, "free_bytes": 1000000}},
    "plugin": {"connected": true, "last_heard_at": 1795244390, "backlog": 2}
  })");
}

// The line of a status that is well but for one member.
std::string line_with(const char* pointer, const json& value, const HealthLimits& limits = {}) {
  json status = well();
  status[json::json_pointer(pointer)] = value;
  return health_line(judge(status, limits));
}
// Up to the numbers.
std::string words_with(const char* pointer, const json& value, const HealthLimits& limits = {}) {
  const std::string line = line_with(pointer, value, limits);
  return line.substr(0, line.find(" | "));
}

TEST(Health, OfAWellDaemonIsOneLineWithNumbers) {
  EXPECT_EQ(health_line(judge(well(), {})),
            "SHAPLEY OK: plugin connected, mode priorities | plugin_connected=1 ranks_age=2s events=12345c backlog=2 "
            "lost_runs=0c commit=0.004s ledger=4096B free=1000000B\n");
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
            "SHAPLEY WARNING: slurmctld lost runs 1 h 0 min ago: 2 runs (4,800 processor-seconds) counted until the "
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
            "SHAPLEY WARNING: nothing was observed for 1 min until 1 h 0 min ago");
  EXPECT_EQ(
      words_with("/daemon/gaps", {{"count", 1}, {"seconds", 60}, {"last_begin", 1}, {"last_end", k_now - 90'000}}),
      "SHAPLEY OK: plugin connected, mode priorities");
  EXPECT_EQ(
      words_with("/daemon/gaps",
                 {{"count", 1}, {"last_begin", k_now - 60}, {"last_end", k_now - 5}, {"last_cause", "slurmctld_down"}}),
      "SHAPLEY OK: plugin connected, mode priorities");
}

TEST(Health, LooksAtBackupsAndAuditsWhenItIsTold) {
  const HealthLimits limits{.backup_age = 3600, .audit_age = 86'400};
  EXPECT_EQ(words_with("/daemon/audit", {{"at", k_now - 60}, {"sequence", 5}, {"clean", true}}, limits),
            "SHAPLEY WARNING: no backup is known of");
  json status = well();
  status["daemon"]["audit"] = {{"at", k_now - 100'000}, {"sequence", 5}, {"clean", true}};
  status["daemon"]["backup"] = {{"at", k_now - 60}, {"sequence", 6}};
  EXPECT_TRUE(health_line(judge(status, limits)).starts_with("SHAPLEY WARNING: the last audit was 1 d 3 h ago | "));
  EXPECT_TRUE(contains(health_line(judge(status, limits)), " backup_age=60s audit_age=100000s\n"));
  EXPECT_EQ(judge(status, {}).state, HealthState::ok);
}

TEST(Health, OfAStandbyDoesNotWantAPlugin) {
  json status = well();
  status["plugin"]["connected"] = false;
  status["daemon"]["controller"] = {
      {"role", "standby"}, {"state", "follows"}, {"peer_answers", true}, {"fault", nullptr}};
  EXPECT_TRUE(health_line(judge(status, {})).starts_with("SHAPLEY OK: standby follows | "));
  json& controller = status["daemon"]["controller"];
  controller["peer_answers"] = false;
  EXPECT_EQ(judge(status, {}).state, HealthState::warning);
  controller["fault"] = "both wrote";
  EXPECT_EQ(judge(status, {}).state, HealthState::critical);
  controller = {{"role", "standby"}, {"state", "waits for slurmctld"}, {"peer_answers", true}, {"fault", nullptr}};
  EXPECT_EQ(judge(status, {}).causes, std::vector<std::string>{"the plugin is connected to neither controller"});
}

TEST(Health, SaysThatWhatIsAcknowledgedIsOnOneHostOnly) {
  json status = well();
  json& controller = status["daemon"]["controller"];
  controller = {{"role", "active"}, {"state", "writes"}, {"peer_answers", true}, {"in_step", true}, {"fault", nullptr}};
  EXPECT_EQ(judge(status, {}).state, HealthState::ok);
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
  for (const char* other : {"{}", "[]", "7", R"({"daemon": 7})"})
    EXPECT_EQ(judge(json::parse(other), {}).state, HealthState::unknown) << other;
  EXPECT_EQ(judge(Error{Errc::denied, "no"}).state, HealthState::unknown);
  EXPECT_EQ(judge(Error{Errc::unavailable, "away"}).state, HealthState::critical);
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

  TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Environment environment{
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
};

TEST_F(HealthCommand, EndsAsNagiosWantsIt) {
  json status = well();
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) { return status; }));
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(run({"--max-backup-age", "2d"}), 1);
  status["plugin"]["connected"] = false;
  EXPECT_EQ(run({}), 2);
}

TEST_F(HealthCommand, WithoutADaemonIsCriticalAndWithAFaultyCommandLineUnknown) {
  EXPECT_EQ(run({}), 2);
  EXPECT_TRUE(contains(out.str(), "SHAPLEY CRITICAL: cannot reach shapleyd at ")) << out.str();
  EXPECT_FALSE(contains(out.str(), "--ledger")) << out.str();
  EXPECT_EQ(run({"--max-audit-age", "soon"}), 3);
  EXPECT_EQ(run({"--nonsense"}), 3);
  EXPECT_TRUE(contains(out.str(), "SHAPLEY UNKNOWN: the command line cannot be understood\n")) << out.str();
  EXPECT_EQ(run({"--help"}), 0);
}

}  // namespace
}  // namespace shapley::ctl
