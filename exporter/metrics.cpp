#include "exporter/metrics.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "accounting/estimators/table.hpp"
#include "base/json.hpp"
#include "exporter/other_clusters.hpp"
#include "exporter/samples.hpp"
#include "exporter/users.hpp"

namespace shapley::exporter {

namespace {

using ledger::OrganizationRow;
using ledger::RankedRow;
using ledger::StatusReport;
using ledger::WorthComparison;
using ledger::WorthReport;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using protocol::ControllerReport;
using protocol::DaemonReport;
using protocol::LastAudit;
using protocol::LastBackup;
using protocol::LostRunsReport;
using protocol::PluginReport;

// `get`: a member, or a function of the report.
template <typename Get>
Fill daemon(Get get) {
  return figure([get](const Status& status) { return std::invoke(get, status.said.daemon); });
}
template <typename Get>
Fill plugin(Get get) {
  return figure([get](const Status& status) { return std::invoke(get, status.said.plugin); });
}

// A member of what may not be there.
template <typename Part, typename Type>
Fill within(std::optional<Part> DaemonReport::*part, Type Part::*member) {
  return daemon([=](const DaemonReport& report) {
    return report.*part ? std::optional<Type>((*(report.*part)).*member) : std::nullopt;
  });
}

struct NamedText {
  const char* label;
  std::function<std::string(const Status&)> text;
};

// "": there is one only.
template <typename Word>
auto of_controller(Word ControllerReport::*member) {
  return [=](const Status& status) {
    const auto& controller = status.said.daemon.controller;
    return controller ? std::string(name_of((*controller).*member)) : std::string();
  };
}

// A 1 whose labels carry the texts; nothing without the first text.
Fill info(std::vector<NamedText> texts) {
  return [texts = std::move(texts)](const Status& status, MetricFamily& family) {
    if (texts.front().text(status).empty()) return;
    Labels labels;
    for (const NamedText& each : texts) labels.push_back({each.label, each.text(status)});
    add(family, 1, std::move(labels));
  };
}

// Of each organization: a member, or a function of its row.
template <typename Get>
Fill organizations(Get get, double factor = 1) {
  return [=](const Status& status, MetricFamily& family) {
    for (const OrganizationRow& row : status.report.organizations) {
      if (const auto found = figure_of(std::invoke(get, row)))
        add(family, *found * factor, {{"organization", row.is.name}});
    }
  };
}
template <typename Type>
Fill organizations(Type RankedRow::*member, double factor = 1) {
  return organizations([=](const OrganizationRow& row) { return row.is.*member; }, factor);
}

void phi_by_estimator(const Status& status, MetricFamily& family) {
  for (const OrganizationRow& row : status.report.organizations) {
    for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
      const auto found = figure_of(row.phi_by[estimator]);
      if (!found) continue;
      add(family, *found, {{"organization", row.is.name}, {"estimator", std::string(accounting::name_of(estimator))}});
    }
  }
}

// They add up to what its nodes have.
void use_of_processors(const Status& status, MetricFamily& family) {
  for (const OrganizationRow& row : status.report.organizations) {
    const RankedRow& is = row.is;
    const ProcessorMillionths own = is.used.count - is.borrowed.count;
    const ProcessorMillionths idle = is.owned.count - own - is.lent.count;
    const auto sample = [&](const char* state, ProcessorMillionths processors) {
      add(family, from_micro(processors.value), {{"organization", is.name}, {"state", state}});
    };
    sample("own", own);
    sample("lent", is.lent.count);
    sample("idle_wanted", is.idle_wanted.count);
    sample("idle_not_wanted", idle - is.idle_wanted.count);
    sample("down", is.down.count);
  }
}

// Of those that are kept; 1 while there is something to catch up with.
void estimators_behind(const Status& status, MetricFamily& family) {
  const auto lists = [](const std::vector<std::string>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
  };
  for (const std::string_view name : accounting::estimator_names()) {
    if (lists(status.report.not_kept, name)) continue;
    add(family, lists(status.report.behind, name) ? 1 : 0, {{"estimator", std::string(name)}});
  }
}

// Of runs that slurmctld lost.
Fill by_outcome(std::int64_t LostRunsReport::*closed, std::int64_t LostRunsReport::*retracted) {
  return [=](const Status& status, MetricFamily& family) {
    const LostRunsReport& runs = status.said.daemon.state_losses.runs;
    add(family, static_cast<double>(runs.*closed), {{"outcome", "closed"}});
    add(family, static_cast<double>(runs.*retracted), {{"outcome", "retracted"}});
  };
}

// 2: all, 1: pairs, 0: none.
int kept_coalitions(const Status& status) {
  const auto& bounded = status.report.hindsight_bounded;
  if (!bounded) return 2;
  return bounded->coalitions == accounting::Coalitions::pairs ? 1 : 0;
}

void commit_times(const Status& status, MetricFamily& family) {
  const protocol::CommitsReport& commits = status.said.daemon.commits;
  ClientMetric metric;
  metric.histogram.sample_count = commits.count;
  metric.histogram.sample_sum = commits.seconds;
  std::uint64_t below = 0;
  for (const auto& [bound, within] : commits.buckets) {
    below += within;
    metric.histogram.bucket.push_back({.cumulative_count = below, .upper_bound = bound});
  }
  family.metric.push_back(std::move(metric));
}

constexpr auto k_gauge = MetricType::Gauge;
constexpr auto k_counter = MetricType::Counter;
constexpr std::string_view k_organization = "organization";

// Of what cooperation is worth; nothing while that is not known.
const WorthReport* worth_of(const Status& status) {
  const auto& worth = status.report.worth;
  return worth && *worth ? &**worth : nullptr;
}

// Of organizations that have offered or asked something.
template <typename Type>
Fill worth_of_organizations(Type WorthComparison::*member, double factor = 1) {
  return [=](const Status& status, MetricFamily& family) {
    const WorthReport* worth = worth_of(status);
    if (worth == nullptr) return;
    for (const ledger::WorthRow& row : worth->organizations) {
      if (const auto found = figure_of(row.is.*member)) add(family, *found * factor, {{"organization", row.name}});
    }
  };
}

std::optional<double> gain_together(const Status& status) {
  const WorthReport* worth = worth_of(status);
  return worth != nullptr ? std::optional(worth->together.is.gain_core_hours * k_seconds_per_hour) : std::nullopt;
}

std::optional<double> gain_by_leaving(const Status& status) {
  const WorthReport* worth = worth_of(status);
  if (worth == nullptr || !worth->leaving) return std::nullopt;
  return worth->leaving->is.gain_core_hours * k_seconds_per_hour;
}

std::vector<Metric> worth_metrics() {
  return {
      {"shapley_organization_alone_psi_core_seconds_squared", k_gauge, k_organization,
       "Utility that its jobs would have had this period on its own nodes alone; what is not known to have ended never "
       "ends",
       worth_of_organizations(&WorthComparison::alone)},
      {"shapley_organization_alone_core_seconds", k_gauge, k_organization,
       "Work that its jobs would have done this period on its own nodes alone",
       worth_of_organizations(&WorthComparison::alone_work)},
      {"shapley_organization_cooperation_gain_core_seconds", k_gauge, k_organization,
       "What it has got more than it would have got alone, on average this period; negative: less",
       worth_of_organizations(&WorthComparison::gain_core_hours, k_seconds_per_hour)},
      {"shapley_organization_alone_provisional", k_gauge, k_organization,
       "1 while an end that is not known yet can change what it would have got alone",
       worth_of_organizations(&WorthComparison::provisional)},
      {"shapley_cooperation_gain_core_seconds", k_gauge, "",
       "What all have got more than each would have got alone, on average this period", figure(gain_together)},
      {"shapley_leaving_gain_core_seconds", k_gauge, "",
       "The most that organizations would have gained by leaving together, on average this period; negative: lost",
       figure(gain_by_leaving)},
  };
}

std::vector<Metric> organization_metrics() {
  return {
      {"shapley_organization_standing_core_seconds", k_gauge, k_organization,
       "What the others owe it on average this period, (phi - psi) / elapsed; negative: it owes. 3600 are a core-hour, "
       "or a billing-hour (charge)",
       organizations(&RankedRow::standing_core_hours, k_seconds_per_hour)},
      {"shapley_organization_psi_core_seconds_squared", k_gauge, k_organization,
       "Utility psi of its jobs this period: what it got", organizations(&OrganizationRow::psi)},
      {"shapley_organization_phi_core_seconds_squared", k_gauge, "organization, estimator",
       "Contribution phi this period by each estimator: what it gave", phi_by_estimator},
      {"shapley_estimator_behind", k_gauge, "estimator",
       "1 while it has facts to catch up with; if it ranks, its stand-in does meanwhile", estimators_behind},
      {"shapley_hindsight_coalitions", k_gauge, "",
       "Which coalitions hindsight keeps within its memory: 2 all, 1 pairs, 0 none, so that its stand-in ranks",
       figure(kept_coalitions)},
      {"shapley_hindsight_memory_bytes", k_gauge, "", "Memory that hindsight takes",
       daemon([](const auto& report) { return report.hindsight.bytes; })},
      {"shapley_hindsight_memory_bound_bytes", k_gauge, "", "Memory that hindsight may take",
       daemon([](const auto& report) { return report.hindsight.bound_bytes; })},
      {"shapley_organization_got_core_seconds", k_gauge, k_organization, "Work of its jobs this period",
       organizations(&OrganizationRow::got)},
      {"shapley_organization_given_core_seconds", k_gauge, k_organization,
       "Work credited to it this period, by the estimator in force", organizations(&OrganizationRow::given)},
      {"shapley_organization_owned_processors", k_gauge, k_organization, "Processors that it owns now",
       organizations(&RankedRow::owned)},
      {"shapley_organization_used_processors", k_gauge, k_organization, "Processors that its jobs use now",
       organizations(&RankedRow::used)},
      {"shapley_organization_lent_processors", k_gauge, k_organization, "Its processors that others use now",
       organizations(&RankedRow::lent)},
      {"shapley_organization_borrowed_processors", k_gauge, k_organization,
       "Processors that its jobs use now beyond its own", organizations(&RankedRow::borrowed)},
      {"shapley_organization_waiting_processors", k_gauge, k_organization,
       "Processors that its startable pending jobs ask for", organizations(&RankedRow::waiting)},
      {"shapley_organization_processors", k_gauge, "organization, state",
       "What its processors do: own, lent, idle_wanted (startable jobs ask for as much), idle_not_wanted, down (also "
       "drained)",
       use_of_processors},
      {"shapley_organization_running_jobs", k_gauge, k_organization, "Its jobs that run",
       organizations(&RankedRow::running_jobs)},
      {"shapley_organization_waiting_jobs", k_gauge, k_organization,
       "Its pending jobs that could start now, each task of an array counted", organizations(&RankedRow::waiting_jobs)},
      {"shapley_organization_no_start_since_timestamp_seconds", k_gauge, k_organization,
       "Since when it has startable jobs and has had no start; absent without such jobs",
       organizations(&RankedRow::no_start_since)},
      {"shapley_organization_rank", k_gauge, k_organization, "Its rank: jobs of 1 go first",
       organizations(&RankedRow::rank)},
      {"shapley_organizations", k_gauge, "", "Organizations of the books, those that --top leaves out, too",
       figure(&Status::organizations)},
  };
}

std::vector<Metric> daemon_metrics() {
  return {
      {"shapley_build_info", k_gauge, "version", "shapleyd's version; always 1",
       info({{"version", [](const Status& status) { return status.said.daemon.version; }}})},
      {"shapley_mode_info", k_gauge, "mode, order, contribution",
       "mode, order and contribution of the configuration in force; always 1",
       info({{"mode", [](const Status& status) { return status.said.daemon.mode; }},
             {"order", [](const Status& status) { return status.said.daemon.order; }},
             {"contribution", [](const Status& status) { return status.report.contribution; }}})},
      {"shapley_start_time_seconds", k_gauge, "", "When shapleyd started", daemon(&DaemonReport::started_at)},
      {"shapley_ranks_computed_timestamp_seconds", k_gauge, "",
       "When the ranks in force were computed: seconds ago, unless the books are rebuilt",
       daemon(&DaemonReport::ranks_computed_at)},
      {"shapley_ranks_stale_after_seconds", k_gauge, "", "How long the plugin lets ranks hold without shapleyd",
       daemon(&DaemonReport::stale_after)},
      {"shapley_ranks_act", k_gauge, "", "1: mode priorities, 0: mode observe",
       figure([](const Status& status) { return status.report.ranks_act; })},
      {"shapley_rebuilds_total", k_counter, "", "Rebuilds of the books", daemon(&DaemonReport::rebuilds)},
      {"shapley_lost_runs_total", k_counter, "", "Runs that provably took place unseen",
       daemon(&DaemonReport::lost_runs)},
      {"shapley_dropped_observations_total", k_counter, "", "Messages dropped because a wrong clock made them",
       daemon(&DaemonReport::dropped_observations)},
      {"shapley_held_observations", k_gauge, "", "Messages that wait until the clock is right",
       daemon([](const auto& report) {
         const auto& held = report.held_observations;
         return held ? held->messages : 0;
       })},
      {"shapley_clock_ahead_seconds", k_gauge, "",
       "Of the time that shapleyd trusts; 0 while the clock is not in doubt",
       daemon([](const auto& report) { return report.clock ? report.clock->ahead : Duration{0}; })},
      {"shapley_observation_gaps_total", k_counter, "",
       "Times in which slurmctld's records were not observed, of the whole ledger",
       daemon([](const auto& report) { return report.gaps.count; })},
      {"shapley_observation_gaps_seconds_total", k_counter, "", "How long they were together",
       daemon([](const auto& report) { return report.gaps.all; })},
      {"shapley_observation_unobserved_seconds_total", k_counter, "",
       "How long those were together in which slurmctld ran",
       daemon([](const auto& report) { return report.gaps.unobserved; })},
      {"shapley_observation_gap_end_timestamp_seconds", k_gauge, "", "When the last of them ended",
       daemon([](const auto& report) { return report.gaps.last_end; })},
      {"shapley_state_losses_total", k_counter, "", "Times when slurmctld came back without runs, of the whole ledger",
       daemon([](const auto& report) { return report.state_losses.count; })},
      {"shapley_state_lost_runs_total", k_counter, "outcome",
       "Those runs: closed where they were seen last, or retracted",
       by_outcome(&LostRunsReport::closed, &LostRunsReport::retracted)},
      {"shapley_state_lost_core_seconds_total", k_counter, "outcome", "What was booked of them before that",
       by_outcome(&LostRunsReport::closed_seconds, &LostRunsReport::retracted_seconds)},
      {"shapley_state_loss_timestamp_seconds", k_gauge, "", "When that was learned last",
       daemon([](const auto& report) {
         const auto& last = report.state_losses.last;
         return last ? std::optional(last->at) : std::nullopt;
       })},
      {"shapley_queries_waiting", k_gauge, "", "Readers' queries that wait",
       daemon([](const auto& report) { return report.queries.waiting; })},
      {"shapley_queries_answered_total", k_counter, "", "Readers' queries answered",
       daemon([](const auto& report) { return report.queries.answered; })},
      {"shapley_queries_dropped_total", k_counter, "", "Queries whose clients went before the answer",
       daemon([](const auto& report) { return report.queries.dropped; })},
  };
}

std::vector<Metric> ledger_metrics() {
  return {
      {"shapley_ledger_events_total", k_counter, "", "Events of the ledger", daemon(&DaemonReport::events)},
      {"shapley_ledger_size_bytes", k_gauge, "", "The ledger's file",
       daemon([](const auto& report) { return report.storage.ledger_bytes; })},
      {"shapley_ledger_log_size_bytes", k_gauge, "", "SQLite's log beside it",
       daemon([](const auto& report) { return report.storage.wal_bytes; })},
      {"shapley_ledger_filesystem_free_bytes", k_gauge, "", "What its file system has left for shapleyd",
       daemon([](const auto& report) { return report.storage.free_bytes; })},
      {"shapley_commit_duration_seconds", MetricType::Histogram, "", "How long commits take", commit_times},
      {"shapley_events_since_checkpoint", k_gauge, "", "Events that a restart now would have to replay",
       daemon(&DaemonReport::events_since_checkpoint)},
      {"shapley_last_backup_timestamp_seconds", k_gauge, "", "The last backup that shapleyctl reported; absent: none",
       within(&DaemonReport::backup, &LastBackup::at)},
      {"shapley_last_backup_events", k_gauge, "", "The last event of that backup",
       within(&DaemonReport::backup, &LastBackup::sequence)},
      {"shapley_last_audit_timestamp_seconds", k_gauge, "", "The last audit that shapleyctl reported; absent: none",
       within(&DaemonReport::audit, &LastAudit::at)},
      {"shapley_last_audit_events", k_gauge, "", "The last event that it checked",
       within(&DaemonReport::audit, &LastAudit::sequence)},
      {"shapley_configuration_info", k_gauge, "hash", "SHA-256 of the configuration in force; always 1",
       info({{"hash", [](const Status& status) { return status.said.daemon.configuration.hash; }}})},
      {"shapley_configuration_loaded_timestamp_seconds", k_gauge, "", "When it was taken over",
       daemon([](const auto& report) { return report.configuration.loaded_at; })},
      {"shapley_configuration_refused_timestamp_seconds", k_gauge, "", "When it was refused; absent: it was not",
       daemon([](const auto& report) { return report.configuration.refused_at; })},
  };
}

std::vector<Metric> plugin_metrics() {
  return {
      {"shapley_plugin_connected", k_gauge, "", "1 while slurmctld's plugin is connected",
       plugin(&PluginReport::connected)},
      {"shapley_plugin_info", k_gauge, "program, cluster, slurm_version", "As the plugin reported itself; always 1",
       info({{"program", [](const Status& status) { return status.said.plugin.program.value_or(""); }},
             {"cluster", [](const Status& status) { return status.said.plugin.cluster.value_or(""); }},
             {"slurm_version", [](const Status& status) { return status.said.plugin.slurm_version.value_or(""); }}})},
      {"shapley_plugin_backlog_messages", k_gauge, "",
       "Messages, spooled ones included, that are known to exist and are not in the ledger yet",
       plugin(&PluginReport::backlog)},
      {"shapley_plugin_dropped_backlogs_total", k_counter, "",
       "How often the plugin dropped such messages, because they exceeded the bound of its spool",
       plugin(&PluginReport::dropped_backlogs)},
      {"shapley_controller_info", k_gauge, "role, state", "Of two controllers: what this one does; always 1",
       info({{"role", of_controller(&ControllerReport::role)}, {"state", of_controller(&ControllerReport::state)}})},
      {"shapley_controller_events_behind", k_gauge, "", "Events that a standby lacks",
       within(&DaemonReport::controller, &ControllerReport::behind)},
      {"shapley_controller_in_step", k_gauge, "",
       "1 while the plugin's messages are acknowledged when they are on both hosts",
       within(&DaemonReport::controller, &ControllerReport::in_step)},
      {"shapley_controller_acknowledged_out_of_step_total", k_counter, "",
       "Messages that were acknowledged when they were on this host only",
       within(&DaemonReport::controller, &ControllerReport::acknowledged_alone)},
  };
}

}  // namespace

