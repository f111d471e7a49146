#include "planning/algorithms/mocca4.hpp"

#include "planning/algorithms/backward.hpp"
#include "planning/algorithms/mocca.hpp"

namespace shapley::planning {

Expected<Schedule> plan_mocca4(const Grid& grid, LocalOrder order, std::uint64_t seed) {
  const Ticks deadline = 4 * grid.lower_bound();
  Schedule schedule = schedule_locally(grid, order, seed);
  const Schedule highest = schedule_locally(grid, LocalOrder::hf);
  const auto chosen = organization_makespans(grid, schedule);
  const auto reference = organization_makespans(grid, highest);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const std::uint32_t owner = grid.jobs[i].owner;
    if (chosen[owner] >= deadline || chosen[owner] >= reference[owner]) schedule[i] = highest[i];
  }
  if (!place_backwards(grid, ending_after(grid, schedule, deadline), deadline, schedule))
    return fail(Errc::corrupt, "mocca4: a job found no place before 4 LB, which Proposition 10 of MO11 excludes");
  return schedule;
}

}  // namespace shapley::planning
