// phi as a weighted sum of the values of some coalitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/int128.hpp"
#include "game/potential.hpp"

namespace shapley::game {

// scale * phi[u] = sum over the coalitions C of of[u] of of[u][C] * v(C).
struct CoalitionWeights {
  std::vector<std::map<Coalition, std::int64_t>> of;  // by organization
  Int128 scale = 1;

  explicit CoalitionWeights(std::size_t organizations) : of(organizations) {}
  // Adds weight * v(coalition) to organization u; the empty coalition is worth nothing.
  void add(std::size_t u, Coalition coalition, std::int64_t weight) {
    if (coalition != 0) of[u][coalition] += weight;
  }
};

// phi of k organizations, 1 <= k <= 32, from the coalitions of 1, 2, k-2, k-1 and k of them, O(k^2) in number.
//
// The Shapley value is the mean over sizes s = 0..k-1 of a(s), u's mean marginal contribution to a coalition of s
// others:
//     a(0) = v({u})                                   a(1)   = mean over w of v({u,w}) - v({w})
//     a(k-1) = v(N) - v(N\u)                          a(k-2) = mean over w of v(N\w) - v(N\{u,w})
// and a(2)..a(k-3) are interpolated on the line between a(1) and a(k-2), so that
//     phi[u] = ( a(0) + a(k-1) + (k-2) (a(1) + a(k-2)) / 2 ) / k
// which is the exact Shapley value for k <= 4.
[[nodiscard]] CoalitionWeights pair_weights(std::size_t k);

}  // namespace shapley::game
