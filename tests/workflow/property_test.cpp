// What the loop promises for any state: fractions in [0, 1], Delta the least number that suffices, nothing at the
// threshold, against a second computation in floating point.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.hpp"
#include "workflow/reprioritize.hpp"
#include "workflow/tracker.hpp"

namespace shapley::workflow {
namespace {

std::vector<Workflow> random_workflows(Rng& rng) {
  std::vector<Workflow> workflows(1 + rng.below(4));
  for (Workflow& workflow : workflows) {
    workflow.activities.resize(1 + rng.below(3));
    for (Activity& activity : workflow.activities) {
      activity.waiting = static_cast<std::int64_t>(rng.below(9));
      const auto draw = [&](std::vector<Phases>& tasks, std::uint64_t most) {
        tasks.resize(rng.below(most));
        for (Phases& task : tasks)
          for (std::int64_t& phase : task) phase = static_cast<std::int64_t>(rng.below(20));
      };
      draw(activity.running, 5);
      draw(activity.completed, 6);
    }
  }
  return workflows;
}

// w in floating point, straight from Eq. 3 to 5, with upper medians of whole durations.
double naive_pending(const std::vector<Workflow>& workflows, const Activity& activity, bool relative) {
  const auto sum = [](const Phases& task) { return static_cast<double>(task[0] + task[1] + task[2] + task[3]); };
  const auto median = [&](const Activity& of) {
    std::vector<double> values;
    for (const Phases& task : of.completed) values.push_back(sum(task));
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  double longest = 0;
  for (const Workflow& workflow : workflows)
    for (const Activity& other : workflow.activities)
      if ((other.waiting > 0 || !other.running.empty()) && other.completed.size() >= 2)
        longest = std::max(longest, median(other));
  double performance = 1;
  double duration = 1;
  if (activity.completed.size() >= 2) {
    double worst = 0.5;  // every task takes the median at least
    for (const Phases& task : activity.running) {
      const double estimate = std::max(sum(task), median(activity));
      if (estimate > 0) worst = std::max(worst, estimate / (median(activity) + estimate));
    }
    performance = 2 * (1 - worst);
    if (relative && longest > 0) duration = median(activity) / longest;
  }
  const double waiting = static_cast<double>(activity.waiting);
  const double load = waiting + static_cast<double>(activity.running.size()) * performance;
  return load == 0 ? 0 : waiting / load * duration;
}

RC_GTEST_PROP(Workflow, PendingWorkIsWhatTheEquationsSay, (std::uint64_t seed, bool relative)) {
  Rng rng(seed);
  const auto workflows = random_workflows(rng);
  const Measure measure{Median::upper, false, relative};
  const Unfairness unfairness = measure_unfairness(workflows, measure);
  RC_ASSERT(unfairness.degree >= 0);
  RC_ASSERT(unfairness.degree <= 1);
  for (std::size_t i = 0; i < workflows.size(); ++i) {
    for (std::size_t j = 0; j < workflows[i].activities.size(); ++j) {
      const Activity& activity = workflows[i].activities[j];
      if (!activity.active()) continue;
      const double found = unfairness.activities[i][j].pending.convert_to<double>();
      RC_ASSERT(std::abs(found - naive_pending(workflows, activity, relative)) < 1e-9);
      RC_ASSERT(*unfairness.pending[i] >= unfairness.activities[i][j].pending);
    }
  }
}

RC_GTEST_PROP(Workflow, DeltaIsTheLeastNumberThatSuffices, (std::uint64_t seed, bool phases)) {
  Rng rng(seed);
  const auto workflows = random_workflows(rng);
  const Fraction threshold = Fraction(1 + rng.below(9)) / 20;
  const Unfairness unfairness = measure_unfairness(workflows, {Median::upper, phases, true});
  const auto raises = reprioritize(workflows, unfairness, threshold);
  RC_ASSERT(raises.empty() == (unfairness.degree <= threshold));
  for (const Raise& raise : raises) {
    const Activity& activity = workflows[raise.workflow].activities[raise.activity];
    const ActivityState& state = unfairness.activities[raise.workflow][raise.activity];
    RC_ASSERT(raise.tasks >= 1);
    RC_ASSERT(raise.tasks <= activity.waiting);
    const auto left = [&](std::int64_t raised) -> Fraction {
      return (activity.waiting - raised) / (activity.waiting + activity.running_count() * state.performance) *
             state.relative_duration;
    };
    RC_ASSERT(left(raise.tasks) <= unfairness.least + threshold);
    RC_ASSERT(left(raise.tasks - 1) > unfairness.least + threshold);
  }
}

// The reference's warning: with T^ on, two short tasks that end put a workflow below the threshold permanently.
TEST(Workflow, RelativeDurationHidesShortWorkflows) {
  Workflow brief{{Activity{10, {}, {{1, 0, 0, 0}, {1, 0, 0, 0}}}}};
  Workflow lengthy{{Activity{10, {{50, 0, 0, 0}}, {{100, 0, 0, 0}, {100, 0, 0, 0}}}}};
  const Unfairness on = measure_unfairness({brief, lengthy}, {Median::upper, false, true});
  EXPECT_EQ(on.pending[0]->str(), "1/100");
  EXPECT_EQ(on.pending[1]->str(), "10/11");
  const Unfairness off = measure_unfairness({brief, lengthy}, {Median::upper, false, false});
  EXPECT_EQ(off.pending[0]->str(), "1");
  EXPECT_EQ(off.degree.str(), "1/11");
}

TEST(Workflow, NothingActiveIsFair) {
  EXPECT_EQ(measure_unfairness({}, {}).degree.str(), "0");
  const Unfairness idle = measure_unfairness({Workflow{{Activity{}}}, Workflow{}}, {});
  EXPECT_FALSE(idle.pending[0]);
  EXPECT_EQ(idle.degree.str(), "0");
}

TEST(Workflow, WeightsCountProcessors) {
  const Workflow wide{{Activity{8, {{1, 0, 0, 0}}, {}, 24}}};
  EXPECT_EQ(measure_unfairness({wide}, {}).pending[0]->str(), "1/4");
}

// Bounded levels: exactly Delta's oldest tasks are raised, and the level is what a count of bands in floating point
// says.

RC_GTEST_PROP(Levels, AreBandsOfWhatOlderTasksLeave, (std::uint64_t seed)) {
  Rng rng(seed);
  Activity activity;
  activity.waiting = 1 + static_cast<std::int64_t>(rng.below(60));
  activity.running.resize(rng.below(8));
  const Unfairness measured = measure_unfairness({{{activity}}}, {});
  const ActivityState& state = measured.activities[0][0];
  const Fraction target = Fraction(static_cast<std::int64_t>(rng.below(110))) / 100;
  const LevelCounts counts = level_counts(activity, state, level_bars(target));
  RC_ASSERT(counts.front() == tasks_above(activity, state, target));
  const double load = static_cast<double>(activity.waiting + activity.running_count());
  const double bar = target.convert_to<double>();
  std::uint32_t last = k_max_level;
  for (std::int64_t older = 0; older < activity.waiting; ++older) {
    const std::uint32_t level = level_at(counts, older);
    RC_ASSERT(level <= last);
    RC_ASSERT((level > 0) == (older < counts.front()));
    last = level;
    const double w = static_cast<double>(activity.waiting - older) / load;
    const double bands = bar < 1 ? (w - bar) / (1 - bar) * k_max_level : 0;
    // On the edge of a band floating point may fall on either side.
    if (std::abs(bands - std::round(bands)) > 1e-9) {
      RC_ASSERT(level == static_cast<std::uint32_t>(std::max(0.0, std::ceil(bands))));
    }
  }
}

}  // namespace
}  // namespace shapley::workflow
