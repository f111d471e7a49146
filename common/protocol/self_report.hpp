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
constexpr auto description_of(std::type_identity<ConfigurationReport>) {
  return describe(member("file", &ConfigurationReport::file), member("hash", &ConfigurationReport::hash),
                  member("loaded_at", &ConfigurationReport::loaded_at),
                  member("refused_at", &ConfigurationReport::refused_at),
                  member("refusal", &ConfigurationReport::refusal));
}

struct RebuildReport {
  Instant since = {};
  std::optional<int> percent = {};
};
constexpr auto description_of(std::type_identity<RebuildReport>) {
  return describe(member("since", &RebuildReport::since), member("percent", &RebuildReport::percent));
}

struct ClockReport {
  Instant since = {};
  Duration ahead = {};
  bool exact = false;
};
constexpr auto description_of(std::type_identity<ClockReport>) {
  return describe(member("since", &ClockReport::since), member("ahead_s", &ClockReport::ahead),
                  member("exact", &ClockReport::exact));
}

struct HeldReport {
  Instant since = {};
  std::uint64_t messages = 0;
  Instant observed_from = {};
  Instant observed_to = {};
};
constexpr auto description_of(std::type_identity<HeldReport>) {
  return describe(member("since", &HeldReport::since), member("messages", &HeldReport::messages),
                  member("observed_from", &HeldReport::observed_from), member("observed_to", &HeldReport::observed_to));
}

struct HindsightReport {
  std::int64_t bytes = 0;
  std::int64_t bound_bytes = 0;
};
constexpr auto description_of(std::type_identity<HindsightReport>) {
  return describe(member("bytes", &HindsightReport::bytes), member("bound_bytes", &HindsightReport::bound_bytes));
}

struct GapsReport {
  std::uint64_t count = 0;
  Duration all = {};
  Duration unobserved = {};
  std::optional<Instant> last_begin = {};
  std::optional<Instant> last_end = {};
  std::optional<std::string> last_cause = {};  // the name of an accounting::GapCause
};
constexpr auto description_of(std::type_identity<GapsReport>) {
  return describe(member("count", &GapsReport::count), member("seconds", &GapsReport::all),
                  member("unobserved_seconds", &GapsReport::unobserved), member("last_begin", &GapsReport::last_begin),
                  member("last_end", &GapsReport::last_end), member("last_cause", &GapsReport::last_cause));
}

// Runs that slurmctld lost.
struct LostRunsReport {
  std::int64_t closed = 0;
  std::int64_t closed_seconds = 0;  // processor-seconds
  std::int64_t retracted = 0;
  std::int64_t retracted_seconds = 0;  // processor-seconds
};
constexpr auto description_of(std::type_identity<LostRunsReport>) {
  return describe(member("closed", &LostRunsReport::closed),
                  member("closed_processor_seconds", &LostRunsReport::closed_seconds),
                  member("retracted", &LostRunsReport::retracted),
                  member("retracted_processor_seconds", &LostRunsReport::retracted_seconds));
}

struct StateLossReport {
  Instant at = {};
  Instant seen = {};
  LostRunsReport runs = {};
};
constexpr auto description_of(std::type_identity<StateLossReport>) {
  return describe(member("at", &StateLossReport::at), member("seen", &StateLossReport::seen),
                  flattened(&StateLossReport::runs));
}

struct StateLossesReport {
  std::uint64_t count = 0;
  LostRunsReport runs = {};  // of all
  std::optional<StateLossReport> last = {};
};
constexpr auto description_of(std::type_identity<StateLossesReport>) {
  return describe(member("count", &StateLossesReport::count), flattened(&StateLossesReport::runs),
                  member("last", &StateLossesReport::last));
}

struct RefusedFeeder {
  std::string cluster = {};
  std::optional<std::string> state_location = {};
  std::uint64_t times = 0;
  Instant first_at = {};
  Instant last_at = {};
};
constexpr auto description_of(std::type_identity<RefusedFeeder>) {
  return describe(member("cluster", &RefusedFeeder::cluster), member("state_location", &RefusedFeeder::state_location),
                  member("times", &RefusedFeeder::times), member("first_at", &RefusedFeeder::first_at),
                  member("last_at", &RefusedFeeder::last_at));
}

