// Compaction: moved jobs are advanced where there is a gap before them [MO11 Sec. 7.1].
#pragma once

#include <cstdint>
#include <vector>

#include "planning/model/schedule.hpp"

namespace shapley::planning {

// Takes the jobs of `moved` in the order of their starts (ties in input order), each to the earliest hole on its own
// cluster. No job starts later than before.
void compact(const Grid& grid, const std::vector<std::uint32_t>& moved, Schedule& schedule);

}  // namespace shapley::planning
