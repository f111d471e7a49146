#include "sim/commands/axioms_command.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "scheduling/axioms.hpp"

namespace shapley::sim {

namespace {

// One row per job: '.' while it waits, '#' while it runs, until t.
void draw(const scheduling::EvaluatedSchedule& schedule, Instant t, std::ostream& out) {
  out << "      utility " << schedule.utility << '\n';
  for (const scheduling::ScheduledJob& job : schedule.jobs) {
    std::string row;
    for (Instant s{0}; s < t; s = s + Duration{1}) {
      const bool runs = job.start <= s && s < job.start + job.duration;
      row += runs ? '#' : (job.release <= s && s < job.start ? '.' : ' ');
    }
    out << "        |" << row << "|  released " << job.release.value << ", starts " << job.start.value << ", lasts "
        << job.duration.value << '\n';
  }
  if (schedule.jobs.empty()) out << "        no job\n";
}

void check(const scheduling::UtilityFunction& utility, std::ostream& out) {
  for (const scheduling::Axiom axiom : scheduling::k_axioms) {
    const auto broken = scheduling::find_counterexample(axiom, scheduling::schedule_utility(utility));
    out << std::left << std::setw(14) << utility.name << std::setw(22) << scheduling::name_of(axiom)
        << (broken ? "broken" : "holds") << '\n';
    if (!broken) continue;
    out << "    at t = " << broken->t.value << ": " << broken->why << '\n';
    for (const scheduling::EvaluatedSchedule& schedule : broken->schedules) draw(schedule, broken->t, out);
  }
}

}  // namespace

Expected<void> check_axioms(const AxiomsArguments& arguments, std::ostream& out) {
  for (const std::string& name : arguments.utilities) {
    SHAPLEY_TRY(scheduling::find_utility_function(name));
  }
  for (const scheduling::UtilityFunction& utility : scheduling::utility_functions()) {
    const auto& wanted = arguments.utilities;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), utility.name) != wanted.end()) check(utility, out);
  }
  return {};
}

}  // namespace shapley::sim
