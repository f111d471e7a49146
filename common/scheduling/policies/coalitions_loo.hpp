// COALITIONS(leave-one-out): 2k+1 simulated coalitions: each organization alone, all without it, and all together.
//
//     phi[u] = 1/2 ( v({u}) + v(N) - v(N\u) )
//
// the mean of the first and the last marginal contribution. Every coalition is valued under FCFS (fcfs_schedules.hpp).
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_coalitions_loo(const Instance& instance, const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
