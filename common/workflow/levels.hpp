// Delta's raised tasks as bounded levels, computed anew in each cycle.
//
// [WF13 Algorithm 2] gives a raised task the greatest priority plus one, which grows without bound and which other
// factors of Slurm's priority disturb. Instead the range from W_min + tau to 1, the greatest w, is divided into
// k_max_level equal bands, and a waiting task's level is the number of bands that its activity's w would reach if all
// tasks of the activity that are older were started: the greatest level goes to the oldest task of whoever waits most.
// So the raised tasks are exactly Delta's, the oldest, and those of two activities that are behind alternate as they
// catch up.
#pragma once

#include <array>
#include <cstdint>

#include "workflow/reprioritize.hpp"

namespace shapley::workflow {

inline constexpr std::uint32_t k_max_level = 15;

// Entry l - 1: the lower bound of band l, W_min + tau for l = 1.
using LevelBars = std::array<Fraction, k_max_level>;

// REQUIRES: 0 <= target, which is W_min + tau. At 1 or more no w exceeds any bound.
[[nodiscard]] LevelBars level_bars(const Fraction& target);

// Entry l - 1: how many of the activity's tasks have level l or more, Delta for l = 1; never rising.
using LevelCounts = std::array<std::int64_t, k_max_level>;

// REQUIRES: `state` was measured on `activity`.
[[nodiscard]] LevelCounts level_counts(const Activity& activity, const ActivityState& state, const LevelBars& bars);

// The level of a task before which `older` tasks (or processors, if tasks count so) of its activity wait; 0: not
// raised.
[[nodiscard]] std::uint32_t level_at(const LevelCounts& counts, std::int64_t older);

}  // namespace shapley::workflow
