#include "ctl/output/health.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::optional<std::int64_t> number(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::string ago(std::int64_t at, std::int64_t now) {
  return at >= now ? "just now" : short_duration(now - at) + " ago";
}

// "; TEXT" when the member is there.
std::string appended(const json& object, const char* member, const std::string& before) {
  const std::string text = member_text(object, member);
  return text.empty() ? text : before + text;
}

std::string daemon_line(const json& daemon, std::int64_t now) {
  std::string line = "Daemon:  shapleyd" + appended(daemon, "version", " ") + appended(daemon, "pid", ", pid ");
  if (const auto started = number(daemon, "started_at")) line += ", up " + short_duration(now - *started);
  line += appended(daemon, "order", ", order ") + appended(daemon, "mode", ", mode ");
  return line + '\n';
}

std::string ledger_line(const json& daemon) {
  std::string line = "Ledger:  " + member_text(daemon, "ledger");
  if (const auto events = number(daemon, "events")) line += ", " + grouped(*events, "event");
  return line + '\n';
}

// The configuration in force, and why a later one is not.
std::string configuration_lines(const json& daemon, bool colour) {
  const auto configuration = daemon.find("configuration");
  if (configuration == daemon.end() || !configuration->is_object()) return {};
  constexpr std::size_t k_digits_for_people = 16;
  std::string lines = "Config:  " + member_text(*configuration, "file");
  const std::string hash = member_text(*configuration, "hash");
  if (!hash.empty()) lines += ", SHA-256 " + hash.substr(0, k_digits_for_people) + "...";
  if (const auto loaded = number(*configuration, "loaded_at")) {
    lines += ", in force since " + format_instant(Instant{*loaded});
  }
  lines += '\n';
  if (const auto refused = number(*configuration, "refused_at")) {
    lines += painted("Config:  REFUSED at " + format_instant(Instant{*refused}) +
                         appended(*configuration, "refusal", ": ") + "; the one above stays in force",
                     Paint::bad, colour) +
             '\n';
  }
  return lines;
}

}  // namespace

std::optional<std::int64_t> plugin_silence(const json& plugin, std::int64_t now) {
  constexpr std::int64_t k_missed = 3;
  const std::int64_t period = number(plugin, "sign_of_life_s").value_or(0);
  const std::int64_t silence = now - number(plugin, "last_heard_at").value_or(0);
  if (!plugin.value("connected", false) || period == 0 || silence <= k_missed * period) return std::nullopt;
  return silence;
}

