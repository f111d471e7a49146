#include "sim/experiments/workflow.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "sim/experiments/experiments.hpp"

namespace shapley::sim {

namespace {

constexpr std::size_t k_repetitions = 10;

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

// The measures of a run.
struct Spread {
  double makespans = 0;   // their deviation, sigma_m
  double slowdowns = 0;   // their deviation, sigma_s
  double unfairness = 0;  // mu
  double last = 0;        // slowdown of the workflow submitted last
};
constexpr auto description_of(std::type_identity<Spread>) {
  return describe(member("makespans", &Spread::makespans), member("slowdowns", &Spread::slowdowns),
                  member("unfairness", &Spread::unfairness), member("last", &Spread::last));
}

Spread spread_of(const SimulationOutcome& outcome) {
  return {deviation({outcome.makespans.begin(), outcome.makespans.end()}), deviation(outcome.slowdowns),
          outcome.unfairness, outcome.slowdowns.back()};
}

// The same workflows, first come first served and by the loop.
struct Repetition {
  Spread served;
  Spread looped;
};
constexpr auto description_of(std::type_identity<Repetition>) {
  return describe(member("first_come_first_served", &Repetition::served), member("fairness_loop", &Repetition::looped));
}
struct Repetitions {
  Units<Repetition> repetitions;
};
constexpr auto description_of(std::type_identity<Repetitions>) {
  return describe(member("repetitions", &Repetitions::repetitions));
}

// First come first served divided by the loop: above 1 the loop is better.
double ratio(double without, double with) {
  return with > 0 ? without / with : (without > 0 ? INFINITY : 1);
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

Repetition run_once(const Setting& setting, std::uint64_t seed) {
  Rng rng(seed);
  const auto workflows = workflow_set(setting.experiment, rng);
  const workflow::Measure measure{workflow::Median::upper, false, setting.relative_duration};
  return {
      spread_of(simulate_workflows(workflows, setting.platform, Control::first_come_first_served, measure)),
      spread_of(simulate_workflows(workflows, setting.platform, Control::fairness_loop, measure)),
  };
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void print_column(const std::vector<Repetition>& repetitions, double Spread::*member, std::ostream& out) {
  std::vector<double> values;
  for (const Repetition& one : repetitions) values.push_back(ratio(one.served.*member, one.looped.*member));
  out << std::setw(8) << median(values) << " (" << std::setw(6) << *std::max_element(values.begin(), values.end())
      << ")";
}

void print_setting(const Setting& setting, const std::vector<Repetition>& repetitions, std::ostream& out) {
  std::string slots = std::to_string(setting.platform.slots);
  if (setting.platform.arrival_gap > 0) slots += ", 1 per " + std::to_string(setting.platform.arrival_gap) + " s";
  out << std::left << std::setw(4) << setting.experiment << std::setw(16) << slots << std::setw(5)
      << (setting.relative_duration ? "on" : "off") << std::right;
  for (double Spread::*member : {&Spread::makespans, &Spread::slowdowns, &Spread::unfairness, &Spread::last})
    print_column(repetitions, member, out);
  out << '\n';
}

struct Task {
  std::size_t workflow;
  std::size_t activity;
  std::size_t number;
  std::int64_t duration;
  std::int64_t priority = 1;
  std::int64_t started = 0;
};

class Simulation {
 public:
  Simulation(const std::vector<SimulatedWorkflow>& workflows, const Platform& platform, Control control,
             const workflow::Measure& measure)
      : workflows_(workflows), control_(control), measure_(measure), states_(workflows.size()) {
    for (std::size_t i = 0; i < workflows.size(); ++i) {
      states_[i].activities.resize(workflows[i].activities.size());
      remaining_.emplace_back();
      for (const auto& tasks : workflows[i].activities) remaining_.back().push_back(tasks.size());
      submissions_.emplace(workflows[i].submit, i);
    }
    for (std::size_t s = 0; s < platform.slots; ++s)
      arrivals_.insert(static_cast<std::int64_t>(s) * platform.arrival_gap);
    outcome_.makespans.assign(workflows.size(), 0);
  }

  SimulationOutcome run() {
    while (!submissions_.empty() || !running_.empty() || !waiting_.empty()) {
      advance_to(next_event());
      if (control_ == Control::fairness_loop) raise();
      start_tasks();
      degree_ = observed().degree.convert_to<double>();
    }
    for (std::size_t i = 0; i < workflows_.size(); ++i) {
      std::int64_t path = 0;
      for (const auto& tasks : workflows_[i].activities) path += *std::max_element(tasks.begin(), tasks.end());
      outcome_.slowdowns.push_back(static_cast<double>(outcome_.makespans[i]) / static_cast<double>(path));
    }
    return outcome_;
  }

 private:
  using Order =
      std::tuple<std::int64_t, std::size_t, std::size_t, std::size_t>;  // -priority, workflow, activity, number
  static Order order_of(const Task& task) { return {-task.priority, task.workflow, task.activity, task.number}; }

  [[nodiscard]] std::int64_t next_event() const {
    std::int64_t next = INT64_MAX;
    if (!submissions_.empty()) next = std::min(next, submissions_.begin()->first);
    if (!running_.empty()) next = std::min(next, running_.begin()->first);
    if (!arrivals_.empty()) next = std::min(next, *arrivals_.begin());
    return next;
  }

  void advance_to(std::int64_t now) {
    outcome_.unfairness += degree_ * static_cast<double>(now - now_);
    now_ = now;
    for (; !arrivals_.empty() && *arrivals_.begin() == now; arrivals_.erase(arrivals_.begin())) ++idle_;
    for (; !running_.empty() && running_.begin()->first == now; running_.erase(running_.begin()))
      complete(running_.begin()->second);
    for (; !submissions_.empty() && submissions_.begin()->first == now; submissions_.erase(submissions_.begin()))
      release(submissions_.begin()->second, 0);
  }

  void release(std::size_t i, std::size_t j) {
    const auto& durations = workflows_[i].activities[j];
    for (std::size_t n = 0; n < durations.size(); ++n)
      waiting_.emplace(order_of({i, j, n, durations[n]}), Task{i, j, n, durations[n]});
    states_[i].activities[j].waiting = static_cast<std::int64_t>(durations.size());
  }

  void complete(const Task& task) {
    ++idle_;
    states_[task.workflow].activities[task.activity].completed.push_back({task.duration, 0, 0, 0});
    outcome_.makespans[task.workflow] = now_ - workflows_[task.workflow].submit;
    if (--remaining_[task.workflow][task.activity] > 0) return;
    if (task.activity + 1 < workflows_[task.workflow].activities.size()) release(task.workflow, task.activity + 1);
  }

  void start_tasks() {
    for (; idle_ > 0 && !waiting_.empty(); --idle_) {
      Task task = waiting_.begin()->second;
      waiting_.erase(waiting_.begin());
      task.started = now_;
      --states_[task.workflow].activities[task.activity].waiting;
      running_.emplace(now_ + task.duration, task);
    }
  }

  workflow::Unfairness observed() {
    for (workflow::Workflow& state : states_)
      for (workflow::Activity& activity : state.activities) activity.running.clear();
    for (const auto& [end, task] : running_)
      states_[task.workflow].activities[task.activity].running.push_back({now_ - task.started, 0, 0, 0});
    return workflow::measure_unfairness(states_, measure_);
  }

  void raise() {
    const auto unfairness = observed();
    const std::int64_t greatest = waiting_.empty() ? 1 : -std::get<0>(waiting_.begin()->first);
    for (const workflow::Raise& raise : workflow::reprioritize(states_, unfairness, workflow::Fraction(1) / 5))
      raise_oldest(raise, greatest);
  }

  // Algorithm 2, lines 9 to 13: of the activity's waiting tasks those at `greatest` or below, the oldest first.
  void raise_oldest(const workflow::Raise& raise, std::int64_t greatest) {
    std::vector<Task> candidates;
    for (const auto& [order, task] : waiting_)
      if (task.workflow == raise.workflow && task.activity == raise.activity && task.priority <= greatest)
        candidates.push_back(task);
    std::sort(candidates.begin(), candidates.end(), [](const Task& a, const Task& b) { return a.number < b.number; });
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(raise.tasks)));
    for (Task& task : candidates) {
      waiting_.erase(order_of(task));
      task.priority = greatest + 1;
      waiting_.emplace(order_of(task), task);
    }
  }

  const std::vector<SimulatedWorkflow>& workflows_;
  Control control_;
  workflow::Measure measure_;
  std::vector<workflow::Workflow> states_;
  std::vector<std::vector<std::size_t>> remaining_;  // tasks not completed, by workflow and activity
  std::multimap<std::int64_t, std::size_t> submissions_;
  std::multiset<std::int64_t> arrivals_;
  std::multimap<std::int64_t, Task> running_;  // by end
  std::map<Order, Task> waiting_;
  std::int64_t now_ = 0;
  std::size_t idle_ = 0;
  double degree_ = 0;  // eta since the last event
  SimulationOutcome outcome_;
};

// Settings take turns, so that an interrupted experiment has equally many repetitions of each.
Expected<Repetitions> measure_workflow(const ExperimentArguments& arguments) {
  const auto all = settings();
  Repetitions measured;
  SHAPLEY_TRY_ASSIGN(measured.repetitions,
                     run_units<Repetition>("repetitions", all.size() * arguments.instances.value_or(k_repetitions),
                                           arguments, [&](std::size_t i) -> Expected<Repetition> {
                                             return run_once(all[i % all.size()],
                                                             arguments.seed * 1'000'003 + i / all.size());
                                           }));
  return measured;
}

Expected<void> report_workflow(const Repetitions& measured, const ExperimentArguments& arguments, std::ostream& out) {
  const auto all = settings();
  const std::size_t wanted = arguments.instances.value_or(k_repetitions);
  SHAPLEY_TRY(expect_units(measured.repetitions.size(), all.size() * wanted));
  std::vector<std::vector<Repetition>> by_setting(all.size());
  for (std::size_t i = 0; i < measured.repetitions.size(); ++i)
    if (measured.repetitions[i]) by_setting[i % all.size()].push_back(*measured.repetitions[i]);
  out << "Fairness among workflows [WF13 Sec. 3], " << counted(wanted, "repetition") << ", seed " << arguments.seed
      << "\nFirst come first served / fairness loop, median (greatest); above 1 the loop is better. T^: relative "
         "duration\n"
      << "Paper, greatest of 4 repetitions: experiment 1 sigma_m 15, sigma_s 7, mu 2; experiment 2 sigma_s 5.9, mu "
         "1.9,\n"
      << "last workflow 5.9; experiment 3 sigma_s 3.8, mu 1.9\n\n"
      << "EXP SLOTS           T^           SIGMA_M         SIGMA_S              MU   LAST SLOWDOWN\n"
      << std::fixed << std::setprecision(2);
  for (std::size_t s = 0; s < all.size(); ++s)
    if (!by_setting[s].empty()) print_setting(all[s], by_setting[s], out);
  return {};
}

}  // namespace

Experiment workflow_experiment() {
  return experiment_of<measure_workflow, report_workflow>();
}

SimulationOutcome simulate_workflows(const std::vector<SimulatedWorkflow>& workflows, const Platform& platform,
                                     Control control, const workflow::Measure& measure) {
  return Simulation(workflows, platform, control, measure).run();
}

}  // namespace shapley::sim
