#include "scheduling/policies/rand.hpp"

#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "scheduling/policies/coalition_policy.hpp"

namespace shapley::scheduling {

std::vector<Permutation> draw_permutations(std::size_t organizations, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Permutation> permutations(count, Permutation(organizations));
  for (Permutation& permutation : permutations) {
    std::iota(permutation.begin(), permutation.end(), 0U);
    rng.shuffle(std::span(permutation));
  }
  return permutations;
}

std::size_t permutations_for(std::size_t organizations, const RandAccuracy& accuracy) {
  const auto k = static_cast<double>(organizations);
  return static_cast<std::size_t>(
      std::ceil(k * k / (accuracy.epsilon * accuracy.epsilon) * std::log(k / (1.0 - accuracy.lambda))));
}

std::unique_ptr<Policy> make_rand(const Instance& instance, const std::vector<Permutation>& permutations,
                                  const game::ServingRule& rule) {
  CoalitionWeights weights(instance.organizations());
  for (const Permutation& permutation : permutations) {
    Coalition before = 0;
    for (const std::uint32_t u : permutation) {
      const Coalition with = before | Coalition{1} << u;
      weights.add(u, with, 1);
      weights.add(u, before, -1);
      before = with;
    }
  }
  weights.scale = static_cast<Int128>(permutations.size());
  return make_weighted_coalitions(instance, weights, rule);
}

}  // namespace shapley::scheduling
