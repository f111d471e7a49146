#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "daemon/requests/handlers.hpp"
#include "daemon/version.hpp"

namespace shapley::daemon {

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> file_bytes(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  // SQLite removes its log when no process uses it.
  if (error == std::errc::no_such_file_or_directory) return 0;
  return error ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

protocol::CommitsReport commits_report(const CommitTimes& times) {
  protocol::CommitsReport report{.count = times.count(),
                                 .seconds = times.seconds(),
                                 .last_s = times.last_seconds(),
                                 .slow_in_a_row = times.slow_in_a_row(),
                                 .buckets = {}};
  for (std::size_t i = 0; i < CommitTimes::k_bounds.size(); ++i) {
    report.buckets.emplace_back(CommitTimes::k_bounds[i], times.counts()[i]);
  }
  return report;
}

// The ledger's file, SQLite's log beside it, and what the file system that holds them has left for shapleyd's user.
// nullopt: cannot be said. Three system calls.
protocol::StorageReport storage_report(const fs::path& ledger) {
  std::error_code error;
  const fs::space_info space = fs::space(ledger, error);
  return {.ledger_bytes = file_bytes(ledger),
          .wal_bytes = file_bytes(fs::path(ledger.string() + "-wal")),
          .free_bytes = error ? std::nullopt : std::optional<std::uint64_t>(space.available)};
}

// Of all that the ledger has on record. Times when slurmctld itself was down are among them: `unobserved` is of the
// other ones.
protocol::GapsReport gaps_report(const Books& books) {
  const std::vector<accounting::ObservationGap> gaps = books.state().observation_gaps();
  protocol::GapsReport report;
  for (const accounting::ObservationGap& gap : gaps) {
    report.all += gap.end - gap.begin;
    if (gap.cause != accounting::GapCause::slurmctld_down) report.unobserved += gap.end - gap.begin;
    // That of a wrong clock is booked in parts, which are one.
    const bool goes_on = gap.cause == accounting::GapCause::wrong_clock && report.last_end == gap.begin;
    if (!goes_on) {
      ++report.count;
      report.last_begin = gap.begin;
    }
    report.last_end = gap.end;
    report.last_cause = name_of(gap.cause);
  }
  return report;
}

// Counts all losses in the ledger, and describes the last one.
protocol::StateLossesReport losses_report(const Books& books) {
  const std::vector<accounting::StateLost> losses = books.state().state_losses();
  protocol::StateLossesReport report{.count = losses.size()};
  for (const accounting::StateLost& loss : losses) {
    const protocol::LostRunsReport runs{.closed = loss.closed,
                                        .closed_seconds = loss.closed_seconds,
                                        .retracted = loss.retracted,
                                        .retracted_seconds = loss.retracted_seconds};
    report.runs.closed += runs.closed;
    report.runs.closed_seconds += runs.closed_seconds;
    report.runs.retracted += runs.retracted;
    report.runs.retracted_seconds += runs.retracted_seconds;
    report.last = {.at = loss.at, .seen = loss.seen, .runs = runs};
  }
  return report;
}

// The name, and the last feeder of another cluster that was refused.
protocol::ClusterReport cluster_report(const ClusterName& cluster) {
  protocol::ClusterReport report{.refusals = cluster.refusals()};
  if (!cluster.name().empty()) report.name = cluster.name();
  if (const auto& refused = cluster.refused()) {
    report.refused = {
        .cluster = refused->cluster, .times = refused->times, .first_at = refused->first, .last_at = refused->last};
    if (!refused->state_location.empty()) report.refused->state_location = refused->state_location;
  }
  return report;
}

}  // namespace

protocol::ConfigurationReport configuration_report(const Service& service) {
  const InForce& in_force = service.in_force();
  protocol::ConfigurationReport report{.file = service.options().configuration_file.string(),
                                       .hash = in_force.hash(),
                                       .loaded_at = in_force.loaded_at()};
  if (const auto& refusal = in_force.refusal()) {
    report.refused_at = refusal->at;
    report.refusal = refusal->why;
  }
  return report;
}

protocol::DaemonReport daemon_report(Service& service, Instant now) {
  const config::Configuration& c = service.site().configuration;
  const Books& books = service.books();
  protocol::DaemonReport report{
      .version = std::string(k_version_text),
      .pid = ::getpid(),
      .started_at = service.started_at(),
      .now = now,
      .ledger = c.ledger.string(),
      .socket = c.socket.string(),
      .configuration = configuration_report(service),
      .events = books.last_sequence(),
      .events_since_checkpoint = books.events_since_checkpoint(),
      .replayed_at_start = books.replayed_at_start(),
      .rebuilds = books.rebuilds(),
      .dropped_observations = service.intake().dropped(),
      .lost_runs = service.intake().lost_runs(),
      .hindsight = {.bytes = books.hindsight_memory().bytes, .bound_bytes = books.hindsight_memory().bound},
      .gaps = gaps_report(books),
      .state_losses = losses_report(books),
      .cluster = cluster_report(service.cluster()),
      .mode = std::string(name_of(c.mode)),
      .order = std::string(name_of(c.order)),
      .rank_generation = service.ranks().generation,
      .ranks_computed_at = Instant{service.ranks().computed_at},
      .stale_after = c.stale_after,
      .commits = commits_report(books.commit_times()),
      .storage = storage_report(c.ledger),
      .failures = service.failures(),
      .backup = service.upkeep().backup,
      .audit = service.upkeep().audit,
      .papers = service.upkeep().papers,
      .queries = service.query_counts()};
  if (const auto incomplete = books.incomplete()) {
    report.rebuild = {.since = incomplete->since, .percent = incomplete->percent};
  }
  if (const TrustedClock* clock = service.clock(); clock != nullptr && clock->doubt()) {
    report.clock = {.since = clock->doubt()->since, .ahead = clock->doubt()->ahead, .exact = clock->doubt()->is_exact};
  }
  if (const auto held = service.intake().held()) {
    report.held_observations = {.since = held->since,
                                .messages = held->frames,
                                .observed_from = held->observed_from,
                                .observed_to = held->observed_to};
  }
  if (const auto& kept = service.privacy()) {
    report.privacy = {.jobs = kept->privacy.jobs, .usage = kept->privacy.usage, .told_at = kept->told_at};
  }
  if (service.controllers() != nullptr) report.controller = service.controllers()->report();
  return report;
}

protocol::PluginReport plugin_report(const Service& service, Instant now) {
  const auto& feeder = service.feeder();
  if (!feeder) return {};
  return {.connected = feeder->connected,
          .last_heard_at = feeder->last_heard,
          .program = feeder->hello.program,
          .cluster = feeder->hello.cluster,
          .slurm_version = feeder->hello.slurm_version,
          .interval_ms = feeder->hello.interval_ms,
          .min_job_age_s = feeder->hello.min_job_age_s,
          .backlog = feeder->backlog(service.intake().acknowledged(feeder->hello.instance)),
          .dropped_backlogs = feeder->hello.dropped_backlogs,
          .age_s = std::max<std::int64_t>(0, now.value - feeder->last_heard.value),
          .sign_of_life_s = feeder->hello.sign_of_life_s,
          .last_observation = service.intake().last_observation()};
}

}  // namespace shapley::daemon
