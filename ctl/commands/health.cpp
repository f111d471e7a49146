#include "ctl/commands/health.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/health.hpp"
#include "ctl/output/other_clusters.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr Duration k_hour{3600};
constexpr Duration k_day{86'400};
// A busy slurmctld allows its records to be read within this time.
constexpr Duration k_hangs{300};
// Both times are whole seconds, so clocks that agree to a second differ by less.
constexpr Duration k_clocks_differ{2};

// The causes against a good state, in the order of the status's members.
class Judgement {
 public:
  Judgement(const protocol::DaemonReport& daemon, const protocol::PluginReport& plugin, const HealthLimits& limits)
      : daemon_(daemon), plugin_(plugin), now_(daemon.now), limits_(limits) {}

  Health health(const ledger::StatusReport& status) {
    look_at_plugin();
    look_at_books(status.conservation.holds);
    look_at_observations();
    for (const ledger::OtherClusterReport& other : status.clusters) look_at_cluster(other);
    if (const auto& at = daemon_.configuration.refused_at) {
      const std::string refusal = daemon_.configuration.refusal.value_or("");
      warning("the configuration was refused " + ago(*at) + (refusal.empty() ? "" : ": " + refusal));
    }
    look_at_pair();
    look_at_upkeep("backup", daemon_.backup, limits_.backup_age);
    look_at_upkeep("audit", daemon_.audit, limits_.audit_age);
    look_at_papers();
    if (daemon_.audit && !daemon_.audit->clean)
      critical("the last audit, " + ago(daemon_.audit->at) + ", had findings");
    Health health{.performance = performance()};
    if (!critical_.empty()) {
      health.state = HealthState::critical;
    } else if (!warnings_.empty()) {
      health.state = HealthState::warning;
    } else {
      health.causes = {is_standby() ? "standby follows" : "plugin connected, mode " + daemon_.mode};
    }
    std::ranges::move(critical_, std::back_inserter(health.causes));
    std::ranges::move(warnings_, std::back_inserter(health.causes));
    return health;
  }

 private:
  void critical(std::string cause) { critical_.push_back(std::move(cause)); }
  void warning(std::string cause) { warnings_.push_back(std::move(cause)); }
  [[nodiscard]] bool is_standby() const {
    return daemon_.controller && daemon_.controller->role == protocol::ControllerRole::standby;
  }
  [[nodiscard]] std::string ago(Instant at) const { return short_duration((now_ - at).value) + " ago"; }

  void look_at_plugin() {
    // A standby has no plugin, but one of the two should have.
    if (is_standby()) {
      if (daemon_.controller->state == protocol::ControllerState::waits_for_slurmctld)
        critical("the plugin is connected to neither controller");
      return;
    }
    if (!plugin_.connected) {
      const Instant heard = plugin_.last_heard_at;
      return critical("the plugin is not connected, " + (heard.value > 0 ? "last heard " + ago(heard) : "never heard"));
    }
    if (const auto silence = plugin_silence(plugin_, now_)) {
      const std::string cause = "the plugin is connected and silent for " + short_duration(silence->value) +
                                ": slurmctld hangs or is very busy";
      if (*silence > k_hangs) return critical(cause);
      warning(cause);
    }
    const Duration age = now_ - daemon_.ranks_computed_at;
    if (age > daemon_.stale_after) critical("the ranks are " + short_duration(age.value) + " old");
  }

  void look_at_books(bool is_balanced) {
    if (!is_balanced) critical("the books are not balanced");
    for (const auto& [operation, cause] : daemon_.failures) critical(operation + " fails: " + cause);
    if (daemon_.rebuild) warning("the books are being rebuilt; the ranks hold meanwhile");
  }

  void look_at_observations() {
    if (daemon_.lost_runs > 0) warning(counted(daemon_.lost_runs, "run") + " lost since the start of shapleyd");
    // While slurmctld itself was down, no change happened that is not in its records.
    const protocol::GapsReport& gaps = daemon_.gaps;
    const bool is_loss = gaps.last_cause != name_of(accounting::GapCause::slurmctld_down);
    if (is_loss && gaps.last_begin && gaps.last_end && now_ - *gaps.last_end < k_day) {
      warning("nothing was observed for " + short_duration((*gaps.last_end - *gaps.last_begin).value) + " until " +
              ago(*gaps.last_end));
    }
    // The plugin tries again every few seconds.
    if (const auto& refused = daemon_.cluster.refused; refused && now_ - refused->last_at < k_hour) {
      warning("the plugin of " +
              (refused->state_location
                   ? "a second slurmctld of this cluster, whose StateSaveLocation is " + *refused->state_location
                   : "another cluster, " + refused->cluster) +
              ", is refused, last " + ago(refused->last_at));
    }
    if (const auto& loss = daemon_.state_losses.last; loss && now_ - loss->at < k_day)
      warning("slurmctld lost runs " + ago(loss->at) + ": " + lost_runs_in_words(loss->runs));
    if (daemon_.dropped_observations > 0)
      warning(counted(daemon_.dropped_observations, "message") +
              " of a wrong clock dropped since the start of shapleyd");
    if (daemon_.held_observations) warning("observations wait for the clock");
    if (daemon_.clock) warning("the wall clock is in doubt");
  }

  // Of a consortium. One that is silent counts until its last statement is too old.
  void look_at_cluster(const ledger::OtherClusterReport& other) {
    const std::string why = other.fault.empty() ? "" : ": " + other.fault;
    if (!other.stated_at.is_known()) {
      warning("ranks do not count the cluster " + other.cluster + " yet, of which there is no statement" + why);
    } else if (other.is_stale) {
      warning("the last statement of the cluster " + other.cluster + " is " +
              short_duration(statement_age(other, now_).value) + " old, and what ranks count of it stands still" + why);
    } else if (other.is_refused) {
      warning("a statement of the cluster " + other.cluster + " is refused" + why);
    }
    if (other.ahead && *other.ahead >= k_clocks_differ) {
      warning("the clock of the cluster " + other.cluster + " is " + short_duration(other.ahead->value) +
              " ahead of the one here");
    }
  }

  void look_at_pair() {
    if (!daemon_.controller) return;
    if (const auto& fault = daemon_.controller->fault) critical("two controllers: " + *fault);
    if (!daemon_.controller->peer_answers) {
      warning("the other controller does not answer");
    } else if (!daemon_.controller->in_step.value_or(true)) {
      warning("the other controller lags: what is acknowledged is on this host only");
    }
  }

  template <typename Done>
  void look_at_upkeep(const std::string& what, const std::optional<Done>& done,
                      const std::optional<std::int64_t>& limit) {
    if (!limit) return;
    if (!done) {
      warning("no " + what + " is known of");
    } else if (now_ - done->at > Duration{*limit}) {
      warning("the last " + what + " was " + ago(done->at));
    }
  }

  // A site that never had papers of a month waits for none.
  void look_at_papers() {
    if (!limits_.papers_delay || !daemon_.papers) return;
    const Instant until = daemon_.papers->until;
    if (now_ - period_end(Period::monthly, until) <= Duration{*limits_.papers_delay}) return;
    const auto month = [](Instant at) { return format_instant(at).substr(0, std::string_view("2026-11").size()); };
    warning("the papers of " + month(until) + " are missing; the last ones are of " + month(until - Duration{1}));
  }

  [[nodiscard]] static std::string counted(std::uint64_t count, std::string_view noun) {
    return grouped(static_cast<std::int64_t>(count), noun);
  }

  // label=value[unit]; a counter's unit is c. What is not known is left out.
  [[nodiscard]] std::string performance() const {
    std::string text = "plugin_connected=" + std::to_string(plugin_.connected ? 1 : 0);
    const auto add = [&](const char* label, const auto& value, const char* unit) {
      if (const json number = json_of(value); !number.is_null())
        text += ' ' + std::string(label) + '=' + number.dump() + unit;
    };
    add("ranks_age", std::max(Duration{0}, now_ - daemon_.ranks_computed_at), "s");
    add("events", daemon_.events, "c");
    add("backlog", plugin_.backlog, "");
    add("lost_runs", daemon_.lost_runs, "c");
    add("commit", daemon_.commits.last_s, "s");
    add("ledger", daemon_.storage.ledger_bytes, "B");
    add("log", daemon_.storage.wal_bytes, "B");
    add("free", daemon_.storage.free_bytes, "B");
    if (daemon_.backup) add("backup_age", now_ - daemon_.backup->at, "s");
    if (daemon_.audit) add("audit_age", now_ - daemon_.audit->at, "s");
    if (daemon_.papers) add("papers_age", now_ - daemon_.papers->until, "s");
    return text;
  }

  const protocol::DaemonReport& daemon_;
  const protocol::PluginReport& plugin_;
  Instant now_;
  HealthLimits limits_;
  std::vector<std::string> critical_;
  std::vector<std::string> warnings_;
};

constexpr std::array k_states{"OK", "WARNING", "CRITICAL", "UNKNOWN"};  // by HealthState

Expected<std::optional<std::int64_t>> age_of(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  const WrittenDuration written = split_duration(text);
  std::int64_t count = 0;
  const char* end = written.number.data() + written.number.size();
  const auto [parsed, error] = std::from_chars(written.number.data(), end, count);
  constexpr std::int64_t k_longest = 1'000'000;
  if (error != std::errc() || parsed != end || count <= 0 || count > k_longest) {
    return fail(Errc::invalid_argument, option + ": '" + text + "' is no length of time like 36h or 2d");
  }
  return count * written.unit_s;
}

Expected<HealthLimits> limits_of(const HealthArguments& arguments) {
  HealthLimits limits;
  SHAPLEY_TRY_ASSIGN(limits.backup_age, age_of(arguments.max_backup_age, "--max-backup-age"));
  SHAPLEY_TRY_ASSIGN(limits.audit_age, age_of(arguments.max_audit_age, "--max-audit-age"));
  SHAPLEY_TRY_ASSIGN(limits.papers_delay, age_of(arguments.max_papers_delay, "--max-papers-delay"));
  return limits;
}

ExitCode show(const Health& health, const Environment& environment) {
  environment.out << health_line(health);
  return static_cast<ExitCode>(health.state);
}

}  // namespace

