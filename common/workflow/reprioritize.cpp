#include "workflow/reprioritize.hpp"

namespace shapley::workflow {

namespace {

std::int64_t floor_of(const Fraction& value) {  // of a value >= 0
  const boost::multiprecision::cpp_int whole =
      boost::multiprecision::numerator(value) / boost::multiprecision::denominator(value);
  return whole.convert_to<std::int64_t>();
}

}  // namespace

std::int64_t tasks_above(const Activity& activity, const ActivityState& state, const Fraction& bar) {
  if (!activity.active() || state.pending <= bar) return 0;
  // w > bar >= 0, so T^ is positive and the quotient below Q.
  const Fraction load = activity.waiting + activity.running_count() * state.performance;
  return activity.waiting - floor_of(bar * load / state.relative_duration);
}

std::vector<Raise> reprioritize(const std::vector<Workflow>& workflows, const Unfairness& unfairness,
                                const Fraction& threshold) {
  std::vector<Raise> raises;
  if (!is_unfair(unfairness, threshold)) return raises;
  const Fraction target = unfairness.least + threshold;
  for (std::size_t i = 0; i < workflows.size(); ++i) {
    if (!unfairness.pending[i] || *unfairness.pending[i] <= target) continue;
    for (std::size_t j = 0; j < workflows[i].activities.size(); ++j) {
      const std::int64_t tasks = tasks_above(workflows[i].activities[j], unfairness.activities[i][j], target);
      if (tasks > 0) raises.push_back({i, j, tasks});
    }
  }
  return raises;
}

}  // namespace shapley::workflow
