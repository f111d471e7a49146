// From what coalitions would have produced to what every player contributed.
//
// phi is linear in v(N), and every player's part of it is the same. So whether v(N) is virtual and the gap to what
// really ran comes on top in equal parts, or v(N) = the sum of psi, what really ran, is one:
//     phi[u] = (share[u] + grand_weight * Sum(psi)) / scale
// where share[u] is made of the virtual coalitions alone. Up to `exact` players they are all coalitions, and phi is the
// Shapley value of v: scale = k!, grand_weight = (k-1)!. Above that they are those of 1, 2, k-2 and k-1
// players (game/shapley_value.hpp, pair_weights), and what phi then lacks of v(N) is spread equally.
//
// Where players joined or left meanwhile the gap is shared as gap_shares.hpp describes: add_gap() adds to share[u] the
// difference between u's part and an equal part.
//
// Exact: in 128 bits where width_for says that these hold every sum, else in 256. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "game/shapley_value.hpp"
#include "hindsight/gap_shares.hpp"
#include "hindsight/lattice_keys.hpp"

namespace shapley::hindsight {

// The largest value of `exact`. Ten organizations, guests and commons: 4,095 schedules.
inline constexpr std::size_t k_exact_players = 12;
// `exact` when schedules are to be few: the coalitions of 1, 2, k-2 and k-1 players are then all of them.
inline constexpr std::size_t k_exact_by_pairs = 5;
// pair_weights' bound.
inline constexpr std::size_t k_most_players = 32;

// The coalitions whose values are needed, and that of all players, which a new player's coalitions are made from;
// ascending by mask. REQUIRES: players <= k_most_players. Empty without players.
[[nodiscard]] std::vector<Coalition> coalitions_of(std::size_t players, std::size_t exact = k_exact_players);

// share[u] with the gap in equal parts, from v of each of coalitions_of(players), in their order; the value for all is
// not used. REQUIRES: 1 <= players.
[[nodiscard]] std::vector<Int256> shares_of(std::span<const Int128> values, std::size_t players,
                                            std::size_t exact = k_exact_players);

// Adds each player's part of the gap in place of an equal one: `parts` by player, and their sum, times k_gap_parts
// (GapShares). Further players have no part. REQUIRES: no stretch had more players than there are shares.
void add_gap(std::span<Int256> shares, std::span<const Int256> parts, const Int256& sum,
             std::size_t exact = k_exact_players);

// phi of every player, as integers that sum to `grand`: floors first, then one more to the largest remainders, ties to
// the smaller rank. REQUIRES: as many shares as ranks, and one at least.
[[nodiscard]] std::vector<Int128> contributions_of(std::span<const Int256> shares, Int128 grand,
                                                   std::span<const std::uint32_t> ranks,
                                                   std::size_t exact = k_exact_players);

}  // namespace shapley::hindsight
