// ILBA, iterative load balancing: no job ends later, and the clusters end closer together [MO11 Sec. 6].
//
// Clusters are taken by makespan, non-decreasing (ties in input order). For each but the first, its jobs, in the order
// of their starts (ties in input order), go to the earliest hole on the clusters taken so far and its own. Equal
// starts: the job's own cluster, then the one taken first. A hole is q idle processors, not q adjacent ones: with
// adjacent ones Proposition 11 fails.
//
// A job that a cluster is too small for finds no hole there, so jobs need to fit their owners' clusters only.
//
// O(N n) searches for a hole, as the paper counts; a search is O(log n) for every stretch that is too short, beyond
// what earlier searches for smaller jobs have ruled out.
#pragma once

#include "planning/model/schedule.hpp"

namespace shapley::planning {

// REQUIRES: check_schedule(grid, schedule).
[[nodiscard]] Schedule balance(const Grid& grid, Schedule schedule);

}  // namespace shapley::planning
