// A schedule of a grid: every job's cluster and start; makespans and flows of the organizations; checks.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/model/grid.hpp"
#include "planning/model/profile.hpp"

namespace shapley::planning {

struct Placement {
  std::uint32_t cluster = 0;
  Ticks start = 0;  // >= 0
  friend bool operator==(const Placement&, const Placement&) = default;
};

// One placement per job of the grid, in input order.
using Schedule = std::vector<Placement>;

[[nodiscard]] inline Ticks end_of(const Grid& grid, const Schedule& schedule, std::uint32_t job) {
  return schedule[job].start + grid.length_of(grid.jobs[job]);
}
[[nodiscard]] Ticks makespan(const Grid& grid, const Schedule& schedule);
// C_max(O_k): when the last job *owned* by organization k ends; 0 without jobs.
[[nodiscard]] std::vector<Ticks> organization_makespans(const Grid& grid, const Schedule& schedule);
// C_max(M_k): when the last job *running on* cluster k ends; 0 without jobs.
[[nodiscard]] std::vector<Ticks> cluster_makespans(const Grid& grid, const Schedule& schedule);
// The sum of the completion times of each organization's jobs; divided by their number, the mean flow.
[[nodiscard]] std::vector<Ticks> organization_flows(const Grid& grid, const Schedule& schedule);

// Errc::corrupt says what is wrong: a job missing, before instant 0 or on no cluster, or the first instant at which a
// cluster runs more than it has.
[[nodiscard]] Expected<void> check_schedule(const Grid& grid, const Schedule& schedule);

// Errc::corrupt names the first organization whose makespan in `plan` exceeds the one in `local` [MO11 Eq. 1].
[[nodiscard]] Expected<void> check_no_organization_loses(const Grid& grid, const Schedule& local, const Schedule& plan);

// The jobs sorted by (start, input order).
[[nodiscard]] std::vector<std::uint32_t> by_start(const Schedule& schedule, std::vector<std::uint32_t> jobs);
// 0, 1, ... jobs - 1.
[[nodiscard]] std::vector<std::uint32_t> all_jobs(const Grid& grid);

// One profile per cluster, holding the jobs for which keep[job] is true.
[[nodiscard]] std::vector<Profile> profiles_of(const Grid& grid, const Schedule& schedule,
                                               const std::vector<bool>& keep);

}  // namespace shapley::planning
