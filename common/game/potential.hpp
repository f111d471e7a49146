// The Shapley value of every subcoalition at once, by the potential of Hart and Mas-Colell (Econometrica 57, 1989).
//
//     P({}) = 0,   P(C) = ( v(C) + sum over i in C of P(C\i) ) / |C|,   phi[i](C) = P(C) - P(C\i)
//
// Kept in integers as Q(C) = |C|! P(C):   Q(C) = (|C|-1)! v(C) + sum over i in C of Q(C\i).
// k 2^k additions instead of the k 3^k of the printed sums. Coalitions are bit masks, bit u = organization u.
// Range: |v| < 2^63 and k <= 16 keep |Q| below 16! * 2^63 < 2^108.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/int128.hpp"

namespace shapley::game {

// 2^16 coalitions; their schedules are what limits memory (scheduling/policies/ref.hpp).
inline constexpr std::uint32_t k_max_lattice_organizations = 16;

using Coalition = std::uint32_t;

// All k organizations. REQUIRES: 1 <= k <= 32.
[[nodiscard]] constexpr Coalition grand_coalition(std::size_t k) {
  return ~Coalition{0} >> (32 - k);
}
// Every coalition of k organizations but the empty one, in the order of the masks.
[[nodiscard]] std::vector<Coalition> all_coalitions(std::size_t k);

// n! for n <= 20.
[[nodiscard]] std::int64_t factorial(std::size_t n);

// Fills q[C] for every coalition from values[C]. Both have 2^k entries; values[0] must be 0.
void scaled_potentials(std::span<const std::int64_t> values, std::span<Int128> q);

// phi[i](N) * k! of every organization, when the values of subcoalitions are not wanted: 2^k products and sums instead
// of k 2^k sums. values has 2^k entries, scaled_phi k; 1 <= k <= k_max_lattice_organizations.
void scaled_shapley_values_of_grand(std::span<const std::int64_t> values, std::span<Int128> scaled_phi);

// phi[i](C) * |C|! = Q(C) - |C| Q(C\i), for i in C.
[[nodiscard]] Int128 scaled_shapley(std::span<const Int128> q, Coalition coalition, std::size_t organization);

// Exact order of the players of C by P(C\i), for a choice inside C: returns |C|-1 factorial scaled value Q(C\i). All
// Q(C\i) of one C share that scale, so they compare directly.
[[nodiscard]] inline Int128 scaled_potential_without(std::span<const Int128> q, Coalition coalition,
                                                     std::size_t organization) {
  return q[coalition & ~(Coalition{1} << organization)];
}

}  // namespace shapley::game
