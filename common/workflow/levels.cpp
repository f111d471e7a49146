#include "workflow/levels.hpp"

#include <algorithm>

namespace shapley::workflow {

LevelBars level_bars(const Fraction& target) {
  LevelBars bars;
  for (std::uint32_t band = 0; band < k_max_level; ++band) bars[band] = target + (1 - target) * band / k_max_level;
  return bars;
}

LevelCounts level_counts(const Activity& activity, const ActivityState& state, const LevelBars& bars) {
  LevelCounts counts{};
  for (std::uint32_t band = 0; band < k_max_level; ++band) {
    counts[band] = tasks_above(activity, state, bars[band]);
    if (counts[band] == 0) break;  // and none above
  }
  return counts;
}

std::uint32_t level_at(const LevelCounts& counts, std::int64_t older) {
  return static_cast<std::uint32_t>(
      std::count_if(counts.begin(), counts.end(), [&](std::int64_t count) { return older < count; }));
}

}  // namespace shapley::workflow