struct ClusterReport {
  std::optional<std::string> name = {};
  std::optional<RefusedFeeder> refused = {};
  std::uint64_t refusals = 0;
};
constexpr auto description_of(std::type_identity<ClusterReport>) {
  return describe(member("name", &ClusterReport::name), member("refused", &ClusterReport::refused),
                  member("refusals", &ClusterReport::refusals));
}

struct CommitsReport {
  std::uint64_t count = 0;
  double seconds = 0;
  double last_s = 0;
  std::uint64_t slow_in_a_row = 0;  // the number of last ones that took longer than a second each
  std::vector<std::pair<double, std::uint64_t>> buckets = {};  // each with its upper bound
};
constexpr auto description_of(std::type_identity<CommitsReport>) {
  return describe(member("count", &CommitsReport::count), member("seconds", &CommitsReport::seconds),
                  member("last_s", &CommitsReport::last_s), member("slow_in_a_row", &CommitsReport::slow_in_a_row),
                  member("buckets", &CommitsReport::buckets));
}

struct StorageReport {
  std::optional<std::uint64_t> ledger_bytes = {};
  std::optional<std::uint64_t> wal_bytes = {};
  std::optional<std::uint64_t> free_bytes = {};
};
constexpr auto description_of(std::type_identity<StorageReport>) {
  return describe(member("ledger_bytes", &StorageReport::ledger_bytes), member("wal_bytes", &StorageReport::wal_bytes),
                  member("free_bytes", &StorageReport::free_bytes));
}

struct LastBackup {
  Instant at = {};            // when it was reported
  std::int64_t sequence = 0;  // the last event of the copy
  friend bool operator==(const LastBackup&, const LastBackup&) = default;
};
constexpr auto description_of(std::type_identity<LastBackup>) {
  return describe(member("at", &LastBackup::at), member("sequence", &LastBackup::sequence));
}

struct LastAudit {
  Instant at = {};
  std::int64_t sequence = 0;  // the last event that was checked, at least
  bool clean = false;         // without a finding
  friend bool operator==(const LastAudit&, const LastAudit&) = default;
};
constexpr auto description_of(std::type_identity<LastAudit>) {
  return describe(member("at", &LastAudit::at), member("sequence", &LastAudit::sequence),
                  member("clean", &LastAudit::clean));
}

// The papers (statement and report) of the last month of which papers were reported.
struct LastPapers {
  Instant at = {};
  std::int64_t sequence = 0;  // the last event of the copy that they were made of
  Instant until = {};         // the end of their month (UTC)
  friend bool operator==(const LastPapers&, const LastPapers&) = default;
};
constexpr auto description_of(std::type_identity<LastPapers>) {
  return describe(member("at", &LastPapers::at), member("sequence", &LastPapers::sequence),
                  member("until", &LastPapers::until));
}

// What is hidden from other users; nullopt: no feeder has reported it yet.
struct PrivacyReport {
  std::optional<bool> jobs = {};
  std::optional<bool> usage = {};
  std::optional<Instant> told_at = {};
};
constexpr auto description_of(std::type_identity<PrivacyReport>) {
  return describe(member("jobs", &PrivacyReport::jobs), member("usage", &PrivacyReport::usage),
                  member("told_at", &PrivacyReport::told_at));
}

