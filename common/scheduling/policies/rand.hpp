// RAND(N), the randomized approximation of REF [SR13 Fig. 6]: phi[u] is the mean marginal contribution of u over N
// permutations of the organizations. Every coalition that is a prefix of one of them, the grand one included, is valued
// by a simplified greedy schedule: FCFS by (release, input position). At most N*k schedules.
//
// For unit jobs, N = ceil( k^2 / eps^2 * ln(k / (1 - lambda)) ) keeps |phi - psi| within eps*|v| of REF's with
// probability lambda [SR13 Thm. 5.6].
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

using Permutation = std::vector<std::uint32_t>;

// N permutations drawn uniformly from `seed`.
[[nodiscard]] std::vector<Permutation> draw_permutations(std::size_t organizations, std::size_t count,
                                                         std::uint64_t seed);

struct RandAccuracy {
  double epsilon = 0.1;  // > 0
  double lambda = 0.9;   // in (0, 1)
};
[[nodiscard]] std::size_t permutations_for(std::size_t organizations, const RandAccuracy& accuracy);

// REQUIRES: organizations <= 32; every permutation holds each organization once.
[[nodiscard]] std::unique_ptr<Policy> make_rand(const Instance& instance, const std::vector<Permutation>& permutations,
                                                const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
