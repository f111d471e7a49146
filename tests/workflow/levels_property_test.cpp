// Bounded levels: exactly Delta's oldest tasks are raised, and the level is what a count of bands in floating point
// says.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.hpp"
#include "workflow/levels.hpp"

namespace shapley::workflow {
namespace {

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
