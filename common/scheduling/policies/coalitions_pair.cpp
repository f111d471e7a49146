#include "scheduling/policies/coalitions_pair.hpp"

namespace shapley::scheduling {

std::unique_ptr<Policy> make_coalitions_pair(const Instance& instance, const game::ServingRule& rule) {
  return make_weighted_coalitions(instance, game::pair_weights(instance.organizations()), rule);
}

}  // namespace shapley::scheduling
