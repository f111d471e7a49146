// MOCCA: no organization ends later than alone, and everything ends by 3 LB [MO11 Sec. 4, Algorithms 1 to 3].
//
// Phase 1: local HF schedules; the jobs that end after 3 LB are taken out. Phase 2: the high ones (q > m_k / 2),
// highest first, go to the end of the clusters, from 3 LB backwards, smallest cluster first. Phase 3: the rest is
// list-scheduled after the local jobs, largest cluster first.
//
// Where the paper leaves a choice: ties in input order; a job that ends exactly at 3 LB stays; in phase 3, when no
// cluster has C>=j at the present potential start, time goes on to the next one. O(n log n) for a constant number N of
// clusters, O(N n log n) in all.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/model/schedule.hpp"

namespace shapley::planning {

struct MoccaPlan {
  Schedule schedule;
  std::vector<std::uint32_t> removed;  // taken out in phase 1, in HF order
  std::vector<std::uint32_t> phase2;   // placed in phase 2, in that order
  std::vector<std::uint32_t> phase3;   // placed in phase 3, in that order
};

// REQUIRES: validate(grid). Errc::corrupt would mean that Theorem 1 is wrong: a job found no place.
[[nodiscard]] Expected<MoccaPlan> plan_mocca(const Grid& grid);

// The jobs of `schedule` that end after `deadline`, in HF order.
[[nodiscard]] std::vector<std::uint32_t> ending_after(const Grid& grid, const Schedule& schedule, Ticks deadline);

}  // namespace shapley::planning
