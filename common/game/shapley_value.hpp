// The Shapley value over coalitions that are bit masks, in integers, and how an amount is apportioned by weights. Pure
// functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/contract.hpp"
#include "base/types.hpp"

namespace shapley::game {

// Splits `total` in proportion to `weights` (>= 0, not all 0 unless total is 0) into integers that sum to total: floors
// first, then one more to the largest remainders, ties to the lowest index.
[[nodiscard]] std::vector<std::int64_t> apportion(std::int64_t total, std::span<const Int128> weights);

// The Shapley value of every subcoalition at once, by the potential of Hart and Mas-Colell (Econometrica 57, 1989).
//
//     P({}) = 0,   P(C) = ( v(C) + sum over i in C of P(C\i) ) / |C|,   phi[i](C) = P(C) - P(C\i)
//
// Kept in integers as Q(C) = |C|! P(C):   Q(C) = (|C|-1)! v(C) + sum over i in C of Q(C\i).
// k 2^k additions instead of the k 3^k of the printed sums. Coalitions are bit masks, bit u = organization u.
// Range: |v| < 2^63 and k <= 16 keep |Q| below 16! * 2^63 < 2^108.

// 2^16 coalitions; their schedules are what limits memory (make_ref).
inline constexpr std::uint32_t k_max_lattice_organizations = 16;

using Coalition = std::uint32_t;

// All k organizations. REQUIRES: 1 <= k <= 32.
[[nodiscard]] constexpr Coalition grand_coalition(std::size_t k) {
  SHAPLEY_REQUIRE(1 <= k && k <= 32);
  return ~Coalition{0} >> (32 - k);
}
// Every coalition of k organizations but the empty one, in the order of the masks.
[[nodiscard]] std::vector<Coalition> all_coalitions(std::size_t k);

// n! for n <= 20.
[[nodiscard]] std::int64_t factorial(std::size_t n);

// Computes q[C] for every coalition from values[C]. Both have 2^k entries; values[0] must be 0.
void scaled_potentials(std::span<const std::int64_t> values, std::span<Int128> q);

// phi[i](N) * k! of every organization, when the values of subcoalitions are not wanted: 2^k products and sums instead
// of k 2^k sums. values has 2^k entries, scaled_phi k; 1 <= k <= k_max_lattice_organizations.
void scaled_shapley_values_of_grand(std::span<const std::int64_t> values, std::span<Int128> scaled_phi);

// phi[i](C) * |C|! = Q(C) - |C| Q(C\i), for i in C.
[[nodiscard]] Int128 scaled_shapley(std::span<const Int128> q, Coalition coalition, std::size_t organization);

// Q(C\i), by which the players of C are ordered exactly as by P(C\i), for a choice inside C: all Q(C\i) of one C have
// the scale (|C|-1)!, so they compare directly.
[[nodiscard]] inline Int128 scaled_potential_without(std::span<const Int128> q, Coalition coalition,
                                                     std::size_t organization) {
  return q[coalition & ~(Coalition{1} << organization)];
}

// A set of coalitions, one bit each, 64 to a word: what happens to many coalitions at once is done word by word.
class CoalitionSet {
 public:
  static constexpr std::size_t k_word_bits = 64;

  // The empty set. REQUIRES: organizations <= k_max_lattice_organizations.
  explicit CoalitionSet(std::size_t organizations)
      : words_(((std::size_t{1} << organizations) + k_word_bits - 1) / k_word_bits) {
    SHAPLEY_REQUIRE(organizations <= k_max_lattice_organizations);
  }

  [[nodiscard]] static CoalitionSet holders_of(std::size_t organization, std::size_t organizations) {
    CoalitionSet set(organizations);
    for (Coalition c = 0; c < Coalition{1} << organizations; ++c)
      if ((c >> organization & 1U) != 0) set.insert(c);
    return set;
  }

  [[nodiscard]] bool contains(Coalition c) const { return (words_[c / k_word_bits] >> (c % k_word_bits) & 1U) != 0; }
  void insert(Coalition c) { words_[c / k_word_bits] |= std::uint64_t{1} << (c % k_word_bits); }
  void erase(Coalition c) { words_[c / k_word_bits] &= ~(std::uint64_t{1} << (c % k_word_bits)); }

  // Bit i of word w is coalition 64 w + i.
  [[nodiscard]] std::size_t words() const { return words_.size(); }
  [[nodiscard]] std::uint64_t word(std::size_t w) const { return words_[w]; }
  void set_word(std::size_t w, std::uint64_t bits) { words_[w] = bits; }

  // Calls visit(c) for every coalition whose bit is set in `bits`, the word w of some set, in the order of the masks.
  template <typename Visit>
  static void visit_word(std::size_t w, std::uint64_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1)
      visit(static_cast<Coalition>(w * k_word_bits + static_cast<std::size_t>(std::countr_zero(bits))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

// phi as a weighted sum of the values of some coalitions.
//
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
