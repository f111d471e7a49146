#include "sim/commands/replay_command.hpp"

#include <ostream>

#include "base/calendar.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/replay_page.hpp"
#include "sim/replay/replay_report.hpp"

namespace shapley::sim {

namespace {

Expected<std::optional<Instant>> read_time(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  const auto instant = parse_instant(text);
  if (!instant) {
    return fail(Errc::invalid_argument,
                std::string(option) + ": " + text + " is no time; write 2026-01-31 or 2026-01-31T07:00:00 (UTC)");
  }
  return instant;
}

}  // namespace

Expected<void> run_replay(const ReplayArguments& arguments, std::ostream& out) {
  SiteHistorySource source = arguments.source;
  SHAPLEY_TRY_ASSIGN(source.since, read_time(arguments.since, "--since"));
  SHAPLEY_TRY_ASSIGN(source.until, read_time(arguments.until, "--until"));
  if (source.since && source.until && *source.since >= *source.until) {
    return fail(Errc::invalid_argument, "--until: " + arguments.until + " is not after --since " + arguments.since);
  }
  SHAPLEY_TRY_ASSIGN(const SiteHistory history, read_site_history(source));
  PolicyOptions options;
  options.seed = arguments.seed;
  options.rule = history.rule;
  if (arguments.horizon) options.rule.horizon = *arguments.horizon;
  if (arguments.guarantee) options.rule.guarantee = *arguments.guarantee;
  if (arguments.running) options.rule.running = *arguments.running;
  options.once_a_pass = arguments.once_a_pass;
  const auto policies = arguments.policies.empty() ? usual_policies(history) : arguments.policies;
  SHAPLEY_TRY_ASSIGN(const Replay replayed, replay(history, policies, options));
  if (!arguments.html.empty()) SHAPLEY_TRY(write_replay_page(arguments.html, history, replayed));
  if (arguments.json) {
    out << json_text(replay_json(history, replayed), 1) << '\n';
  } else {
    print_replay(history, replayed, out);
  }
  return {};
}

}  // namespace shapley::sim
