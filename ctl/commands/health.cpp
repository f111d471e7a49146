#include "ctl/commands/health.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/health.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::int64_t k_hour_s = 3600;
constexpr std::int64_t k_day_of_loss_s = 86'400;
// A slurmctld that only has much to do lets its records be read within this.
constexpr std::int64_t k_hangs_s = 300;

json part_of(const json& object, const char* name) {
  return object.is_object() ? object.value(name, json()) : json();
}

std::int64_t integer_of(const json& object, const char* name) {
  const json value = part_of(object, name);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

// What speaks against a status, in the order of its members.
class Judgement {
 public:
  Judgement(const json& status, const HealthLimits& limits)
      : status_(status),
        daemon_(part_of(status, "daemon")),
        plugin_(part_of(status, "plugin")),
        controller_(part_of(daemon_, "controller")),
        now_(integer_of(daemon_, "now") > 0 ? integer_of(daemon_, "now") : integer_of(status, "at")),
        limits_(limits) {}

  Health health() {
    look_at_plugin();
    look_at_books();
    look_at_observations();
    look_at_configuration();
    look_at_pair();
    look_at_upkeep();
    Health health{.performance = performance()};
    if (!critical_.empty()) {
      health.state = HealthState::critical;
    } else if (!warnings_.empty()) {
      health.state = HealthState::warning;
    } else {
      health.causes = {is_standby() ? "standby follows" : "plugin connected, " + mode()};
    }
    std::ranges::move(critical_, std::back_inserter(health.causes));
    std::ranges::move(warnings_, std::back_inserter(health.causes));
    return health;
  }

 private:
  void critical(std::string cause) { critical_.push_back(std::move(cause)); }
  void warning(std::string cause) { warnings_.push_back(std::move(cause)); }
  [[nodiscard]] bool is_standby() const { return part_of(controller_, "role") == "standby"; }
  [[nodiscard]] std::string mode() const { return "mode " + member_text(daemon_, "mode"); }
  [[nodiscard]] std::string ago(std::int64_t at) const { return short_duration(now_ - at) + " ago"; }

  void look_at_plugin() {
    // A standby has no plugin, but one of the two should have.
    if (is_standby()) {
      if (part_of(controller_, "state") == "waits for slurmctld")
        critical("the plugin is connected to neither controller");
      return;
    }
    if (part_of(plugin_, "connected") != true) {
      const std::int64_t heard = integer_of(plugin_, "last_heard_at");
      return critical("the plugin is not connected, " + (heard > 0 ? "last heard " + ago(heard) : "never heard"));
    }
    if (const auto silence = plugin_silence(plugin_, now_)) {
      const std::string cause =
          "the plugin is connected and silent for " + short_duration(*silence) + ": slurmctld hangs or is very busy";
      if (*silence > k_hangs_s) return critical(cause);
      warning(cause);
    }
    const std::int64_t age = now_ - integer_of(daemon_, "ranks_computed_at");
    if (part_of(daemon_, "ranks_computed_at").is_number() && age > integer_of(daemon_, "stale_after_s")) {
      critical("the ranks are " + short_duration(age) + " old");
    }
  }

  void look_at_books() {
    if (part_of(part_of(status_, "conservation"), "holds") == false) critical("the books are not balanced");
    const json failures = part_of(daemon_, "failures");
    for (const auto& [operation, cause] : failures.items())
      critical(operation + " fails: " + member_text(failures, operation));
    if (part_of(daemon_, "rebuild").is_object()) warning("the books are being rebuilt; the ranks hold meanwhile");
  }

  void look_at_observations() {
    if (const auto lost = integer_of(daemon_, "lost_runs"); lost > 0) {
      warning(grouped(lost, "run") + " lost since the start of shapleyd");
    }
    const json gaps = part_of(daemon_, "gaps");
    // While slurmctld itself was down, nothing happened that is not in its records.
    const bool is_loss = part_of(gaps, "last_cause") != "slurmctld_down";
    if (const auto end = integer_of(gaps, "last_end"); is_loss && end > 0 && now_ - end < k_day_of_loss_s) {
      warning("nothing was observed for " + short_duration(end - integer_of(gaps, "last_begin")) + " until " +
              ago(end));
    }
    const json refused = part_of(part_of(daemon_, "cluster"), "refused");
    // The plugin tries again every few seconds.
    if (const auto at = integer_of(refused, "last_at"); at > 0 && now_ - at < k_hour_s) {
      const std::string location = member_text(refused, "state_location");
      warning("the plugin of " +
              (location.empty() ? "another cluster, " + member_text(refused, "cluster")
                                : "a second slurmctld of this cluster, whose StateSaveLocation is " + location) +
              ", is refused, last " + ago(at));
    }
    const json loss = part_of(part_of(daemon_, "state_losses"), "last");
    if (const auto at = integer_of(loss, "at"); at > 0 && now_ - at < k_day_of_loss_s) {
      warning("slurmctld lost runs " + ago(at) + ": " + lost_runs_in_words(loss));
    }
    if (const auto dropped = integer_of(daemon_, "dropped_observations"); dropped > 0) {
      warning(grouped(dropped, "message") + " of a wrong clock dropped since the start of shapleyd");
    }
    if (part_of(daemon_, "held_observations").is_object()) warning("observations wait for the clock");
    if (part_of(daemon_, "clock").is_object()) warning("the wall clock is in doubt");
  }

  void look_at_configuration() {
    const json configuration = part_of(daemon_, "configuration");
    if (const auto at = integer_of(configuration, "refused_at"); at > 0) {
      const std::string refusal = member_text(configuration, "refusal");
      warning("the configuration was refused " + ago(at) + (refusal.empty() ? "" : ": " + refusal));
    }
  }

  void look_at_pair() {
    if (!controller_.is_object()) return;
    if (const std::string fault = member_text(controller_, "fault"); !fault.empty())
      critical("two controllers: " + fault);
    if (part_of(controller_, "peer_answers") == false) {
      warning("the other controller does not answer");
    } else if (part_of(controller_, "in_step") == false) {
      warning("the other controller lags: what is acknowledged is on this host only");
    }
  }

  void look_at_upkeep() {
    const auto look = [this](const char* what, const std::optional<std::int64_t>& limit) {
      const json done = part_of(daemon_, what);
      if (done.is_object() && part_of(done, "clean") == false) {
        critical("the last " + std::string(what) + ", " + ago(integer_of(done, "at")) + ", had findings");
      }
      if (!limit) return;
      if (!done.is_object()) {
        warning("no " + std::string(what) + " is known of");
      } else if (now_ - integer_of(done, "at") > *limit) {
        warning("the last " + std::string(what) + " was " + ago(integer_of(done, "at")));
      }
    };
    look("backup", limits_.backup_age);
    look("audit", limits_.audit_age);
  }

  // label=value[unit]; a counter's unit is c.
  [[nodiscard]] std::string performance() const {
    std::string text = "plugin_connected=" + std::to_string(part_of(plugin_, "connected") == true ? 1 : 0);
    const auto add = [&](const char* label, const json& value, const char* unit) {
      if (value.is_number()) text += ' ' + std::string(label) + '=' + value.dump() + unit;
    };
    if (const auto at = part_of(daemon_, "ranks_computed_at"); at.is_number_integer()) {
      add("ranks_age", std::max<std::int64_t>(0, now_ - at.get<std::int64_t>()), "s");
    }
    add("events", part_of(daemon_, "events"), "c");
    add("backlog", part_of(plugin_, "backlog"), "");
    add("lost_runs", part_of(daemon_, "lost_runs"), "c");
    add("commit", part_of(part_of(daemon_, "commits"), "last_s"), "s");
    add("ledger", part_of(part_of(daemon_, "storage"), "ledger_bytes"), "B");
    add("free", part_of(part_of(daemon_, "storage"), "free_bytes"), "B");
    for (const char* done : {"backup", "audit"}) {
      const json at = part_of(part_of(daemon_, done), "at");
      if (at.is_number_integer()) add((std::string(done) + "_age").c_str(), now_ - at.get<std::int64_t>(), "s");
    }
    return text;
  }

  const json& status_;
  json daemon_;
  json plugin_;
  json controller_;
  std::int64_t now_;
  HealthLimits limits_;
  std::vector<std::string> critical_;
  std::vector<std::string> warnings_;
};

std::string_view word_for(HealthState state) {
  switch (state) {
    case HealthState::ok:
      return "OK";
    case HealthState::warning:
      return "WARNING";
    case HealthState::critical:
      return "CRITICAL";
    case HealthState::unknown:
      break;
  }
  return "UNKNOWN";
}

ExitCode exit_code_for(HealthState state) {
  return static_cast<ExitCode>(state);
}

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
  return limits;
}