Health judge(const ledger::StatusReport& status, const HealthLimits& limits) {
  if (!status.daemon || !status.plugin) return {HealthState::unknown, {"the answer is no status of shapleyd"}, {}};
  return Judgement(*status.daemon, *status.plugin, limits).health(status);
}

Health judge(const Error& error) {
  // A daemon that is away is an outage; if it refuses, its state is unknown.
  return {error.code == Errc::unavailable ? HealthState::critical : HealthState::unknown, {error.what}, {}};
}

std::string health_line(const Health& health) {
  std::string text = "SHAPLEY " + std::string(k_states.at(static_cast<std::size_t>(health.state))) + ": ";
  for (std::size_t i = 0; i < health.causes.size(); ++i) text += (i > 0 ? "; " : "") + printable(health.causes[i]);
  // The text after a '|' is numbers for monitors.
  std::ranges::replace(text, '|', '/');
  return text + (health.performance.empty() ? "" : " | " + health.performance) + '\n';
}

void add_health(CLI::App& app, HealthArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "health", "Print one line for Nagios-like checks and exit with 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN");
  command
      ->add_option("--max-backup-age", arguments.max_backup_age,
                   "Warn when the last backup is older than this, or unknown")
      ->type_name("AGE");
  command
      ->add_option("--max-audit-age", arguments.max_audit_age,
                   "Warn when the last audit is older than this, or unknown")
      ->type_name("AGE");
  command
      ->add_option("--max-papers-delay", arguments.max_papers_delay,
                   "Warn when a month ended longer ago than this and has no papers, if an earlier month has some")
      ->type_name("AGE");
}

ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  const Expected<HealthLimits> limits = limits_of(arguments);
  if (!limits) return unknown_health(limits.error().what, environment);
  Endpoint live = endpoint;
  live.otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET";  // a ledger's file has no health
  const auto status = ask_for<ledger::StatusReport>(live, {{"request", "status"}});
  return show(status ? judge(*status, *limits) : judge(status.error()), environment);
}

ExitCode unknown_health(const std::string& cause, const Environment& environment) {
  return show({HealthState::unknown, {cause}, {}}, environment);
}

}  // namespace shapley::ctl
