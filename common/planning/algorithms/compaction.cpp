#include "planning/algorithms/compaction.hpp"

namespace shapley::planning {

void compact(const Grid& grid, const std::vector<std::uint32_t>& moved, Schedule& schedule) {
  auto profiles = profiles_of(grid, schedule, std::vector<bool>(grid.jobs.size(), true));
  for (const std::uint32_t job : by_start(schedule, moved)) {
    Placement& place = schedule[job];
    const Job& shape = grid.jobs[job];
    const Ticks length = grid.length_of(shape);
    Profile& profile = profiles[place.cluster];
    profile.add(place.start, place.start + length, -shape.processors);
    // Its own place is a hole, so there is one.
    place.start = profile.earliest_hole(shape.processors, length, place.start).value_or(place.start);
    profile.add(place.start, place.start + length, shape.processors);
  }
}

}  // namespace shapley::planning
