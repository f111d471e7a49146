// FAIRTREE, an outside baseline: what Slurm's priority/multifactor does by default (PriorityFlags without
// NO_FAIR_TREE), with the organizations as sibling accounts whose raw shares are their processors.
//
// Siblings are ranked by level fairshare  LF[u] = S[u] / U[u],  S = m[u] / M and U = usage[u] / sum of usage, so by
// m[u] / usage[u]: the largest is served. No usage makes LF infinite, no shares make it 0. As in Slurm, usage changes
// only every PriorityCalcPeriod (300 s) and forgets with PriorityDecayHalfLife (7 days), by the factor that slurmctld
// uses:
//     usage[u] <- ( usage[u] + processor seconds of the period ) * (1 - 0.693 / half_life) ^ 300
// Usage is a double, as in Slurm; every operation is an IEEE product or sum, so results are the same on every machine.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_fair_tree(const Instance& instance);

}  // namespace shapley::scheduling
