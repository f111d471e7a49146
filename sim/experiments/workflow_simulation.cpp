#include "sim/experiments/workflow_simulation.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace shapley::sim {

namespace {

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

}  // namespace

SimulationOutcome simulate_workflows(const std::vector<SimulatedWorkflow>& workflows, const Platform& platform,
                                     Control control, const workflow::Measure& measure) {
  return Simulation(workflows, platform, control, measure).run();
}

}  // namespace shapley::sim