// Readers' queries.
struct QueryCounts {
  std::uint64_t waiting = 0;  // now
  std::uint64_t reading = 0;  // now, in the threads that read the ledger: 0 to 2
  std::uint64_t answered = 0;
  std::uint64_t dropped = 0;  // their clients disconnected before the answer
};
constexpr auto description_of(std::type_identity<QueryCounts>) {
  return describe(member("waiting", &QueryCounts::waiting), member("reading", &QueryCounts::reading),
                  member("answered", &QueryCounts::answered), member("dropped", &QueryCounts::dropped));
}

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
constexpr auto description_of(std::type_identity<SetAsideReport>) {
  return describe(member("at", &SetAsideReport::at), member("file", &SetAsideReport::file),
                  member("common", &SetAsideReport::common), member("events", &SetAsideReport::events),
                  member("absent", &SetAsideReport::absent), member("different", &SetAsideReport::different));
}

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
constexpr auto description_of(std::type_identity<ControllerReport>) {
  return describe(member("host", &ControllerReport::host), member("role", &ControllerReport::role),
                  member("state", &ControllerReport::state), member("feeder_held", &ControllerReport::feeder_held),
                  member("began_at", &ControllerReport::began_at), member("began_host", &ControllerReport::began_host),
                  member("peer", &ControllerReport::peer), member("peer_answers", &ControllerReport::peer_answers),
                  member("peer_host", &ControllerReport::peer_host), member("peer_role", &ControllerReport::peer_role),
                  member("peer_events", &ControllerReport::peer_events), member("heard_s", &ControllerReport::heard_s),
                  member("behind", &ControllerReport::behind), member("in_step", &ControllerReport::in_step),
                  member("confirmed", &ControllerReport::confirmed),
                  member("acknowledged_alone", &ControllerReport::acknowledged_alone),
                  member("fault", &ControllerReport::fault), member("set_aside", &ControllerReport::set_aside));
}

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
constexpr auto description_of(std::type_identity<DaemonReport>) {
  return describe(member("version", &DaemonReport::version), member("pid", &DaemonReport::pid),
                  member("started_at", &DaemonReport::started_at), member("now", &DaemonReport::now),
                  member("ledger", &DaemonReport::ledger), member("socket", &DaemonReport::socket),
                  member("configuration", &DaemonReport::configuration), member("events", &DaemonReport::events),
                  member("events_since_checkpoint", &DaemonReport::events_since_checkpoint),
                  member("replayed_at_start", &DaemonReport::replayed_at_start),
                  member("rebuild", &DaemonReport::rebuild), member("rebuilds", &DaemonReport::rebuilds),
                  member("clock", &DaemonReport::clock), member("held_observations", &DaemonReport::held_observations),
                  member("dropped_observations", &DaemonReport::dropped_observations),
                  member("lost_runs", &DaemonReport::lost_runs), member("hindsight", &DaemonReport::hindsight),
                  member("gaps", &DaemonReport::gaps), member("state_losses", &DaemonReport::state_losses),
                  member("cluster", &DaemonReport::cluster), member("mode", &DaemonReport::mode),
                  member("order", &DaemonReport::order), member("rank_generation", &DaemonReport::rank_generation),
                  member("ranks_computed_at", &DaemonReport::ranks_computed_at),
                  member("stale_after_s", &DaemonReport::stale_after), member("commits", &DaemonReport::commits),
                  member("storage", &DaemonReport::storage), member("failures", &DaemonReport::failures),
                  member("backup", &DaemonReport::backup), member("audit", &DaemonReport::audit),
                  member("papers", &DaemonReport::papers), member("privacy", &DaemonReport::privacy),
                  member("queries", &DaemonReport::queries), member("controller", &DaemonReport::controller));
}

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
constexpr auto description_of(std::type_identity<PluginReport>) {
  return describe(
      member("connected", &PluginReport::connected), member("last_heard_at", &PluginReport::last_heard_at),
      supplement("program", &PluginReport::program), supplement("cluster", &PluginReport::cluster),
      supplement("slurm_version", &PluginReport::slurm_version), supplement("interval_ms", &PluginReport::interval_ms),
      supplement("min_job_age_s", &PluginReport::min_job_age_s), supplement("backlog", &PluginReport::backlog),
      supplement("dropped_backlogs", &PluginReport::dropped_backlogs), supplement("age_s", &PluginReport::age_s),
      supplement("sign_of_life_s", &PluginReport::sign_of_life_s),
      supplement("last_observation", &PluginReport::last_observation));
}

}  // namespace shapley::protocol
