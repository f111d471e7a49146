// The Shapley value of the instantaneous game, as integer rates.
//
//     v_t(C) = min( sum over u in C of demand[u],  sum over u in C of owned[u] )
//
// Exact by the potential of Hart and Mas-Colell (Econometrica 57, 1989), in integers:
//     Q({}) = 0,  Q(C) = (|C|-1)! v(C) + sum over i in C of Q(C\i),   phi[i](N) = ( Q(N) - |N| Q(N\i) ) / |N|!
// O(k 2^k). Players with no demand and no processors are dummies and are left out. Above k_exact_players the mean of
// the marginal contributions over one random permutation and its reverse is taken: unbiased, O(k), drawn from `seed`
// only.
//
// The real values are scaled to sum to `running` and apportioned to integers by largest remainder (ties: lowest index),
// so that sum of rates == running exactly: this is what keeps Sum(phi) = Sum(psi).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace shapley::fairness {

// Exact up to 16 organizations, plus guests and commons. 2^18 coalitions of 16 bytes are 4 MiB.
inline constexpr std::size_t k_exact_players = 18;

struct Player {
  MicroProcessors demand;  // running + waiting, >= 0
  MicroProcessors owned;   // >= 0
};

// Exact Shapley values of v_t multiplied by k! where k = players.size(). REQUIRES: 1 <= k <= k_exact_players. For tests
// and for shapley_rates.
[[nodiscard]] std::vector<Int128> scaled_shapley_values(std::span<const Player> players);

struct RateOptions {
  MicroProcessors running;  // what the rates must sum to
  std::uint64_t seed = 0;   // used above k_exact_players only
};

// One rate per player, >= 0, summing to options.running. If v(N) is 0 while running is not (no processors known), every
// rate is 0 and the caller must credit the owners directly: returns an empty vector then.
[[nodiscard]] std::vector<MicroProcessors> shapley_rates(std::span<const Player> players, const RateOptions& options);

// Splits `total` in proportion to `weights` (>= 0, not all 0 unless total is 0) into integers that sum to total: floors
// first, then one more to the largest remainders, ties to the lowest index.
[[nodiscard]] std::vector<std::int64_t> apportion(std::int64_t total, std::span<const Int128> weights);

}  // namespace shapley::fairness