namespace {

std::string plugin_line(const json& plugin, std::int64_t now, bool colour) {
  const auto heard = number(plugin, "last_heard_at");
  const std::string last = heard && *heard > 0 ? "last heard " + ago(*heard, now) : "never heard";
  if (!plugin.value("connected", false)) {
    return painted("Plugin:  NOT CONNECTED, " + last + "; the ranks do not act; see slurmctld's log (grep shapley)",
                   Paint::bad, colour) +
           '\n';
  }
  std::string line = "Plugin:  connected" + appended(plugin, "program", ", ") +
                     appended(plugin, "slurm_version", ", Slurm ") + appended(plugin, "cluster", ", cluster ");
  if (!plugin_silence(plugin, now)) return line + ", " + last + '\n';
  return painted(line + ", SILENT: " + last + ", and it gives a sign of life every " +
                     member_text(plugin, "sign_of_life_s") + " s; slurmctld hangs or is very busy (scontrol ping)",
                 Paint::bad, colour) +
         '\n';
}

// Whoever misses others' jobs learns here why.
std::string private_line(const json& daemon, const json& plugin) {
  const auto privacy = daemon.find("privacy");
  if (privacy == daemon.end() || !privacy->is_object()) return {};
  const json jobs = privacy->value("jobs", json(nullptr));
  if (jobs.is_null()) {
    return plugin.value("connected", false)
               ? "Private: others' jobs and usage, because the plugin does not say whether they are; it is older than "
                 "shapleyd\n"
               : std::string();
  }
  const bool usage = privacy->value("usage", false);
  if (jobs == false && !usage) return {};
  return std::string("Private: ") +
         (jobs == false ? "usage"
          : usage       ? "jobs and usage"
                        : "jobs") +
         " of others, to all but operators and coordinators (PrivateData in slurm.conf)\n";
}

std::string lost_runs_line(const json& daemon, bool colour) {
  const auto lost = number(daemon, "lost_runs");
  if (!lost || *lost == 0) return {};
  return painted("Lost:    " + grouped(*lost) +
                     (*lost == 1 ? " run ended before its start was seen; shapleyctl audit --against names it"
                                 : " runs ended before their start was seen; shapleyctl audit --against names them"),
                 Paint::bad, colour) +
         '\n';
}

// Whether that is bad depends on whether slurmctld ran meanwhile; after a week everybody has seen it.
std::string gaps_line(const json& daemon, std::int64_t now, bool colour) {
  constexpr std::int64_t k_week = 7 * 86'400;
  const auto gaps = daemon.find("gaps");
  if (gaps == daemon.end() || !gaps->is_object()) return {};
  const std::int64_t count = number(*gaps, "count").value_or(0);
  if (count == 0) return {};
  const std::int64_t unobserved = number(*gaps, "unobserved_seconds").value_or(0);
  const std::string cause = member_text(*gaps, "last_cause");
  std::string line = "Gaps:    " + grouped(count) + (count == 1 ? " gap" : " gaps") + " of observation, " +
                     short_duration(number(*gaps, "seconds").value_or(0)) + "; the last one from " +
                     format_instant(Instant{number(*gaps, "last_begin").value_or(0)}) + " to " +
                     format_instant(Instant{number(*gaps, "last_end").value_or(0)});
  line += cause == "slurmctld_down" ? ", while slurmctld was down"
          : cause == "dropped"      ? ": the plugin had to drop observations"
                                    : ", while slurmctld ran without the plugin";
  if (unobserved > 0) {
    line += "; runs requeued in " + short_duration(unobserved) + " of it and who waited then are not in the books";
  }
  const bool is_news = cause != "slurmctld_down" && number(*gaps, "last_end").value_or(0) + k_week > now;
  return painted(line, is_news ? Paint::bad : Paint::none, colour) + '\n';
}

// slurmctld came back without runs that had been going on. After a week everybody has seen it.
std::string losses_line(const json& daemon, std::int64_t now, bool colour) {
  constexpr std::int64_t k_week = 7 * 86'400;
  const json losses = daemon.value("state_losses", json::object());
  const auto last = losses.find("last");
  if (last == losses.end() || !last->is_object()) return {};
  const Instant at{number(*last, "at").value_or(0)};
  const std::int64_t count = number(losses, "count").value_or(0);
  const std::string line = "State:   slurmctld lost runs" +
                           (count > 1 ? ' ' + grouped(count) + " times, last at " : " at ") + format_instant(at) +
                           ": " + lost_runs_in_words(*last) + "; the last look was at " +
                           format_instant(Instant{number(*last, "seen").value_or(0)}) +
                           "; shapleyctl import --into takes what Slurm's accounting has of them";
  return painted(line, at.value + k_week > now ? Paint::bad : Paint::none, colour) + '\n';
}

// Whose records are not read.
std::string refused_cluster_line(const json& daemon, bool colour) {
  const json cluster = daemon.value("cluster", json::object());
  const auto refused = cluster.find("refused");
  if (refused == cluster.end() || !refused->is_object()) return {};
  const std::string times = grouped(number(*refused, "times").value_or(0), "time") + ", last at " +
                            format_instant(Instant{number(*refused, "last_at").value_or(0)});
  const std::string location = member_text(*refused, "state_location");
  return painted(
             "Cluster: REFUSED: the plugin of " +
                 (location.empty()
                      ? "cluster " + member_text(*refused, "cluster") + ", " + times + "; this ledger is of cluster " +
                            member_text(cluster, "name") + " (one that was renamed: shapleyctl rename-cluster)"
                      : "a second slurmctld of this cluster, whose StateSaveLocation is " + location + ", " + times),
             Paint::bad, colour) +
         '\n';
}

// Late events are not in the figures yet.
std::string rebuild_line(const json& daemon, bool colour) {
  const auto rebuild = daemon.find("rebuild");
  if (rebuild == daemon.end() || !rebuild->is_object()) return {};
  const auto percent = number(*rebuild, "percent");
  const Instant since{number(*rebuild, "since").value_or(0)};
  return painted(
             "Rebuild: " + (percent ? std::to_string(*percent) + " %" : std::string("when the feed has caught up")) +
                 "; late events came, standings and ranks are still those of " + format_instant(since),
             Paint::bad, colour) +
         '\n';
}

// Observations that wait are not in the figures yet, dropped ones are not at all.
std::string clock_lines(const json& daemon, bool colour) {
  std::string lines;
  const auto line = [&](const std::string& text) { lines += painted("Clock:   " + text, Paint::bad, colour) + '\n'; };
  if (const auto doubt = daemon.find("clock"); doubt != daemon.end() && doubt->is_object()) {
    const std::int64_t ahead = number(*doubt, "ahead_s").value_or(0);
    line("IN DOUBT since " + format_instant(Instant{number(*doubt, "since").value_or(0)}) + ": the wall clock is " +
         short_duration(std::abs(ahead)) + (ahead > 0 ? " ahead of" : " behind") + " the time that shapleyd trusts");
  }
  if (const auto held = daemon.find("held_observations"); held != daemon.end() && held->is_object()) {
    line("observations wait since " + format_instant(Instant{number(*held, "since").value_or(0)}) +
         "; they claim to be of " + format_instant(Instant{number(*held, "observed_from").value_or(0)}) + " and later");
  }
  if (const auto dropped = number(daemon, "dropped_observations"); dropped && *dropped > 0) {
    line(grouped(*dropped, "message") + " of a wrong clock " + (*dropped == 1 ? "was" : "were") +
         " dropped since the start of shapleyd");
  }
  return lines;
}

// Of two controllers: which one this is, and what it knows of the other one.
std::string controller_line(const json& controller, bool colour) {
  const auto member = [&](const char* name) { return controller.value(name, json()); };
  std::string line = "Pair:    " + member_text(controller, "role") + ", " + member_text(controller, "state");
  if (member("feeder_held") == true) line += ", holds the plugin";
  if (member("in_step") == true) line += ", in step";
  if (member("in_step") == false) line += ", OUT OF STEP";
  const bool answers = member("peer_answers") == true;
  line += answers ? appended(controller, "peer_host", "; ") + appended(controller, "peer_role", " is ") +
                        appended(controller, "behind", ", events behind: ")
                  : "; the other one DOES NOT ANSWER" + appended(controller, "heard_s", ", seconds since it did: ") +
                        appended(controller, "peer_events", ", its events then: ");
  const std::string fault = member_text(controller, "fault");
  if (!fault.empty()) line += "; " + fault;
  const bool well = answers && fault.empty() && member("in_step") != false;
  return painted(line, well ? Paint::none : Paint::bad, colour) + '\n';
}

// The events of the last ledger that was set aside, and what of them no ledger has any more.
std::string set_aside_line(const json& controller, bool colour) {
  const auto entries = controller.find("set_aside");
  if (entries == controller.end() || !entries->is_array() || entries->empty()) return {};
  const json& last = entries->back();
  const auto absent = number(last, "absent");
  const std::string counts = absent ? "of its " + member_text(last, "events") + " own events " + grouped(*absent) +
                                          " are not in this ledger, " + member_text(last, "different") +
                                          " are there otherwise"
                                    : std::string("its own events are counted once this one follows");
  const bool lost = absent && *absent > 0;
  return painted("Aside:   " + member_text(last, "file") + ": " + counts, lost ? Paint::bad : Paint::none, colour) +
         '\n';
}

// Which coalitions hindsight keeps, where its memory is bounded.
std::string bounded_line(const json& report, bool colour) {
  const auto bounded = report.find("hindsight_bounded");
  if (bounded == report.end() || !bounded->is_object()) return {};
  constexpr unsigned k_mib = 20;
  const bool is_pairs = member_text(*bounded, "coalitions") == "pairs";
  return painted("Memory:  hindsight keeps " + std::string(is_pairs ? "pairs instead of all coalitions" : "nothing") +
                     " since " + format_instant(Instant{number(*bounded, "since").value_or(0)}) + ": it took " +
                     grouped(number(*bounded, "needed_bytes").value_or(0) >> k_mib) + " MiB and may have " +
                     grouped(number(*bounded, "bound_bytes").value_or(0) >> k_mib) + " (hindsight_memory)",
                 Paint::bad, colour) +
         '\n';
}

}  // namespace

