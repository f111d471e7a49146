// The Shapley value of the instantaneous game, as integer rates.
//
//     v_t(C) = min( sum over u in C of demand[u],  sum over u in C of owned[u] )
//
// Demand that only some processors can serve (a placement p: jobs that name their nodes, partition or features) counts
// up to those of them that the coalition owns:
//     v_t(C) = min( sum over C of owned[u],  sum over C of demand[u]  +  sum over p of
//                   min( sum over C of demand_p[u],  sum over C of owned_p[u] ) )
// What a coalition could serve at most is the maximum flow from demand to processors; v_t is never less. It is the same
// where placements have no processors in common, or one of two has all that the other has; else it exceeds the flow by
// at most the processors that placements share, once for each placement beyond the first.
//
// Exact in 2^k steps and without memory that grows with 2^k: with w(s) = s!(k-s-1)! the value of i is, times k!,
//     sum over C with i of v(C) * k (|C|-1)! (k-|C|-1)!  (of v(N) (k-1)! for C = N)
//     minus  sum over C != N of v(C) w(|C|)
// where the second sum is the same for everybody, so that efficiency gives it. The first one is taken over the two
// halves of the players as rows and columns of a table. (The potential of Hart and Mas-Colell, Econometrica 57, 1989,
// gives the values of all subcoalitions as well, in k 2^k; the tests use it as a witness.) Players with no demand and
// no processors are dummies and are left out. Above k_exact_players the mean of the marginal contributions over one
// random permutation and its reverse is taken: unbiased, O(k), drawn from `seed` only. So it is where placements make
// the exact value take more than k_exact_steps. A placement that covers all processors costs nothing: its demand is
// demand for any. Those with the same owners, each of whom could serve all demand there alone, cost as much as one:
// jobs that run on the nodes which they are pinned to, and nobody waits for, are such.
//
// The real values are scaled to sum to `running` and apportioned to integers by largest remainder (ties: lowest index),
// so that sum of rates == running exactly: this is what keeps Sum(phi) = Sum(psi).
//
// Range: v(N) below 2^58, i.e. a hundred thousand times the processors of any cluster. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace shapley::game {

// Exact up to 16 organizations, plus guests and commons: 2^18 coalitions, about a millisecond.
inline constexpr std::size_t k_exact_players = 18;

// Coalitions times placements (and one): some milliseconds.
inline constexpr std::size_t k_exact_steps = std::size_t{1} << 20;

struct Player {
  MicroProcessors demand;  // running + waiting, >= 0
  MicroProcessors owned;   // >= 0
};

// For each player, in the order of the players: its demand that only the placement's processors can serve, and how many
// of those it owns, at most all that it owns.
using Placement = std::vector<Player>;

// Exact Shapley values of v_t multiplied by k! where k = players.size(). REQUIRES: 1 <= k <= k_exact_players. For tests
// and for shapley_rates.
[[nodiscard]] std::vector<Int128> scaled_shapley_values(std::span<const Player> players,
                                                        std::span<const Placement> placements = {});

struct RateOptions {
  MicroProcessors running;                  // what the rates must sum to
  std::uint64_t seed = 0;                   // used where the value is not exact
  std::span<const Placement> placements{};  // demand beside that of the players
};

// One rate per player, >= 0, summing to options.running. If v(N) is 0 while running is not (no processors known), every
// rate is 0 and the caller must credit the owners directly: returns an empty vector then.
[[nodiscard]] std::vector<MicroProcessors> shapley_rates(std::span<const Player> players, const RateOptions& options);

// Splits `total` in proportion to `weights` (>= 0, not all 0 unless total is 0) into integers that sum to total: floors
// first, then one more to the largest remainders, ties to the lowest index.
[[nodiscard]] std::vector<std::int64_t> apportion(std::int64_t total, std::span<const Int128> weights);

}  // namespace shapley::game
