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

#include "planning/algorithms.hpp"

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

// MOCCA(4): for any local policy, no organization ends later than with it, and everything ends by 4 LB
// [MO11 Sec. 5.2, Algorithm 4].
//
// A local schedule stays when its makespan is strictly below 4 LB and strictly below that of HF; otherwise HF's takes
// its place. Jobs that end after 4 LB are list-scheduled backwards from there, in HF order, smallest cluster first.
//
// REQUIRES: validate(grid). Errc::corrupt would mean that Proposition 10 is wrong: a job found no place.
[[nodiscard]] Expected<Schedule> plan_mocca4(const Grid& grid, LocalOrder order, std::uint64_t seed = 1);

// MOCCA as the paper's experiments ran it: high and low jobs together [MO11 Sec. 7.1 and 7.3].
//
// Local schedules by any order; jobs that end after alpha LB (alpha 3 or 4) are list-scheduled backwards from there, in
// HF order, smallest cluster first; then every moved job, in the order of starts, is advanced to the earliest hole on
// its cluster. That all jobs find a place is not proved: when one does not, the local schedule stands.
struct ExperimentPlan {
  Schedule schedule;
  std::vector<std::uint32_t> moved;  // in HF order; empty after a fall-back
  bool fell_back = false;
};

// REQUIRES: validate(grid), alpha >= 1.
[[nodiscard]] ExperimentPlan plan_mocca_experiment(const Grid& grid, LocalOrder order = LocalOrder::hf, int alpha = 3,
                                                   std::uint64_t seed = 1);

// ILBA, iterative load balancing: no job ends later, and the clusters end closer together [MO11 Sec. 6].
//
// Clusters are taken by makespan, non-decreasing (ties in input order). For each but the first, its jobs, in the order
// of their starts (ties in input order), go to the earliest hole on the clusters taken so far and its own. Equal
// starts: the job's own cluster, then the one taken first. A hole is q idle processors, not q adjacent ones: with
// adjacent ones Proposition 11 fails.
//
// A job that is too wide for a cluster finds no hole there, so jobs need to fit their owners' clusters only.
//
// O(N n) searches for a hole, as the paper counts; a search is O(log n) for every stretch that is too short, beyond
// what earlier searches for smaller jobs have ruled out.
//
// REQUIRES: check_schedule(grid, schedule).
[[nodiscard]] Schedule balance(const Grid& grid, Schedule schedule);

// Compaction: moved jobs are advanced where there is a gap before them [MO11 Sec. 7.1]. Takes the jobs of `moved` in
// the order of their starts (ties in input order), each to the earliest hole on its own cluster. No job starts later
// than before.
void compact(const Grid& grid, const std::vector<std::uint32_t>& moved, Schedule& schedule);

}  // namespace shapley::planning