Expected<json> ask_status(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask({{"request", "status"}});
}

ExitCode show(const Health& health, const Environment& environment) {
  environment.out << health_line(health);
  return exit_code_for(health.state);
}

}  // namespace

Health judge(const json& status, const HealthLimits& limits) {
  if (!part_of(status, "daemon").is_object())
    return {HealthState::unknown, {"the answer is no status of shapleyd"}, {}};
  return Judgement(status, limits).health();
}

Health judge(const Error& error) {
  // Away, or there and refusing: the one is an outage, of the other nothing is known.
  return {error.code == Errc::unavailable ? HealthState::critical : HealthState::unknown, {error.what}, {}};
}

std::string health_line(const Health& health) {
  std::string text = "SHAPLEY " + std::string(word_for(health.state)) + ": ";
  for (std::size_t i = 0; i < health.causes.size(); ++i) text += (i > 0 ? "; " : "") + printable(health.causes[i]);
  // What is behind a '|' is numbers for monitors.
  std::ranges::replace(text, '|', '/');
  return text + (health.performance.empty() ? "" : " | " + health.performance) + '\n';
}

void add_health(CLI::App& app, HealthArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "health", "One line and an exit code for Nagios-like checks: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN");
  command->add_option("--max-backup-age", arguments.max_backup_age, "Warn when the last backup is older, or unknown")
      ->type_name("TIME");
  command->add_option("--max-audit-age", arguments.max_audit_age, "Warn when the last audit is older, or unknown")
      ->type_name("TIME");
}

ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  const Expected<HealthLimits> limits = limits_of(arguments);
  if (!limits) return unknown_health(limits.error().what, environment);
  Endpoint live = endpoint;
  live.otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET";  // a ledger's file has no health
  const Expected<json> status = ask_status(live);
  return show(status ? judge(*status, *limits) : judge(status.error()), environment);
}

ExitCode unknown_health(const std::string& cause, const Environment& environment) {
  return show({HealthState::unknown, {cause}, {}}, environment);
}

}  // namespace shapley::ctl
