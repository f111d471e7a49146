#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <ostream>

#include "base/description.hpp"
#include "base/text.hpp"
#include "charts/plot.hpp"
#include "planning/algorithms.hpp"
#include "sim/commands/commands.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/json.hpp"
#include "workflow/settings.hpp"

namespace shapley::sim {

namespace {

using planning::Grid;
using planning::Schedule;
using planning::Ticks;

std::string time_text(const Grid& grid, Ticks ticks) {
  return planning::fraction_text(ticks, grid.ticks_per_unit());
}

// C_max / LB; 1 for an instance without jobs.
std::string score_text(const Grid& grid, const Schedule& schedule) {
  const Ticks bound = grid.lower_bound();
  return bound == 0 ? "1" : planning::fraction_text(planning::makespan(grid, schedule), bound);
}

// A plan in JSON; times are fractions of the instance's unit.
struct PlannedJob {
  std::int64_t id = 0;
  std::uint32_t cluster = 0;
  std::string start, end;
};
constexpr auto description_of(std::type_identity<PlannedJob>) {
  return describe(member("id", &PlannedJob::id), member("cluster", &PlannedJob::cluster),
                  member("start", &PlannedJob::start), member("end", &PlannedJob::end));
}
struct PlanReport {
  std::string cmax, score, lower_bound;
  std::vector<std::string> org_makespans;
  std::vector<PlannedJob> schedule;
};
constexpr auto description_of(std::type_identity<PlanReport>) {
  using R = PlanReport;
  return describe(member("cmax", &R::cmax), member("score", &R::score), member("LB", &R::lower_bound),
                  member("org_makespans", &R::org_makespans), member("schedule", &R::schedule));
}

PlanReport report_of(const NamedGrid& named, const Schedule& schedule) {
  const Grid& grid = named.grid;
  PlanReport report{.cmax = time_text(grid, planning::makespan(grid, schedule)),
                    .score = score_text(grid, schedule),
                    .lower_bound = time_text(grid, grid.lower_bound()),
                    .org_makespans = {},
                    .schedule = {}};
  for (const Ticks end : planning::organization_makespans(grid, schedule))
    report.org_makespans.push_back(time_text(grid, end));
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    report.schedule.push_back({named.ids[i], schedule[i].cluster, time_text(grid, schedule[i].start),
                               time_text(grid, planning::end_of(grid, schedule, i))});
  }
  return report;
}

void print_table(const NamedGrid& named, const Schedule& schedule, std::ostream& out) {
  const Grid& grid = named.grid;
  out << "makespan " << time_text(grid, planning::makespan(grid, schedule)) << ", lower bound "
      << time_text(grid, grid.lower_bound()) << ", score " << score_text(grid, schedule) << "\n\n";
  out << std::left << std::setw(14) << "ORGANIZATION" << std::right << std::setw(12) << "PROCESSORS" << std::setw(20)
      << "MAKESPAN" << std::setw(20) << "CLUSTER BUSY UNTIL" << '\n';
  const auto owned = planning::organization_makespans(grid, schedule);
  const auto busy = planning::cluster_makespans(grid, schedule);
  for (std::size_t k = 0; k < owned.size(); ++k) {
    out << std::left << std::setw(14) << k << std::right << std::setw(12) << grid.clusters[k] << std::setw(20)
        << time_text(grid, owned[k]) << std::setw(20) << time_text(grid, busy[k]) << '\n';
  }
}

// The processors of one cluster that each of its jobs takes: at every start the lowest idle ones.
std::vector<charts::GanttBox> boxes_of(const Grid& grid, const Schedule& schedule, std::uint32_t cluster) {
  std::vector<std::uint32_t> jobs;
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    if (schedule[i].cluster == cluster) jobs.push_back(i);
  std::vector<Ticks> free_since(static_cast<std::size_t>(grid.clusters[cluster]), 0);
  std::vector<charts::GanttBox> boxes;
  for (const std::uint32_t job : planning::by_start(schedule, std::move(jobs))) {
    std::int64_t wanted = grid.jobs[job].processors;
    for (std::uint32_t p = 0; p < free_since.size() && wanted > 0; ++p) {
      if (free_since[p] > schedule[job].start) continue;
      free_since[p] = planning::end_of(grid, schedule, job);
      const Ticks unit = grid.ticks_per_unit();  // a chart shows whole units
      boxes.push_back({p, static_cast<std::int64_t>(schedule[job].start / unit),
                       static_cast<std::int64_t>(free_since[p] / unit), grid.jobs[job].owner});
      --wanted;
    }
  }
  return boxes;
}

Expected<void> plot(const std::filesystem::path& folder, const Grid& grid, const Schedule& schedule) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, "--plot: " + folder.string() + ": " + error.message());
  for (std::uint32_t k = 0; k < grid.organizations(); ++k) {
    const auto boxes = boxes_of(grid, schedule, k);
    if (boxes.empty()) continue;  // nothing runs there
    const std::string number = std::to_string(k);
    SHAPLEY_TRY(
        charts::plot_gantt(folder / ("cluster-" + number + ".svg"), "cluster " + number, grid.organizations(), boxes));
  }
  return {};
}

