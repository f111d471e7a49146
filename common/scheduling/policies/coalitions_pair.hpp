// COALITIONS(pairs): simulated coalitions of 1, 2, k-2, k-1 and k organizations, O(k^2) of them,
// weighted as game/coalition_weights.hpp says. Every coalition is valued under FCFS (fcfs_schedules.hpp).
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/coalition_policy.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_coalitions_pair(const Instance& instance,
                                                           const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
