// COALITIONS(all): the Shapley value over all 2^k coalitions, each valued under FCFS (fcfs_schedules.hpp).
//
// What separates it from REF is only how subcoalitions schedule. RAND over every permutation is the same algorithm. 2^k
// schedules and 2^k steps a choice; memory as in fcfs_schedules.hpp.
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

// REQUIRES: 1 <= organizations <= k_max_lattice_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_coalitions_all(const Instance& instance, const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
