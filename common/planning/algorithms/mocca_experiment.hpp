// MOCCA as the paper's experiments ran it: high and low jobs together [MO11 Sec. 7.1 and 7.3].
//
// Local schedules by any order; jobs that end after alpha LB (alpha 3 or 4) are list-scheduled backwards from there, in
// HF order, smallest cluster first; then every moved job, in the order of starts, is advanced to the earliest hole on
// its cluster. That all jobs find a place is not proved: when one does not, the local schedule stands.
#pragma once

#include <cstdint>

#include "planning/algorithms/local.hpp"

namespace shapley::planning {

struct ExperimentPlan {
  Schedule schedule;
  std::vector<std::uint32_t> moved;  // in HF order; empty after a fall-back
  bool fell_back = false;
};

// REQUIRES: validate(grid), alpha >= 1.
[[nodiscard]] ExperimentPlan plan_mocca_experiment(const Grid& grid, LocalOrder order = LocalOrder::hf, int alpha = 3,
                                                   std::uint64_t seed = 1);

}  // namespace shapley::planning