std::span<const Metric> status_metrics() {
  static const std::vector<Metric> table = [] {
    std::vector<Metric> all;
    for (auto part : {organization_metrics(), worth_metrics(), user_metrics(), other_cluster_metrics(),
                      daemon_metrics(), ledger_metrics(), plugin_metrics()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

void keep_top(Status& status, std::size_t top) {
  std::vector<OrganizationRow>& rows = status.report.organizations;
  if (top == 0 || rows.size() <= top) return;
  std::vector<std::pair<double, std::string>> order;
  for (const OrganizationRow& row : rows) order.emplace_back(-row.is.owned.number(), row.is.name);
  std::ranges::sort(order);
  std::set<std::string> kept;
  for (std::size_t i = 0; i < top; ++i) kept.insert(order[i].second);
  std::erase_if(rows, [&](const OrganizationRow& row) { return !kept.contains(row.is.name); });
  if (worth_of(status) == nullptr) return;
  std::erase_if((*status.report.worth)->organizations,
                [&](const ledger::WorthRow& row) { return !kept.contains(row.name); });
}

Expected<Status> read_status(const nlohmann::json& answer) {
  const auto otherwise = [](const Error& error) {
    return fail(Errc::protocol, "shapleyd answers otherwise than this shapley-exporter reads: " + error.what);
  };
  auto said = from_json<health::Report>(answer);
  if (!said) return otherwise(said.error());
  auto report = from_json<StatusReport>(answer);
  if (!report) return otherwise(report.error());
  const std::size_t organizations = report->organizations.size();
  return Status{.report = *std::move(report), .said = *std::move(said), .organizations = organizations};
}

std::vector<MetricFamily> families_of(const Status& status) {
  std::vector<MetricFamily> families;
  for (const Metric& metric : status_metrics()) {
    MetricFamily family = without_samples(metric);
    metric.fill(status, family);
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  return families;
}

}  // namespace shapley::exporter
