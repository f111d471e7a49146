#include "ctl/output/health.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "health/health.hpp"
#include "protocol/self_report.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using health::lost_runs_in_words;
using health::plugin_silence;
using protocol::ControllerReport;
using protocol::DaemonReport;
using protocol::PluginReport;

// After so long every administrator has seen what is news before.
constexpr Duration k_week{7 * 86'400};

std::string ago(Instant at, Instant now) {
  return at >= now ? "just now" : short_duration((now - at).value) + " ago";
}

// A line that asks for attention.
std::string alarm(const std::string& line, bool colour) {
  return tables::painted(line, tables::Paint::bad, colour) + '\n';
}

// Behind `before`; "" when it is not known.
std::string appended(const std::string& before, const std::optional<std::string>& text) {
  return text && !text->empty() ? before + printable(*text) : std::string();
}
std::string appended(const std::string& before, const std::optional<std::int64_t>& count) {
  return count ? before + std::to_string(*count) : std::string();
}

std::string daemon_line(const DaemonReport& daemon, Instant now) {
  return "Daemon:  shapleyd" + appended(" ", daemon.version) + ", pid " + std::to_string(daemon.pid) + ", up " +
         short_duration((now - daemon.started_at).value) + appended(", order ", daemon.order) +
         appended(", mode ", daemon.mode) + '\n';
}

// The configuration in force, and the reason why a later one was refused.
std::string configuration_lines(const protocol::ConfigurationReport& configuration, bool colour) {
  constexpr std::size_t k_digits_for_people = 16;
  const std::string lines = fmt::format(
      "Config:  {}, SHA-256 {}..., in force since {}\n", printable(configuration.file),
      printable(configuration.hash.substr(0, k_digits_for_people)), format_instant(configuration.loaded_at));
  if (!configuration.refused_at) return lines;
  return lines + alarm(fmt::format("Config:  REFUSED at {}{}; the one above stays in force",
                                   format_instant(*configuration.refused_at), appended(": ", configuration.refusal)),
                       colour);
}

std::string plugin_line(const PluginReport& plugin, Instant now, bool colour) {
  const std::string last =
      plugin.last_heard_at.value > 0 ? "last heard " + ago(plugin.last_heard_at, now) : "never heard";
  if (!plugin.connected) {
    return alarm(
        fmt::format("Plugin:  NOT CONNECTED, {}; the ranks do not act; see slurmctld's log (grep shapley)", last),
        colour);
  }
  const std::string line = "Plugin:  connected" + appended(", ", plugin.program) +
                           appended(", Slurm ", plugin.slurm_version) + appended(", cluster ", plugin.cluster);
  if (!plugin_silence(plugin, now)) return fmt::format("{}, {}\n", line, last);
  return alarm(
      fmt::format(
          "{}, SILENT: {}, and it gives a sign of life every {} s; slurmctld hangs or is very busy (scontrol ping)",
          line, last, plugin.sign_of_life_s.value_or(0)),
      colour);
}

// This line explains why others' jobs are missing.
std::string private_line(const protocol::PrivacyReport& privacy, bool is_connected) {
  if (!privacy.jobs) {
    return is_connected ? "Private: others' jobs and usage, because the plugin does not say whether they are; it is "
                          "older than shapleyd\n"
                        : std::string();
  }
  const bool usage = privacy.usage.value_or(false);
  if (!*privacy.jobs && !usage) return {};
  return fmt::format("Private: {} of others, to all but operators and coordinators (PrivateData in slurm.conf)\n",
                     !*privacy.jobs ? "usage"
                     : usage        ? "jobs and usage"
                                    : "jobs");
}

std::string lost_runs_line(std::uint64_t lost, bool colour) {
  if (lost == 0) return {};
  return alarm(
      fmt::format("Lost:    {}{}", grouped(static_cast<std::int64_t>(lost)),
                  lost == 1 ? " run ended before its start was seen; shapleyctl audit --against names it"
                            : " runs ended before their start was seen; shapleyctl audit --against names them"),
      colour);
}

// Whether that is bad depends on whether slurmctld ran meanwhile.
std::string gaps_line(const protocol::GapsReport& gaps, Instant now, bool colour) {
  if (gaps.count == 0) return {};
  using accounting::GapCause;
  const auto is = [&](GapCause cause) { return gaps.last_cause == name_of(cause); };
  const Instant last_end = gaps.last_end.value_or(Instant{});
  std::string line = fmt::format("Gaps:    {} of observation, {}; the last one from {} to {}",
                                 grouped(static_cast<std::int64_t>(gaps.count), "gap"), short_duration(gaps.all.value),
                                 format_instant(gaps.last_begin.value_or(Instant{})), format_instant(last_end));
  line += is(GapCause::slurmctld_down) ? ", while slurmctld was down"
          : is(GapCause::dropped)      ? ": the plugin had to drop observations"
          : is(GapCause::wrong_clock)  ? ", under a wrong clock: shapleyctl import --into fills it"
          : is(GapCause::events_lost)  ? ": the ledger lost what it had of it, and shapleyctl import --into fills it"
                                       : ", while slurmctld ran without the plugin";
  if (gaps.unobserved > Duration{0}) {
    line += fmt::format("; runs requeued in {} of it and who waited then are not in the books",
                        short_duration(gaps.unobserved.value));
  }
  const bool is_news = !is(GapCause::slurmctld_down) && last_end + k_week > now;
  return tables::painted(line, is_news ? tables::Paint::bad : tables::Paint::none, colour) + '\n';
}

// slurmctld came back without runs that had been going on.
std::string losses_line(const protocol::StateLossesReport& losses, Instant now, bool colour) {
  if (!losses.last) return {};
  const protocol::StateLossReport& last = *losses.last;
  const auto count = static_cast<std::int64_t>(losses.count);
  const std::string line = fmt::format(
      "State:   slurmctld lost runs{}{}: {}; the last look was at {}; shapleyctl import --into takes what Slurm's "
      "accounting has of them",
      count > 1 ? fmt::format(" {} times, last at ", grouped(count)) : " at ", format_instant(last.at),
      lost_runs_in_words(last.runs), format_instant(last.seen));
  return tables::painted(line, last.at + k_week > now ? tables::Paint::bad : tables::Paint::none, colour) + '\n';
}

// The plugins that were refused.
std::string refused_cluster_line(const protocol::ClusterReport& cluster, bool colour) {
  if (!cluster.refused) return {};
  const protocol::RefusedFeeder& refused = *cluster.refused;
  const std::string times = fmt::format("{}, last at {}", grouped(static_cast<std::int64_t>(refused.times), "time"),
                                        format_instant(refused.last_at));
  return alarm(
      "Cluster: REFUSED: the plugin of " +
          (refused.state_location
               ? fmt::format("a second slurmctld of this cluster, whose StateSaveLocation is {}, {}",
                             printable(*refused.state_location), times)
               : fmt::format(
                     "cluster {}, {}; this ledger is of cluster {} (one that was renamed: shapleyctl rename-cluster)",
                     printable(refused.cluster), times, printable(cluster.name.value_or("")))),
      colour);
}

// Late events that are not in the figures yet.
std::string rebuild_line(const std::optional<protocol::RebuildReport>& rebuild, bool colour) {
  if (!rebuild) return {};
  return alarm(fmt::format("Rebuild: {}; late events came, standings and ranks are still those of {}",
                           rebuild->percent ? std::to_string(*rebuild->percent) + " %"
                                            : std::string("when the feed has caught up"),
                           format_instant(rebuild->since)),
               colour);
}

// Observations that wait are not in the figures yet, and dropped ones will not be.
std::string clock_lines(const DaemonReport& daemon, bool colour) {
  std::string lines;
  const auto line = [&](const std::string& text) { lines += alarm("Clock:   " + text, colour); };
  if (daemon.clock) {
    const std::int64_t ahead = daemon.clock->ahead.value;
    line(fmt::format("IN DOUBT since {}: the wall clock is {}{} the time that shapleyd trusts",
                     format_instant(daemon.clock->since), short_duration(std::abs(ahead)),
                     ahead > 0 ? " ahead of" : " behind"));
  }
  if (daemon.held_observations) {
    line(fmt::format("observations wait since {}; they claim to be of {} and later",
                     format_instant(daemon.held_observations->since),
                     format_instant(daemon.held_observations->observed_from)));
  }
  if (const std::uint64_t dropped = daemon.dropped_observations; dropped > 0) {
    line(fmt::format("{} of a wrong clock {} dropped since the start of shapleyd",
                     grouped(static_cast<std::int64_t>(dropped), "message"), dropped == 1 ? "was" : "were"));
  }
  return lines;
}

// For two controllers: the role of this one, and its knowledge of the other one.
std::string controller_line(const ControllerReport& controller, bool colour) {
  std::string line = fmt::format("Pair:    {}, {}", name_of(controller.role), name_of(controller.state));
  if (controller.feeder_held) line += ", holds the plugin";
  if (controller.in_step) line += *controller.in_step ? ", in step" : ", OUT OF STEP";
  if (controller.peer_answers) {
    line += appended("; ", controller.peer_host);
    if (controller.peer_role) line += " is " + std::string(name_of(*controller.peer_role));
    line += appended(", events behind: ", controller.behind);
  } else {
    line += fmt::format("; the other one DOES NOT ANSWER{}{}", appended(", seconds since it did: ", controller.heard_s),
                        appended(", its events then: ", controller.peer_events));
  }
  line += appended("; ", controller.fault);
  const bool well = controller.peer_answers && !controller.fault && controller.in_step.value_or(true);
  return tables::painted(line, well ? tables::Paint::none : tables::Paint::bad, colour) + '\n';
}

// The events of the last ledger that was set aside, and those that are in no other ledger.
std::string set_aside_line(const ControllerReport& controller, bool colour) {
  if (controller.set_aside.empty()) return {};
  const protocol::SetAsideReport& last = controller.set_aside.back();
  const std::string counts =
      last.absent ? fmt::format("{} own events {} are not in this ledger{} are there otherwise",
                                appended("of its ", last.events), grouped(*last.absent), appended(", ", last.different))
                  : std::string("its own events are counted once this one follows");
  const bool lost = last.absent.value_or(0) > 0;
  return tables::painted(fmt::format("Aside:   {}: {}", printable(last.file), counts),
                         lost ? tables::Paint::bad : tables::Paint::none, colour) +
         '\n';
}

// The coalitions that hindsight keeps, if its memory limit excludes some.
std::string bounded_line(const std::optional<ledger::HindsightBound>& bounded, bool colour) {
  if (!bounded) return {};
  constexpr unsigned k_mib = 20;
  const bool is_pairs = bounded->coalitions == accounting::Coalitions::pairs;
  return alarm(fmt::format("Memory:  hindsight keeps {} since {}: it took {} MiB and may have {} (hindsight_memory)",
                           is_pairs ? "pairs instead of all coalitions" : "nothing", format_instant(bounded->since),
                           grouped(bounded->needed_bytes >> k_mib), grouped(bounded->bound_bytes >> k_mib)),
               colour);
}

}  // namespace

std::string health_lines(const ledger::StatusReport& report, bool colour) {
  if (!report.daemon || !report.plugin) return {};
  const DaemonReport& daemon = *report.daemon;
  std::string lines = "Ledger:  " + printable(daemon.ledger) + ", " + grouped(daemon.events, "event") + '\n' +
                      daemon_line(daemon, report.at) + configuration_lines(daemon.configuration, colour) +
                      rebuild_line(daemon.rebuild, colour) + clock_lines(daemon, colour) +
                      lost_runs_line(daemon.lost_runs, colour) + gaps_line(daemon.gaps, report.at, colour) +
                      losses_line(daemon.state_losses, report.at, colour) +
                      refused_cluster_line(daemon.cluster, colour) + bounded_line(report.hindsight_bounded, colour);
  if (daemon.controller) {
    lines += controller_line(*daemon.controller, colour) + set_aside_line(*daemon.controller, colour);
    // A standby has no plugin.
    if (health::is_standby(daemon)) return lines;
  }
  return lines + plugin_line(*report.plugin, report.at, colour) +
         private_line(daemon.privacy, report.plugin->connected);
}

}  // namespace shapley::ctl
