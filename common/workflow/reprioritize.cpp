#include "workflow/reprioritize.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace shapley::workflow {

namespace {

std::int64_t floor_of(const Fraction& value) {  // of a value >= 0
  const boost::multiprecision::cpp_int whole =
      boost::multiprecision::numerator(value) / boost::multiprecision::denominator(value);
  return whole.convert_to<std::int64_t>();
}

Fraction median_of(std::vector<std::int64_t> values, Median kind) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  if (kind == Median::upper || values.size() % 2 == 1) return Fraction(values[upper]);
  return Fraction(values[upper - 1]) / 2 + Fraction(values[upper]) / 2;
}

std::int64_t total(const Phases& phases) {
  return phases[0] + phases[1] + phases[2] + phases[3];
}

// The medians of the phases, or of the whole durations as a single phase.
std::vector<Fraction> medians(const Activity& activity, const Measure& measure) {
  std::vector<Fraction> result;
  for (std::size_t phase = 0; phase < (measure.phases ? Phases{}.size() : 1); ++phase) {
    std::vector<std::int64_t> values;
    for (const Phases& task : activity.completed) values.push_back(measure.phases ? task[phase] : total(task));
    result.push_back(median_of(std::move(values), measure.median));
  }
  return result;
}

Fraction estimate(const Phases& elapsed, const std::vector<Fraction>& phase_medians) {
  if (phase_medians.size() == 1) return std::max(Fraction(total(elapsed)), phase_medians[0]);
  Fraction sum = 0;
  for (std::size_t phase = 0; phase < elapsed.size(); ++phase)
    sum += std::max(Fraction(elapsed[phase]), phase_medians[phase]);
  return sum;
}

ActivityState observe(const Activity& activity, const Measure& measure) {
  ActivityState state;
  if (activity.completed.size() < 2) return state;
  const auto phase_medians = medians(activity, measure);
  state.median = Fraction(0);
  for (const Fraction& median : phase_medians) *state.median += median;
  for (const Phases& elapsed : activity.running) state.estimates.push_back(estimate(elapsed, phase_medians));
  if (state.estimates.empty()) return state;
  // t_u / (t~ + t_u) rises with t_u, so the longest task decides; 0 / 0 counts as a task that lasts as long as the
  // median.
  const Fraction longest = *std::max_element(state.estimates.begin(), state.estimates.end());
  if (longest + *state.median > 0) state.performance = 2 * (1 - longest / (*state.median + longest));
  return state;
}

void weigh(const Activity& activity, const Fraction& longest_median, const Measure& measure, ActivityState& state) {
  if (measure.relative_duration && state.median && longest_median > 0)
    state.relative_duration = *state.median / longest_median;
  const Fraction load = activity.waiting + activity.running_count() * state.performance;
  if (load > 0) state.pending = activity.waiting / load * state.relative_duration;
}

}  // namespace

std::int64_t tasks_above(const Activity& activity, const ActivityState& state, const Fraction& bar) {
  SHAPLEY_REQUIRE(bar >= 0);
  if (!activity.active() || state.pending <= bar) return 0;
  // w > bar >= 0, so T^ is positive and the quotient below Q.
  const Fraction load = activity.waiting + activity.running_count() * state.performance;
  return activity.waiting - floor_of(bar * load / state.relative_duration);
}

std::vector<Raise> reprioritize(const std::vector<Workflow>& workflows, const Unfairness& unfairness,
                                const Fraction& threshold) {
  SHAPLEY_REQUIRE(unfairness.activities.size() == workflows.size() && threshold >= 0);
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

Unfairness measure_unfairness(const std::vector<Workflow>& workflows, const Measure& measure) {
  Unfairness result;
  Fraction longest_median = 0;
  for (const Workflow& workflow : workflows) {
    std::vector<ActivityState>& states = result.activities.emplace_back();
    for (const Activity& activity : workflow.activities) {
      states.push_back(observe(activity, measure));
      if (activity.active() && states.back().median) longest_median = std::max(longest_median, *states.back().median);
    }
  }
  std::optional<Fraction> greatest;
  for (std::size_t i = 0; i < workflows.size(); ++i) {
    std::optional<Fraction>& pending = result.pending.emplace_back();
    for (std::size_t j = 0; j < workflows[i].activities.size(); ++j) {
      if (!workflows[i].activities[j].active()) continue;
      ActivityState& state = result.activities[i][j];
      weigh(workflows[i].activities[j], longest_median, measure, state);
      pending = pending ? std::max(*pending, state.pending) : state.pending;
    }
    if (!pending) continue;
    result.least = greatest ? std::min(result.least, *pending) : *pending;
    greatest = greatest ? std::max(*greatest, *pending) : *pending;
  }
  if (greatest) result.degree = *greatest - result.least;
  return result;
}

}  // namespace shapley::workflow
