#include "workflow/levels.hpp"

#include <algorithm>

namespace shapley::workflow {

LevelCounts level_counts(const Activity& activity, const ActivityState& state, const Fraction& target) {
  LevelCounts counts{};
  for (std::uint32_t band = 0; band < k_max_level; ++band) {
    const Fraction bar = target + (1 - target) * band / k_max_level;
    counts[band] = tasks_above(activity, state, bar);
    if (counts[band] == 0) break;  // and none above
  }
  return counts;
}

std::uint32_t level_at(const LevelCounts& counts, std::int64_t older) {
  return static_cast<std::uint32_t>(
      std::count_if(counts.begin(), counts.end(), [&](std::int64_t count) { return older < count; }));
}

}  // namespace shapley::workflow
