// COALITIONS(pairs): simulated coalitions of 1, 2, k-2, k-1 and k organizations, O(k^2) of them.
//
// The Shapley value is the mean over sizes s = 0..k-1 of a(s), u's mean marginal contribution to a coalition of s
// others:
//     a(0) = v({u})                                   a(1)   = mean over w of v({u,w}) - v({w})
//     a(k-1) = v(N) - v(N\u)                          a(k-2) = mean over w of v(N\w) - v(N\{u,w})
// and a(2)..a(k-3) are interpolated on the line between a(1) and a(k-2), so that
//     phi[u] = ( a(0) + a(k-1) + (k-2) (a(1) + a(k-2)) / 2 ) / k
// which is the exact Shapley value for k <= 4. Every coalition is valued under FCFS (fcfs_schedules.hpp).
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/coalition_policy.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

// phi of k organizations from those coalitions; 1 <= k <= 32.
[[nodiscard]] CoalitionWeights pair_weights(std::size_t k);

[[nodiscard]] std::unique_ptr<Policy> make_coalitions_pair(const Instance& instance,
                                                           const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
