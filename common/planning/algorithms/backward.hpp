// Reversed list scheduling: jobs placed between those that stay, from a deadline backwards [MO11 Sec. 5.2 and 7.1].
//
// Time goes back from the deadline over the starts of all jobs, those that stay and those just placed. At every instant
// t the first job in HF order for which a cluster has q idle processors during [t - p, t) ends there, on the smallest
// such cluster; when none fits, time goes back to the next start. O(N n log n) when the holes between the staying jobs
// are few.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/model/schedule.hpp"

namespace shapley::planning {

// Gives new placements to `moved` (in HF order) within `schedule`; all other placements stay. False when a job finds no
// place before the deadline: `schedule` is then of no use.
[[nodiscard]] bool place_backwards(const Grid& grid, const std::vector<std::uint32_t>& moved, Ticks deadline,
                                   Schedule& schedule);

}  // namespace shapley::planning
