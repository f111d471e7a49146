#include "health/health.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"

namespace shapley::health {

namespace {

using protocol::DaemonReport;
using protocol::PluginReport;
using Causes = std::vector<Cause>;

constexpr Duration k_hour{3600};
constexpr Duration k_day{86'400};
// A busy slurmctld allows its records to be read within this time.
constexpr Duration k_hangs{300};
// Both times are whole seconds, so clocks that agree to a second differ by less.
constexpr Duration k_clocks_differ{2};
// A slurmctld that changes all the time sends a message with each scan: those of ten minutes are no moment's delay.
constexpr std::uint64_t k_many_messages = 600;
// One slow commit may be a backup that reads the same disk.
constexpr std::uint64_t k_slow_commits = 3;
// A ledger of a busy year takes some gigabytes; this is room for weeks, not for a year.
constexpr std::uint64_t k_little_room = 1'000'000'000;

// What a rule looks at.
struct Subject {
  const DaemonReport& daemon;
  const PluginReport& plugin;
  const std::vector<OtherCluster>& clusters;
  bool is_balanced;
  const Limits& limits;

  [[nodiscard]] Instant now() const { return daemon.now; }
  [[nodiscard]] std::string ago(Instant at) const { return short_duration((now() - at).value) + " ago"; }
};

Causes fine() {
  return {};
}
Causes warning(std::string text) {
  return {{State::warning, std::move(text)}};
}
Causes critical(std::string text) {
  return {{State::critical, std::move(text)}};
}

std::string number_of(std::uint64_t count, std::string_view noun) {
  return grouped(static_cast<std::int64_t>(count), noun);
}

// A report is there, so it answers; judge() has the other verdicts of this rule.
Causes daemon_answers(const Subject& /*of*/) {
  return fine();
}

// A standby has no plugin, but one of the two should have.
Causes plugin_is_connected(const Subject& of) {
  if (is_standby(of.daemon)) {
    if (of.daemon.controller->state != protocol::ControllerState::waits_for_slurmctld) return fine();
    return critical("the plugin is connected to neither controller");
  }
  if (of.plugin.connected) return fine();
  const Instant heard = of.plugin.last_heard_at;
  return critical("the plugin is not connected, " +
                  (heard.value > 0 ? "last heard " + of.ago(heard) : std::string("never heard")));
}

Causes plugin_is_heard(const Subject& of) {
  if (is_standby(of.daemon)) return fine();
  const auto silence = plugin_silence(of.plugin, of.now());
  if (!silence) return fine();
  const std::string cause = fmt::format("the plugin is connected and silent for {}: slurmctld hangs or is very busy",
                                        short_duration(silence->value));
  return *silence > k_hangs ? critical(cause) : warning(cause);
}

// Without a plugin there is nothing that ranks act on.
Causes ranks_are_new(const Subject& of) {
  if (is_standby(of.daemon) || !of.plugin.connected) return fine();
  const Duration age = of.now() - of.daemon.ranks_computed_at;
  return age > of.daemon.stale_after ? critical(fmt::format("the ranks are {} old", short_duration(age.value)))
                                     : fine();
}

Causes books_are_balanced(const Subject& of) {
  return of.is_balanced ? fine() : critical("the books are not balanced");
}

Causes operations_succeed(const Subject& of) {
  Causes causes;
  for (const auto& [operation, cause] : of.daemon.failures)
    causes.push_back({State::critical, fmt::format("{} fails: {}", operation, cause)});
  return causes;
}

Causes books_are_complete(const Subject& of) {
  return of.daemon.rebuild ? warning("the books are being rebuilt; the ranks hold meanwhile") : fine();
}

Causes no_run_was_lost(const Subject& of) {
  if (of.daemon.lost_runs == 0) return fine();
  return warning(number_of(of.daemon.lost_runs, "run") + " lost since the start of shapleyd");
}

// While slurmctld itself was down, no change happened that is not in its records.
Causes all_was_observed(const Subject& of) {
  const protocol::GapsReport& gaps = of.daemon.gaps;
  const bool is_loss = gaps.last_cause != name_of(accounting::GapCause::slurmctld_down);
  if (!is_loss || !gaps.last_begin || !gaps.last_end || of.now() - *gaps.last_end >= k_day) return fine();
  const bool are_lost = gaps.last_cause == name_of(accounting::GapCause::events_lost);
  return warning(fmt::format("{}{} until {}",
                             are_lost ? "the ledger lost what was observed for " : "nothing was observed for ",
                             short_duration((*gaps.last_end - *gaps.last_begin).value), of.ago(*gaps.last_end)));
}

// A plugin that is refused tries again every few seconds.
Causes no_plugin_is_refused(const Subject& of) {
  const auto& refused = of.daemon.cluster.refused;
  if (!refused || of.now() - refused->last_at >= k_hour) return fine();
  return warning(
      fmt::format("the plugin of {}, is refused, last {}",
                  refused->state_location
                      ? "a second slurmctld of this cluster, whose StateSaveLocation is " + *refused->state_location
                      : "another cluster, " + refused->cluster,
                  of.ago(refused->last_at)));
}

Causes slurmctld_kept_its_state(const Subject& of) {
  const auto& loss = of.daemon.state_losses.last;
  if (!loss || of.now() - loss->at >= k_day) return fine();
  return warning(fmt::format("slurmctld lost runs {}: {}", of.ago(loss->at), lost_runs_in_words(loss->runs)));
}

Causes no_message_was_dropped(const Subject& of) {
  if (of.daemon.dropped_observations == 0) return fine();
  return warning(number_of(of.daemon.dropped_observations, "message") +
                 " of a wrong clock dropped since the start of shapleyd");
}

Causes clock_is_right(const Subject& of) {
  Causes causes;
  if (of.daemon.held_observations) causes.push_back({State::warning, "observations wait for the clock"});
  if (of.daemon.clock) causes.push_back({State::warning, "the wall clock is in doubt"});
  return causes;
}

Causes messages_are_booked(const Subject& of) {
  const std::uint64_t backlog = of.plugin.backlog.value_or(0);
  if (backlog <= k_many_messages) return fine();
  return warning(number_of(backlog, "message") + " of the plugin are not in the ledger yet");
}

Causes spool_sufficed(const Subject& of) {
  const std::uint64_t times = of.plugin.dropped_backlogs.value_or(0);
  if (times == 0) return fine();
  return warning(
      fmt::format("the plugin dropped what its spool could not hold, {} since it was loaded: runs may be missing",
                  number_of(times, "time")));
}

Causes commits_are_fast(const Subject& of) {
  const std::uint64_t slow = of.daemon.commits.slow_in_a_row;
  if (slow < k_slow_commits) return fine();
  return warning(
      fmt::format("the last {} took longer than a second each: the ledger's disk is slow", number_of(slow, "commit")));
}

Causes disk_has_room(const Subject& of) {
  const auto& free = of.daemon.storage.free_bytes;
  if (!free || *free >= k_little_room) return fine();
  constexpr std::uint64_t k_megabyte = 1'000'000;
  return warning(
      fmt::format("the ledger's file system has {} MB left", grouped(static_cast<std::int64_t>(*free / k_megabyte))));
}

// One that is silent counts until its last statement is too old.
bool counts(const OtherCluster& other) {
  return other.stated_at.is_known() && !other.is_stale;
}
std::string fault_of(const OtherCluster& other) {
  return other.fault.empty() ? "" : ": " + other.fault;
}

Causes clusters_count(const Subject& of) {
  Causes causes;
  for (const OtherCluster& other : of.clusters) {
    if (counts(other)) continue;
    if (!other.stated_at.is_known()) {
      causes.push_back(
          {State::warning, fmt::format("ranks do not count the cluster {} yet, of which there is no statement{}",
                                       other.cluster, fault_of(other))});
      continue;
    }
    const Duration age = std::max(Duration{0}, of.now() - other.stated_at);
    causes.push_back(
        {State::warning,
         fmt::format("the last statement of the cluster {} is {} old, and what ranks count of it stands still{}",
                     other.cluster, short_duration(age.value), fault_of(other))});
  }
  return causes;
}

// Of a cluster that counts: for the others clusters_count names the same fault.
Causes statements_are_accepted(const Subject& of) {
  Causes causes;
  for (const OtherCluster& other : of.clusters) {
    if (counts(other) && other.is_refused)
      causes.push_back(
          {State::warning, fmt::format("a statement of the cluster {} is refused{}", other.cluster, fault_of(other))});
  }
  return causes;
}

Causes clusters_can_have_done_it(const Subject& of) {
  Causes causes;
  for (const OtherCluster& other : of.clusters) {
    if (!other.jump.empty())
      causes.push_back({State::warning, fmt::format("the cluster {}: {}", other.cluster, other.jump)});
  }
  return causes;
}

Causes clusters_clocks_agree(const Subject& of) {
  Causes causes;
  for (const OtherCluster& other : of.clusters) {
    if (other.ahead && *other.ahead >= k_clocks_differ)
      causes.push_back({State::warning, fmt::format("the clock of the cluster {} is {} ahead of the one here",
                                                    other.cluster, short_duration(other.ahead->value))});
  }
  return causes;
}

Causes configuration_is_in_force(const Subject& of) {
  const auto& at = of.daemon.configuration.refused_at;
  if (!at) return fine();
  const std::string refusal = of.daemon.configuration.refusal.value_or("");
  return warning(fmt::format("the configuration was refused {}{}", of.ago(*at), refusal.empty() ? "" : ": " + refusal));
}

Causes controllers_agree(const Subject& of) {
  const auto& controller = of.daemon.controller;
  return controller && controller->fault ? critical("two controllers: " + *controller->fault) : fine();
}

Causes peer_answers(const Subject& of) {
  const auto& controller = of.daemon.controller;
  return controller && !controller->peer_answers ? warning("the other controller does not answer") : fine();
}

// One that does not answer lags, too.
Causes peer_is_in_step(const Subject& of) {
  const auto& controller = of.daemon.controller;
  if (!controller || !controller->peer_answers || controller->in_step.value_or(true)) return fine();
  return warning("the other controller lags: what is acknowledged is on this host only");
}

template <typename Done>
Causes upkeep(const Subject& of, const std::string& what, const std::optional<Done>& done, Duration limit) {
  if (!done) return warning(fmt::format("no {} is known of", what));
  return of.now() - done->at > limit ? warning(fmt::format("the last {} was ", what) + of.ago(done->at)) : fine();
}

Causes backup_is_new(const Subject& of) {
  return upkeep(of, "backup", of.daemon.backup, *of.limits.backup_age);
}

Causes audit_is_new(const Subject& of) {
  return upkeep(of, "audit", of.daemon.audit, *of.limits.audit_age);
}

// A site that never had papers of a month waits for none.
Causes papers_are_there(const Subject& of) {
  if (!of.daemon.papers) return fine();
  const Instant until = of.daemon.papers->until;
  if (of.now() - period_end(Period::monthly, until) <= *of.limits.papers_delay) return fine();
  const auto month = [](Instant at) { return format_instant(at).substr(0, std::string_view("2026-11").size()); };
  return warning(
      fmt::format("the papers of {} are missing; the last ones are of {}", month(until), month(until - Duration{1})));
}

Causes audit_is_clean(const Subject& of) {
  const auto& audit = of.daemon.audit;
  return audit && !audit->clean ? critical(fmt::format("the last audit, {}, had findings", of.ago(audit->at))) : fine();
}

struct Rule {
  std::string_view name;
  Causes (*look)(const Subject& of);
  std::optional<Duration> Limits::*limit = nullptr;  // if it has one: it is judged only where the limit is given
};

// Of causes that are equally bad, `shapleyctl health` prints those of the first rules first.
constexpr std::array k_rules{
    Rule{"daemon", daemon_answers},
    Rule{"plugin", plugin_is_connected},
    Rule{"plugin_silent", plugin_is_heard},
    Rule{"ranks", ranks_are_new},
    Rule{"books", books_are_balanced},
    Rule{"operations", operations_succeed},
    Rule{"rebuild", books_are_complete},
    Rule{"lost_runs", no_run_was_lost},
    Rule{"observation_gap", all_was_observed},
    Rule{"refused_plugin", no_plugin_is_refused},
    Rule{"state_loss", slurmctld_kept_its_state},
    Rule{"dropped_messages", no_message_was_dropped},
    Rule{"clock", clock_is_right},
    Rule{"backlog", messages_are_booked},
    Rule{"spool", spool_sufficed},
    Rule{"commits", commits_are_fast},
    Rule{"disk", disk_has_room},
    Rule{"cluster_statement", clusters_count},
    Rule{"cluster_refused", statements_are_accepted},
    Rule{"cluster_jump", clusters_can_have_done_it},
    Rule{"cluster_clock", clusters_clocks_agree},
    Rule{"configuration", configuration_is_in_force},
    Rule{"controllers", controllers_agree},
    Rule{"peer", peer_answers},
    Rule{"peer_step", peer_is_in_step},
    Rule{"backup", backup_is_new, &Limits::backup_age},
    Rule{"audit", audit_is_new, &Limits::audit_age},
    Rule{"papers", papers_are_there, &Limits::papers_delay},
    Rule{"audit_findings", audit_is_clean},
};

Expected<Duration> parse_age(std::string_view text, std::string_view option) {
  const WrittenDuration written = split_duration(text);
  std::int64_t count = 0;
  const char* end = written.number.data() + written.number.size();
  const auto [parsed, error] = std::from_chars(written.number.data(), end, count);
  constexpr std::int64_t k_longest = 1'000'000;
  if (error != std::errc() || parsed != end || count <= 0 || count > k_longest) {
    return fail(Errc::invalid_argument,
                std::string(option).append(": '").append(text).append("' is no length of time like 36h or 2d"));
  }
  return Duration{count * written.unit_s};
}

}  // namespace

Expected<Limits> parse_limits(const LimitTexts& texts) {
  Limits limits;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    SHAPLEY_TRY_ASSIGN(limits.*k_limit_options[i].limit, parse_age(texts[i], k_limit_options[i].name));
  }
  return limits;
}

State Verdict::state() const {
  State worst = State::ok;
  for (const Cause& cause : causes) worst = std::max(worst, cause.state);
  return worst;
}

std::vector<Verdict> judge(const Expected<Report>& report, const Limits& limits) {
  if (!report) {
    const State state = report.error().code == Errc::unavailable ? State::critical : State::unknown;
    return {{k_rules.front().name, {{state, report.error().what}}}};
  }
  const Subject subject{report->daemon, report->plugin, report->clusters, report->conservation.holds, limits};
  std::vector<Verdict> verdicts;
  for (const Rule& rule : k_rules) {
    if (rule.limit == nullptr || limits.*rule.limit) verdicts.push_back({rule.name, rule.look(subject)});
  }
  return verdicts;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const Rule& rule : k_rules) names.push_back(rule.name);
  return names;
}

std::optional<Duration> plugin_silence(const PluginReport& plugin, Instant now) {
  constexpr std::int64_t k_missed = 3;
  const std::int64_t period = plugin.sign_of_life_s.value_or(0);
  const Duration silence = now - plugin.last_heard_at;
  if (!plugin.connected || period == 0 || silence.value <= k_missed * period) return std::nullopt;
  return silence;
}

bool is_standby(const DaemonReport& daemon) {
  return daemon.controller && daemon.controller->role == protocol::ControllerRole::standby;
}

std::string lost_runs_in_words(const protocol::LostRunsReport& runs) {
  const auto part = [](std::int64_t count, std::int64_t seconds, const char* fate) {
    if (count == 0) return std::string();
    return fmt::format("{} ({} processor-seconds) {}", grouped(count, "run"), grouped(seconds), fate);
  };
  const std::string closed = part(runs.closed, runs.closed_seconds, "counted until the last look");
  const std::string retracted =
      part(runs.retracted, runs.retracted_seconds, "retracted, begun within seconds before it");
  return closed + (closed.empty() || retracted.empty() ? "" : ", ") + retracted;
}

}  // namespace shapley::health