Expected<NamedGrid> load(const PlanArguments& arguments) {
  if (!arguments.instance.empty()) return read_grid(arguments.instance);
  if (arguments.queue.source.trace.empty())
    return fail(Errc::invalid_argument, "plan: give --instance FILE or --trace FILE");
  SHAPLEY_TRY_ASSIGN(PendingGrid pending, read_pending(arguments.queue));
  if (pending.too_wide > 0)
    std::cerr << "shapley-sim: left out " << counted(pending.too_wide, "job")
              << (pending.too_wide == 1 ? " that is" : " that are") << " wider than the smallest cluster\n";
  return std::move(pending.named);
}

using workflow::Fraction;

Expected<workflow::Measure> measure_of(const WorkflowArguments& arguments) {
  workflow::Settings settings;
  settings.relative_duration = arguments.relative_duration;
  for (const auto& [name, mode] : workflow::k_modes) {
    settings.mode = mode;
    if (arguments.mode == name) return workflow::measure_of(settings);
  }
  return fail(Errc::invalid_argument,
              "mode \"" + arguments.mode +
                  "\" is unknown; there are phases_upper_median, phases_mid_median, elapsed_only_upper_median");
}

// A step of the workflow fairness loop in JSON, in the letters of [WF13].
struct ActivityReport {
  std::int64_t waiting = 0, running = 0;
  std::optional<std::string> median;
  std::string relative_duration;
  std::optional<std::vector<std::string>> estimates;
  std::string performance, pending;
};
constexpr auto description_of(std::type_identity<ActivityReport>) {
  using R = ActivityReport;
  return describe(member("Q", &R::waiting), member("R", &R::running), member("t_median", &R::median),
                  member("T_hat", &R::relative_duration), member("t_u", &R::estimates), member("P", &R::performance),
                  member("w", &R::pending));
}
struct WorkflowReport {
  std::vector<std::vector<ActivityReport>> activities;
  std::vector<std::optional<std::string>> pending;
  std::string degree, least;
  bool triggered = false;
  std::vector<std::array<std::int64_t, 3>> raises;  // workflow, activity, tasks
  std::vector<std::int64_t> raised;
  std::optional<std::int64_t> new_priority;
};
constexpr auto description_of(std::type_identity<WorkflowReport>) {
  using R = WorkflowReport;
  return describe(member("activities", &R::activities), member("W", &R::pending), member("eta", &R::degree),
                  member("W_min", &R::least), member("triggered", &R::triggered), member("delta", &R::raises),
                  member("raised", &R::raised), member("new_priority", &R::new_priority));
}

ActivityReport report_of(const workflow::Activity& activity, const workflow::ActivityState& state) {
  ActivityReport report{.waiting = activity.waiting,
                        .running = activity.running_count(),
                        .median = {},
                        .relative_duration = state.relative_duration.str(),
                        .estimates = {},
                        .performance = state.performance.str(),
                        .pending = state.pending.str()};
  if (!state.median) return report;
  report.median = state.median->str();
  report.estimates.emplace();
  for (const Fraction& estimate : state.estimates) report.estimates->push_back(estimate.str());
  return report;
}

