// From what coalitions would have produced to what every player contributed.
//
// With v(N) = the sum of psi, what really happened, phi is linear in v(N), and everybody's part of it is the same:
//     phi[u] = (share[u] + grand_weight * v(N)) / scale
// where share[u] is made of the virtual coalitions alone. Up to k_exact_players players they are all coalitions, and
// phi is the Shapley value of v: scale = k!, grand_weight = (k-1)!. Above that they are those of 1, 2, k-2 and k-1
// players (game/coalition_weights.hpp, pair_weights), and what phi then lacks of v(N) is spread equally.
//
// Exact: in 128 bits where width_for says that these hold every sum, else in 256. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/int128.hpp"
#include "game/potential.hpp"
#include "hindsight/lattice_keys.hpp"

namespace shapley::hindsight {

// Ten organizations, guests and commons: 4,095 schedules.
inline constexpr std::size_t k_exact_players = 12;
// pair_weights' bound.
inline constexpr std::size_t k_most_players = 32;

// The coalitions whose value is asked for, and that of all, which a player that joins needs; ascending by mask.
// REQUIRES: players <= k_most_players. Without players there are none.
[[nodiscard]] std::vector<Coalition> coalitions_of(std::size_t players);

// share[u], from v of each of coalitions_of(players), in their order; that of all is not read. REQUIRES: 1 <= players.
[[nodiscard]] std::vector<Int256> shares_of(std::span<const Int128> values, std::size_t players);

// phi of every player, as integers that sum to `grand`: floors first, then one more to the largest remainders, ties to
// the smaller rank. REQUIRES: as many shares as ranks, and one at least.
[[nodiscard]] std::vector<Int128> contributions_of(std::span<const Int256> shares, Int128 grand,
                                                   std::span<const std::uint32_t> ranks);

}  // namespace shapley::hindsight
