// What shapleyd reports about itself and the plugin that feeds it: the members `daemon` and `plugin` of its answer to
// `status`. docs/reference/protocol.md explains each member.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::protocol {

struct ConfigurationReport {
  std::string file = {};
  std::string hash = {};
  Instant loaded_at = {};
  std::optional<Instant> refused_at = {};
  std::optional<std::string> refusal = {};
};
SHAPLEY_DESCRIBE(ConfigurationReport, file, hash, loaded_at, refused_at, refusal);

struct RebuildReport {
  Instant since = {};
  std::optional<int> percent = {};
};
SHAPLEY_DESCRIBE(RebuildReport, since, percent);

struct ClockReport {
  Instant since = {};
  Duration ahead = {};
  bool exact = false;
};
SHAPLEY_DESCRIBE(ClockReport, since, (named, ahead, "ahead_s"), exact);

struct HeldReport {
  Instant since = {};
  std::uint64_t messages = 0;
  Instant observed_from = {};
  Instant observed_to = {};
};
SHAPLEY_DESCRIBE(HeldReport, since, messages, observed_from, observed_to);

struct HindsightReport {
  std::int64_t bytes = 0;
  std::int64_t bound_bytes = 0;
};
SHAPLEY_DESCRIBE(HindsightReport, bytes, bound_bytes);

struct GapsReport {
  std::uint64_t count = 0;
  Duration all = {};
  Duration unobserved = {};
  std::optional<Instant> last_begin = {};
  std::optional<Instant> last_end = {};
  std::optional<std::string> last_cause = {};  // the name of an accounting::GapCause
};
SHAPLEY_DESCRIBE(GapsReport, count, (named, all, "seconds"), (named, unobserved, "unobserved_seconds"), last_begin,
                 last_end, last_cause);

// Runs that slurmctld lost.
struct LostRunsReport {
  std::int64_t closed = 0;
  std::int64_t closed_seconds = 0;  // processor-seconds
  std::int64_t retracted = 0;
  std::int64_t retracted_seconds = 0;  // processor-seconds
};
SHAPLEY_DESCRIBE(LostRunsReport, closed, (named, closed_seconds, "closed_processor_seconds"), retracted,
                 (named, retracted_seconds, "retracted_processor_seconds"));

struct StateLossReport {
  Instant at = {};
  Instant seen = {};
  LostRunsReport runs = {};
};
SHAPLEY_DESCRIBE(StateLossReport, at, seen, (flattened, runs));

struct StateLossesReport {
  std::uint64_t count = 0;
  LostRunsReport runs = {};  // of all
  std::optional<StateLossReport> last = {};
};
SHAPLEY_DESCRIBE(StateLossesReport, count, (flattened, runs), last);

struct RefusedFeeder {
  std::string cluster = {};
  std::optional<std::string> state_location = {};
  std::uint64_t times = 0;
  Instant first_at = {};
  Instant last_at = {};
};
SHAPLEY_DESCRIBE(RefusedFeeder, cluster, state_location, times, first_at, last_at);

struct ClusterReport {
  std::optional<std::string> name = {};
  std::optional<RefusedFeeder> refused = {};
  std::uint64_t refusals = 0;
};
SHAPLEY_DESCRIBE(ClusterReport, name, refused, refusals);

struct CommitsReport {
  std::uint64_t count = 0;
  double seconds = 0;
  double last_s = 0;
  std::uint64_t slow_in_a_row = 0;  // the number of last ones that took longer than a second each
  std::vector<std::pair<double, std::uint64_t>> buckets = {};  // each with its upper bound
};
SHAPLEY_DESCRIBE(CommitsReport, count, seconds, last_s, slow_in_a_row, buckets);

struct StorageReport {
  std::optional<std::uint64_t> ledger_bytes = {};
  std::optional<std::uint64_t> wal_bytes = {};
  std::optional<std::uint64_t> free_bytes = {};
};
SHAPLEY_DESCRIBE(StorageReport, ledger_bytes, wal_bytes, free_bytes);

struct LastBackup {
  Instant at = {};            // when it was reported
  std::int64_t sequence = 0;  // the last event of the copy
  friend bool operator==(const LastBackup&, const LastBackup&) = default;
};
SHAPLEY_DESCRIBE(LastBackup, at, sequence);

struct LastAudit {
  Instant at = {};
  std::int64_t sequence = 0;  // the last event that was checked, at least
  bool clean = false;         // without a finding
  friend bool operator==(const LastAudit&, const LastAudit&) = default;
};
SHAPLEY_DESCRIBE(LastAudit, at, sequence, clean);

// The papers (statement and report) of the last month of which papers were reported.
struct LastPapers {
  Instant at = {};
  std::int64_t sequence = 0;  // the last event of the copy that they were made of
  Instant until = {};         // the end of their month (UTC)
  friend bool operator==(const LastPapers&, const LastPapers&) = default;
};
SHAPLEY_DESCRIBE(LastPapers, at, sequence, until);

// What is hidden from other users; nullopt: no feeder has reported it yet.
struct PrivacyReport {
  std::optional<bool> jobs = {};
  std::optional<bool> usage = {};
  std::optional<Instant> told_at = {};
};
SHAPLEY_DESCRIBE(PrivacyReport, jobs, usage, told_at);

// Readers' queries.
struct QueryCounts {
  std::uint64_t waiting = 0;  // now
  std::uint64_t reading = 0;  // now, in the threads that read the ledger: 0 to 2
  std::uint64_t answered = 0;
  std::uint64_t dropped = 0;  // their clients disconnected before the answer
};
SHAPLEY_DESCRIBE(QueryCounts, waiting, reading, answered, dropped);