// The ids of the raised tasks: the oldest of each activity's waiting ones.
std::vector<std::int64_t> raised_ids(const WorkflowState& state, const std::vector<workflow::Raise>& raises) {
  std::vector<std::int64_t> ids;
  for (const workflow::Raise& raise : raises) {
    const auto& queue = state.waiting[raise.workflow][raise.activity];
    for (std::int64_t p = 0; p < raise.tasks; ++p) ids.push_back(queue[static_cast<std::size_t>(p)].id);
  }
  return ids;
}

std::int64_t greatest_priority(const WorkflowState& state) {
  std::int64_t greatest = 1;
  for (const auto& activities : state.waiting)
    for (const auto& queue : activities)
      for (const WaitingTask& task : queue) greatest = std::max(greatest, task.priority);
  return greatest;
}

WorkflowReport report_of(const WorkflowState& state, const workflow::Unfairness& unfairness,
                         const std::vector<workflow::Raise>& raises) {
  WorkflowReport report;
  for (std::size_t i = 0; i < state.workflows.size(); ++i) {
    auto& activities = report.activities.emplace_back();
    for (std::size_t j = 0; j < state.workflows[i].activities.size(); ++j)
      activities.push_back(report_of(state.workflows[i].activities[j], unfairness.activities[i][j]));
    auto& pending = report.pending.emplace_back();
    if (unfairness.pending[i]) pending = unfairness.pending[i]->str();
  }
  report.degree = unfairness.degree.str();
  report.least = unfairness.least.str();
  report.triggered = workflow::is_unfair(unfairness, state.threshold);
  for (const workflow::Raise& raise : raises)
    report.raises.push_back(
        {static_cast<std::int64_t>(raise.workflow), static_cast<std::int64_t>(raise.activity), raise.tasks});
  report.raised = raised_ids(state, raises);
  if (report.triggered) report.new_priority = greatest_priority(state) + 1;
  return report;
}

void print_text(const WorkflowState& state, const workflow::Unfairness& unfairness,
                const std::vector<workflow::Raise>& raises, std::ostream& out) {
  for (std::size_t i = 0; i < unfairness.pending.size(); ++i) {
    out << "workflow " << i << ": "
        << (unfairness.pending[i] ? "W = " + unfairness.pending[i]->str() : std::string("no active activity")) << '\n';
  }
  out << "eta = " << unfairness.degree.str() << ", tau = " << state.threshold.str() << ": "
      << (workflow::is_unfair(unfairness, state.threshold) ? "unfair" : "nothing to do") << '\n';
  for (const workflow::Raise& raise : raises)
    out << "raise " << counted(raise.tasks, "task") << " of workflow " << raise.workflow << ", activity "
        << raise.activity << '\n';
}

}  // namespace

Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const NamedGrid named, load(arguments));
  SHAPLEY_TRY_ASSIGN(const Schedule schedule, planning::plan(named.grid, arguments.algorithm, arguments.seed));
  if (!arguments.plot.empty()) SHAPLEY_TRY(plot(arguments.plot, named.grid, schedule));
  if (arguments.json) {
    out << text_of(json_of<Json>(report_of(named, schedule)), -1) << '\n';
  } else {
    print_table(named, schedule, out);
  }
  return {};
}

Expected<void> workflow_command(const WorkflowArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const workflow::Measure measure, measure_of(arguments));
  SHAPLEY_TRY_ASSIGN(const WorkflowState state, read_workflow_state(arguments.instance));
  const auto unfairness = workflow::measure_unfairness(state.workflows, measure);
  const auto raises = workflow::reprioritize(state.workflows, unfairness, state.threshold);
  if (arguments.json) {
    out << text_of(json_of<Json>(report_of(state, unfairness, raises)), -1) << '\n';
  } else {
    print_text(state, unfairness, raises, out);
  }
  return {};
}

}  // namespace shapley::sim
