#include "sim/replay/replay_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

#include "base/calendar.hpp"
#include "base/counted.hpp"

namespace shapley::sim {

namespace {

// Of nobody who started there is no mean.
std::string mean_text(const OrganizationOutcome& outcome, double mean, int digits) {
  return outcome.jobs == outcome.never_started ? "-" : fixed_text(mean, digits);
}

void print_row(const std::string& policy, int policy_width, const std::string& name, int name_width,
               const OrganizationOutcome& outcome, std::ostream& out) {
  const bool started = outcome.jobs > outcome.never_started;
  out << std::left << std::setw(policy_width) << policy << std::setw(name_width) << name << std::right << std::setw(8)
      << outcome.jobs << std::setw(11) << (started ? span_text(outcome.mean_wait) : "-") << std::setw(11)
      << (started ? span_text(static_cast<double>(outcome.longest_wait)) : "-") << std::setw(11)
      << mean_text(outcome, outcome.mean_slowdown, 1) << std::setw(11)
      << mean_text(outcome, outcome.mean_bounded_slowdown, 1) << '\n';
}

Json json_of(const OrganizationOutcome& outcome) {
  const bool started = outcome.jobs > outcome.never_started;
  const auto mean = [started](double value) { return started ? Json(value) : Json(nullptr); };
  return {{"jobs", outcome.jobs},
          {"never_started", outcome.never_started},
          {"processor_seconds", outcome.work},
          {"mean_wait_s", mean(outcome.mean_wait)},
          {"longest_wait_s", outcome.longest_wait},
          {"mean_slowdown", mean(outcome.mean_slowdown)},
          {"mean_bounded_slowdown", mean(outcome.mean_bounded_slowdown)},
          {"psi", outcome.psi}};
}

Json json_of(const SiteHistory& history, const ReplayOutcome& outcome) {
  Json json = {{"policy", outcome.policy},
               {"utilization", outcome.utilization},
               {"makespan_s", outcome.makespan.value},
               {"backfilled", outcome.backfilled},
               {"distance_to_ref_s", outcome.distance_to_ref ? Json(*outcome.distance_to_ref) : Json(nullptr)},
               {"all", json_of(outcome.all)},
               {"organizations", Json::array()}};
  for (std::size_t u = 0; u < history.organizations.size(); ++u) {
    Json entry = {{"organization", history.organizations[u]}};
    entry.update(json_of(outcome.organizations[u]));
    json["organizations"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string fixed_text(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string span_text(double seconds) {
  if (seconds < 99.5) return fixed_text(seconds, 0) + " s";
  if (seconds < 99.5 * 60) return fixed_text(seconds / 60, 0) + " min";
  if (seconds < 48.0 * 3600) return fixed_text(seconds / 3600, 1) + " h";
  return fixed_text(seconds / 86400, 1) + " d";
}

void print_replay(const SiteHistory& history, const Replay& replay, std::ostream& out) {
  out << counted(history.instance.jobs.size(), "job") << " from " << format_instant(history.begin) << " to "
      << format_instant(history.begin + history.length) << "; EASY backfill, the queue in each policy's order\n";
  for (const scheduling::Endowment& e : history.instance.endowments) {
    out << "processors from " << format_instant(history.begin + Duration{e.at.value}) << ":";
    for (std::size_t u = 0; u < history.organizations.size(); ++u)
      out << (u == 0 ? " " : ", ") << history.organizations[u] << ' ' << e.processors[u];
    out << '\n';
  }
  std::size_t policies = 7, names = 13;
  for (const ReplayOutcome& o : replay.outcomes) policies = std::max(policies, o.policy.size() + 1);
  for (const std::string& name : history.organizations) names = std::max(names, name.size() + 1);
  const int policy_width = static_cast<int>(policies);
  const int name_width = static_cast<int>(names);
  out << '\n'
      << std::left << std::setw(policy_width) << "POLICY" << std::setw(name_width) << "ORGANIZATION" << std::right
      << std::setw(8) << "JOBS" << std::setw(11) << "MEAN WAIT" << std::setw(11) << "LONGEST" << std::setw(11)
      << "SLOWDOWN" << std::setw(11) << "BOUNDED" << '\n';
  for (const ReplayOutcome& o : replay.outcomes) {
    for (std::size_t u = 0; u < history.organizations.size(); ++u) {
      if (o.organizations[u].jobs > 0)
        print_row(o.policy, policy_width, history.organizations[u], name_width, o.organizations[u], out);
    }
    print_row(o.policy, policy_width, "all", name_width, o.all, out);
  }
  out << '\n'
      << std::left << std::setw(policy_width) << "POLICY" << std::right << std::setw(12) << "UTILIZATION"
      << std::setw(11) << "ALL ENDED" << std::setw(12) << "BACKFILLED" << std::setw(17) << "DISTANCE TO REF" << '\n';
  for (const ReplayOutcome& o : replay.outcomes) {
    out << std::left << std::setw(policy_width) << o.policy << std::right << std::setw(12)
        << fixed_text(100 * o.utilization, 1) + " %" << std::setw(11)
        << span_text(static_cast<double>(o.makespan.value)) << std::setw(12)
        << (o.policy == k_as_it_ran ? "-" : std::to_string(o.backfilled)) << std::setw(17)
        << (o.distance_to_ref ? fixed_text(*o.distance_to_ref, 1) + " s" : "-") << '\n';
  }
  if (!replay.no_reference.empty()) out << "\nNo distance to REF: " << replay.no_reference << '\n';
  for (const std::string& note : history.notes) out << "note: " << note << '\n';
}

Json replay_json(const SiteHistory& history, const Replay& replay) {
  Json json = {{"begin", history.begin.value},
               {"length_s", history.length.value},
               {"jobs", history.instance.jobs.size()},
               {"owned", Json::array()},
               {"outcomes", Json::array()},
               {"no_reference", replay.no_reference.empty() ? Json(nullptr) : Json(replay.no_reference)},
               {"notes", history.notes}};
  for (const scheduling::Endowment& e : history.instance.endowments) {
    Json processors = Json::object();
    for (std::size_t u = 0; u < history.organizations.size(); ++u)
      processors[history.organizations[u]] = e.processors[u];
    json["owned"].push_back({{"from", (history.begin + Duration{e.at.value}).value}, {"processors", processors}});
  }
  for (const ReplayOutcome& o : replay.outcomes) json["outcomes"].push_back(json_of(history, o));
  return json;
}

}  // namespace shapley::sim
