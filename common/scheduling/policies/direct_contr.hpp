// DIRECTCONTR [FS13 Algorithm 1]: phi[u] is psi over the processors that u owns, whoever's jobs run on them; serve the
// greatest phi - psi, as the rule says of horizon and guarantee.
//
// The printed algorithm exchanges phi and psi in lines 15-16 and counts each job's first unit twice (lines 13-14 and
// 22-23); this is the definition those lines mean. A started job takes a processor at random among the free ones: the
// owner is drawn with probability free[o] / free, the same law as a random permutation of the processors. `identity`
// takes the lowest-numbered free processor instead (processors numbered organization by organization).
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

struct DirectContrOptions {
  bool identity = false;
  std::uint64_t seed = 1;
  game::ServingRule rule{};
};

[[nodiscard]] std::unique_ptr<Policy> make_direct_contr(const Instance& instance, DirectContrOptions options);

}  // namespace shapley::scheduling
