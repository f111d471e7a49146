#include "sim/experiments/workflow.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <optional>
#include <ostream>
#include <string>

#include "base/counted.hpp"
#include "base/rng.hpp"
#include "sim/experiments/workflow_simulation.hpp"
#include "sim/output/progress.hpp"
#include "sim/system/parallel.hpp"

namespace shapley::sim {

namespace {

std::int64_t between(Rng& rng, std::int64_t least, std::int64_t greatest) {
  return least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(greatest - least + 1)));
}

std::vector<std::int64_t> tasks(std::size_t count, std::int64_t least, std::int64_t greatest, Rng& rng) {
  std::vector<std::int64_t> durations(count);
  for (std::int64_t& duration : durations) duration = between(rng, least, greatest);
  return durations;
}

// Table 2 of WF13, seconds.
SimulatedWorkflow gate(std::int64_t submit, Rng& rng) {
  return {submit, {tasks(100, 180, 3600, rng)}};
}
SimulatedWorkflow simubloch(std::int64_t submit, Rng& rng) {
  return {submit, {tasks(25, 5, 30, rng)}};
}
SimulatedWorkflow field(std::int64_t submit, Rng& rng) {
  return {submit, {tasks(122, 10, 900, rng)}};
}
SimulatedWorkflow sorteo(std::int64_t submit, Rng& rng) {
  SimulatedWorkflow workflow{submit, {}};
  for (const std::size_t count : {1, 80, 1, 80, 1, 1}) workflow.activities.push_back(tasks(count, 480, 720, rng));
  return workflow;
}

constexpr std::int64_t k_between_submissions = 120;

std::vector<SimulatedWorkflow> workflow_set(int experiment, Rng& rng) {
  constexpr std::int64_t gap = k_between_submissions;
  if (experiment == 1) return {gate(0, rng), gate(gap, rng), gate(2 * gap, rng)};
  if (experiment == 2) return {gate(0, rng), gate(gap, rng), gate(2 * gap, rng), simubloch(3 * gap, rng)};
  return {gate(0, rng), field(gap, rng), sorteo(2 * gap, rng), simubloch(3 * gap, rng)};
}

double deviation(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(values.size());
  return std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
}

// First come first served over the loop: above 1 the loop is better.
struct Gain {
  double makespans = 0;   // deviation of the makespans, sigma_m
  double slowdowns = 0;   // deviation of the slowdowns, sigma_s
  double unfairness = 0;  // mu
  double last = 0;        // slowdown of the workflow submitted last
};

double ratio(double without, double with) {
  return with > 0 ? without / with : (without > 0 ? INFINITY : 1);
}

Gain gain(const SimulationOutcome& without, const SimulationOutcome& with) {
  const auto as_doubles = [](const SimulationOutcome& outcome) {
    return std::vector<double>(outcome.makespans.begin(), outcome.makespans.end());
  };
  return {ratio(deviation(as_doubles(without)), deviation(as_doubles(with))),
          ratio(deviation(without.slowdowns), deviation(with.slowdowns)), ratio(without.unfairness, with.unfairness),
          ratio(without.slowdowns.back(), with.slowdowns.back())};
}

struct Setting {
  int experiment;
  Platform platform;
  bool relative_duration;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const int experiment : {1, 2, 3})
    for (const bool relative : {true, false})
      for (const Platform platform : {Platform{25, 0}, Platform{50, 0}, Platform{100, 0}, Platform{50, 60}})
        all.push_back({experiment, platform, relative});
  return all;
}

Gain run_once(const Setting& setting, std::uint64_t seed) {
  Rng rng(seed);
  const auto workflows = workflow_set(setting.experiment, rng);
  const workflow::Measure measure{workflow::Median::upper, false, setting.relative_duration};
  return gain(simulate_workflows(workflows, setting.platform, Control::first_come_first_served, measure),
              simulate_workflows(workflows, setting.platform, Control::fairness_loop, measure));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void print_column(const std::vector<Gain>& gains, double Gain::*member, std::ostream& out) {
  std::vector<double> values;
  for (const Gain& gain : gains) values.push_back(gain.*member);
  out << std::setw(8) << median(values) << " (" << std::setw(6) << *std::max_element(values.begin(), values.end())
      << ")";
}

void print_setting(const Setting& setting, const std::vector<Gain>& gains, std::ostream& out) {
  std::string slots = std::to_string(setting.platform.slots);
  if (setting.platform.arrival_gap > 0) slots += ", 1 per " + std::to_string(setting.platform.arrival_gap) + " s";
  out << std::left << std::setw(4) << setting.experiment << std::setw(16) << slots << std::setw(5)
      << (setting.relative_duration ? "on" : "off") << std::right;
  for (double Gain::*member : {&Gain::makespans, &Gain::slowdowns, &Gain::unfairness, &Gain::last})
    print_column(gains, member, out);
  out << '\n';
}

}  // namespace

Expected<void> experiment_workflow(const WorkflowExperimentArguments& arguments, std::ostream& out) {
  const auto all = settings();
  // One repetition of every setting in turn, so that an interrupted experiment has equally many of each.
  std::vector<std::optional<Gain>> slots(all.size() * arguments.instances);
  {
    Progress progress("repetitions", slots.size());
    SHAPLEY_TRY(run_parallel(slots.size(), arguments.threads, [&](std::size_t i) -> Expected<void> {
      slots[i] = run_once(all[i % all.size()], arguments.seed * 1'000'003 + i / all.size());
      progress.one_more();
      return {};
    }));
  }
  std::vector<std::vector<Gain>> gains(all.size());
  std::size_t finished = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) continue;
    gains[i % all.size()].push_back(*slots[i]);
    ++finished;
  }
  say_unfinished(finished, slots.size(), "repetitions");
  out << "Fairness among workflows [WF13 Sec. 3], " << counted(arguments.instances, "repetition") << ", seed "
      << arguments.seed
      << "\nFirst come first served / fairness loop, median (greatest); above 1 the loop is better. T^: relative "
         "duration\n"
      << "Paper, greatest of 4 repetitions: experiment 1 sigma_m 15, sigma_s 7, mu 2; experiment 2 sigma_s 5.9, mu "
         "1.9,\n"
      << "last workflow 5.9; experiment 3 sigma_s 3.8, mu 1.9\n\n"
      << "EXP SLOTS           T^           SIGMA_M         SIGMA_S              MU   LAST SLOWDOWN\n"
      << std::fixed << std::setprecision(2);
  for (std::size_t s = 0; s < all.size(); ++s)
    if (!gains[s].empty()) print_setting(all[s], gains[s], out);
  return {};
}

}  // namespace shapley::sim
