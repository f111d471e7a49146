#include "scheduling/policies/coalitions_loo.hpp"

#include "scheduling/policies/coalition_policy.hpp"

namespace shapley::scheduling {

std::unique_ptr<Policy> make_coalitions_loo(const Instance& instance, const game::ServingRule& rule) {
  const std::size_t k = instance.organizations();
  const Coalition grand = game::grand_coalition(k);
  CoalitionWeights weights(k);
  for (std::size_t u = 0; u < k; ++u) {
    const Coalition self = Coalition{1} << u;
    weights.add(u, self, 1);
    weights.add(u, grand, 1);
    weights.add(u, grand ^ self, -1);
  }
  weights.scale = 2;
  return make_weighted_coalitions(instance, weights, rule);
}

}  // namespace shapley::scheduling
