// MOCCA(4): for any local policy, no organization ends later than with it, and everything ends by 4 LB
// [MO11 Sec. 5.2, Algorithm 4].
//
// A local schedule stays when its makespan is strictly below 4 LB and strictly below that of HF; otherwise HF's takes
// its place. Jobs that end after 4 LB are list-scheduled backwards from there, in HF order, smallest cluster first.
#pragma once

#include <cstdint>

#include "planning/algorithms/local.hpp"

namespace shapley::planning {

// REQUIRES: validate(grid). Errc::corrupt would mean that Proposition 10 is wrong: a job found no place.
[[nodiscard]] Expected<Schedule> plan_mocca4(const Grid& grid, LocalOrder order, std::uint64_t seed = 1);

}  // namespace shapley::planning