std::string lost_runs_in_words(const json& loss) {
  const auto part = [&](const char* runs, const char* seconds, const char* fate) {
    const std::int64_t count = number(loss, runs).value_or(0);
    if (count == 0) return std::string();
    return grouped(count) + (count == 1 ? " run (" : " runs (") + grouped(number(loss, seconds).value_or(0)) +
           " processor-seconds) " + fate;
  };
  const std::string closed = part("closed", "closed_processor_seconds", "counted until the last look");
  const std::string retracted =
      part("retracted", "retracted_processor_seconds", "retracted, begun within seconds before it");
  return closed + (closed.empty() || retracted.empty() ? "" : ", ") + retracted;
}

std::string health_lines(const json& report, bool colour) {
  const auto daemon = report.find("daemon");
  const std::int64_t now = number(report, "at").value_or(0);
  std::string lines;
  if (daemon != report.end() && daemon->is_object()) {
    lines += ledger_line(*daemon) + daemon_line(*daemon, now) + configuration_lines(*daemon, colour) +
             rebuild_line(*daemon, colour) + clock_lines(*daemon, colour) + lost_runs_line(*daemon, colour) +
             gaps_line(*daemon, now, colour) + losses_line(*daemon, now, colour) +
             refused_cluster_line(*daemon, colour) + bounded_line(report, colour);
    const auto controller = daemon->find("controller");
    if (controller != daemon->end() && controller->is_object()) {
      lines += controller_line(*controller, colour) + set_aside_line(*controller, colour);
      // A standby has no plugin.
      if (member_text(*controller, "role") == "standby") return lines;
    }
  }
  const auto plugin = report.find("plugin");
  if (plugin != report.end() && plugin->is_object()) {
    lines += plugin_line(*plugin, now, colour);
    if (daemon != report.end() && daemon->is_object()) lines += private_line(*daemon, *plugin);
  }
  return lines;
}

}  // namespace shapley::ctl
