#include "ctl/commands/health.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/printable.hpp"

namespace shapley::ctl {

namespace {

using health::State;
using nlohmann::json;

// label=value[unit]; a counter's unit is c. What is not known is left out.
std::string performance_of(const health::Report& report) {
  const protocol::DaemonReport& daemon = report.daemon;
  std::string text = "plugin_connected=" + std::to_string(report.plugin.connected ? 1 : 0);
  const auto add = [&](const char* label, const auto& value, const char* unit) {
    if (const json number = json_of(value); !number.is_null())
      text += fmt::format(" {}={}{}", label, number.dump(), unit);
  };
  add("ranks_age", std::max(Duration{0}, daemon.now - daemon.ranks_computed_at), "s");
  add("events", daemon.events, "c");
  add("backlog", report.plugin.backlog, "");
  add("lost_runs", daemon.lost_runs, "c");
  add("commit", daemon.commits.last_s, "s");
  add("ledger", daemon.storage.ledger_bytes, "B");
  add("log", daemon.storage.wal_bytes, "B");
  add("free", daemon.storage.free_bytes, "B");
  if (daemon.backup) add("backup_age", daemon.now - daemon.backup->at, "s");
  if (daemon.audit) add("audit_age", daemon.now - daemon.audit->at, "s");
  if (daemon.papers) add("papers_age", daemon.now - daemon.papers->until, "s");
  return text;
}

std::string good_facts(const protocol::DaemonReport& daemon) {
  return health::is_standby(daemon) ? "standby follows" : "plugin connected, mode " + daemon.mode;
}

constexpr std::array k_states{"OK", "WARNING", "CRITICAL", "UNKNOWN"};  // by State

ExitCode show(const Health& health, const Environment& environment) {
  environment.out << health_line(health);
  return static_cast<ExitCode>(health.state);
}

}  // namespace

Health health_of(const Expected<health::Report>& report, const health::Limits& limits) {
  Health found;
  std::vector<health::Cause> causes;
  for (const health::Verdict& verdict : health::judge(report, limits))
    causes.insert(causes.end(), verdict.causes.begin(), verdict.causes.end());
  std::ranges::stable_sort(causes, std::ranges::greater(), &health::Cause::state);
  for (const health::Cause& cause : causes) found.causes.push_back(cause.text);
  if (!causes.empty()) found.state = causes.front().state;
  if (!report) return found;
  if (causes.empty()) found.causes = {good_facts(report->daemon)};
  found.performance = performance_of(*report);
  return found;
}

std::string health_line(const Health& health) {
  std::string text = fmt::format("SHAPLEY {}: ", k_states.at(static_cast<std::size_t>(health.state)));
  for (std::size_t i = 0; i < health.causes.size(); ++i) text += (i > 0 ? "; " : "") + printable(health.causes[i]);
  // The text after a '|' is numbers for monitors.
  std::ranges::replace(text, '|', '/');
  return text + (health.performance.empty() ? "" : " | " + health.performance) + '\n';
}

void add_health(CLI::App& app, HealthArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "health", "Print one line for Nagios-like checks and exit with 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN");
  for (std::size_t i = 0; i < health::k_limit_options.size(); ++i) {
    const health::LimitOption& option = health::k_limit_options[i];
    command->add_option(option.name, arguments.limits[i], option.meaning)->type_name("AGE");
  }
}

ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  const Expected<health::Limits> limits = health::parse_limits(arguments.limits);
  if (!limits) return unknown_health(limits.error().what, environment);
  Endpoint live = endpoint;
  live.otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET";  // a ledger's file has no health
  return show(health_of(ask_for<health::Report>(live, {{"request", "status"}}), *limits), environment);
}

ExitCode unknown_health(const std::string& cause, const Environment& environment) {
  return show({State::unknown, {cause}, {}}, environment);
}

}  // namespace shapley::ctl
