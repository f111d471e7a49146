#include "sim/commands/workflow_command.hpp"

#include <algorithm>
#include <ostream>

#include "base/counted.hpp"
#include "sim/input/workflow_file.hpp"
#include "sim/json.hpp"
#include "workflow/settings.hpp"

namespace shapley::sim {

namespace {

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

Json activity_json(const workflow::Activity& activity, const workflow::ActivityState& state) {
  Json json = {{"Q", activity.waiting},
               {"R", activity.running_count()},
               {"t_median", state.median ? Json(state.median->str()) : Json()},
               {"T_hat", state.relative_duration.str()},
               {"t_u", state.median ? Json(Json::array()) : Json()},
               {"P", state.performance.str()},
               {"w", state.pending.str()}};
  for (const Fraction& estimate : state.estimates) json["t_u"].push_back(estimate.str());
  return json;
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

Json to_json(const WorkflowState& state, const workflow::Unfairness& unfairness,
             const std::vector<workflow::Raise>& raises) {
  Json json = {{"activities", Json::array()}, {"W", Json::array()}};
  for (std::size_t i = 0; i < state.workflows.size(); ++i) {
    Json activities = Json::array();
    for (std::size_t j = 0; j < state.workflows[i].activities.size(); ++j)
      activities.push_back(activity_json(state.workflows[i].activities[j], unfairness.activities[i][j]));
    json["activities"].push_back(std::move(activities));
    json["W"].push_back(unfairness.pending[i] ? Json(unfairness.pending[i]->str()) : Json());
  }
  const bool triggered = workflow::is_unfair(unfairness, state.threshold);
  json["eta"] = unfairness.degree.str();
  json["W_min"] = unfairness.least.str();
  json["triggered"] = triggered;
  json["delta"] = Json::array();
  for (const workflow::Raise& raise : raises) json["delta"].push_back({raise.workflow, raise.activity, raise.tasks});
  json["raised"] = raised_ids(state, raises);
  json["new_priority"] = triggered ? Json(greatest_priority(state) + 1) : Json();
  return json;
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

Expected<void> workflow_command(const WorkflowArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const workflow::Measure measure, measure_of(arguments));
  SHAPLEY_TRY_ASSIGN(const WorkflowState state, read_workflow_state(arguments.instance));
  const auto unfairness = workflow::measure_unfairness(state.workflows, measure);
  const auto raises = workflow::reprioritize(state.workflows, unfairness, state.threshold);
  if (arguments.json) {
    out << json_text(to_json(state, unfairness, raises), -1) << '\n';
  } else {
    print_text(state, unfairness, raises, out);
  }
  return {};
}

}  // namespace shapley::sim
