// An amount among those who share something by weights.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "game/shapley_value.hpp"

namespace shapley::game {

// Calls visit(share, part) for each of the shares, in their order: its part of `total`, apportioned by largest
// remainder (apportion), so that the parts sum to total. weight_of(share) >= 0, not all 0. REQUIRES: at least one
// share.
template <typename Shares, typename WeightOf, typename Visit>
void split_among(const Shares& shares, std::int64_t total, WeightOf&& weight_of, Visit&& visit) {
  if (shares.size() == 1) {
    visit(shares.front(), total);
    return;
  }
  std::vector<Int128> weights;
  weights.reserve(shares.size());
  for (const auto& share : shares) weights.push_back(weight_of(share));
  const std::vector<std::int64_t> parts = apportion(total, weights);
  for (std::size_t i = 0; i < shares.size(); ++i) visit(shares[i], parts[i]);
}

}  // namespace shapley::game