// The role of one of two controllers. active: writes the ledger, from what its slurmctld's plugin sends. standby:
// copies what the other one writes.
enum class ControllerRole : std::uint8_t { active, standby };
constexpr auto values_of(std::type_identity<ControllerRole>) {
  return std::array{ControllerRole::active, ControllerRole::standby};
}
constexpr std::string_view name_of(ControllerRole role) {
  return role == ControllerRole::active ? "active" : "standby";
}

enum class ControllerState : std::uint8_t { writes, follows, catches_up, waits_for_slurmctld, waits_for_the_other_one };
constexpr auto values_of(std::type_identity<ControllerState>) {
  return std::array{ControllerState::writes, ControllerState::follows, ControllerState::catches_up,
                    ControllerState::waits_for_slurmctld, ControllerState::waits_for_the_other_one};
}
constexpr std::string_view name_of(ControllerState state) {
  constexpr std::array<std::string_view, 5> k_names{"writes", "follows", "catches up", "waits for slurmctld",
                                                    "waits for the other one"};
  return k_names[static_cast<std::size_t>(state)];
}

// A ledger that was set aside, and what became of its own events; nullopt until they were compared.
struct SetAsideReport {
  Instant at = {};
  std::string file = {};
  std::optional<std::int64_t> common = {};
  std::optional<std::int64_t> events = {};
  std::optional<std::int64_t> absent = {};
  std::optional<std::int64_t> different = {};
};
SHAPLEY_DESCRIBE(SetAsideReport, at, file, common, events, absent, different);

struct ControllerReport {
  std::string host = {};
  ControllerRole role = ControllerRole::active;
  ControllerState state = ControllerState::writes;
  bool feeder_held = false;
  std::optional<Instant> began_at = {};
  std::optional<std::string> began_host = {};
  std::string peer = {};
  bool peer_answers = false;
  std::optional<std::string> peer_host = {};
  std::optional<ControllerRole> peer_role = {};
  std::optional<std::int64_t> peer_events = {};
  std::optional<std::int64_t> heard_s = {};
  std::optional<std::int64_t> behind = {};
  std::optional<bool> in_step = {};
  std::int64_t confirmed = 0;
  std::uint64_t acknowledged_alone = 0;
  std::optional<std::string> fault = {};
  std::vector<SetAsideReport> set_aside = {};  // ascending
};
SHAPLEY_DESCRIBE(ControllerReport, host, role, state, feeder_held, began_at, began_host, peer, peer_answers, peer_host,
                 peer_role, peer_events, heard_s, behind, in_step, confirmed, acknowledged_alone, fault, set_aside);

struct DaemonReport {
  std::string version = {};
  std::int64_t pid = 0;
  Instant started_at = {};
  Instant now = {};
  std::string ledger = {};
  std::string socket = {};
  ConfigurationReport configuration = {};
  std::int64_t events = 0;
  std::int64_t events_since_checkpoint = 0;
  std::int64_t replayed_at_start = 0;
  std::optional<RebuildReport> rebuild = {};  // nullopt: the books are complete
  std::int64_t rebuilds = 0;
  std::optional<ClockReport> clock = {};             // nullopt: the clock is not in doubt
  std::optional<HeldReport> held_observations = {};  // nullopt: none are held back because of the clock
  std::uint64_t dropped_observations = 0;
  std::uint64_t lost_runs = 0;
  HindsightReport hindsight = {};
  GapsReport gaps = {};
  StateLossesReport state_losses = {};
  ClusterReport cluster = {};
  std::string mode = {};
  std::string order = {};
  std::uint64_t rank_generation = 0;
  Instant ranks_computed_at = {};
  Duration stale_after = {};
  CommitsReport commits = {};
  StorageReport storage = {};
  std::map<std::string, std::string, std::less<>> failures = {};  // by operation
  std::optional<LastBackup> backup = {};
  std::optional<LastAudit> audit = {};
  std::optional<LastPapers> papers = {};
  PrivacyReport privacy = {};
  QueryCounts queries = {};
  std::optional<ControllerReport> controller = {};  // nullopt: this is the only one
};
SHAPLEY_DESCRIBE(DaemonReport, version, pid, started_at, now, ledger, socket, configuration, events,
                 events_since_checkpoint, replayed_at_start, rebuild, rebuilds, clock, held_observations,
                 dropped_observations, lost_runs, hindsight, gaps, state_losses, cluster, mode, order, rank_generation,
                 ranks_computed_at, (named, stale_after, "stale_after_s"), commits, storage, failures, backup, audit,
                 papers, privacy, queries, controller);

// The feeder that is connected, or the last one. Before the first one only `connected` and `last_heard_at` are set.
struct PluginReport {
  bool connected = false;
  Instant last_heard_at = {};
  std::optional<std::string> program = {};
  std::optional<std::string> cluster = {};
  std::optional<std::string> slurm_version = {};
  std::optional<std::uint32_t> interval_ms = {};
  std::optional<std::uint32_t> min_job_age_s = {};
  std::optional<std::uint64_t> backlog = {};
  std::optional<std::uint64_t> dropped_backlogs = {};
  std::optional<std::int64_t> age_s = {};
  std::optional<std::uint32_t> sign_of_life_s = {};
  std::optional<Instant> last_observation = {};
};
SHAPLEY_DESCRIBE(PluginReport, connected, last_heard_at, (supplement, program), (supplement, cluster),
                 (supplement, slurm_version), (supplement, interval_ms), (supplement, min_job_age_s),
                 (supplement, backlog), (supplement, dropped_backlogs), (supplement, age_s),
                 (supplement, sign_of_life_s), (supplement, last_observation));

}  // namespace shapley::protocol
