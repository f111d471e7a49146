// The player that the coalition of all serves next, from the values of its proper subcoalitions: the order by the
// Shapley value without the value of the grand coalition, which enters every player's alike.
//
//     key[u] = (k-1)! (P(N\u) + psi[u]),    phi[u] - psi[u] = P(N) - P(N\u) - psi[u]       (shapley_value.hpp)
//
// so the smallest key is served first. With all coalitions' weights known beforehand
//     (k-1)! P(N\u) = sum over S in N\u, S not empty, of (|S|-1)! (k-1-|S|)! v(S)
// and that is the sum over all proper S, the same for every player, less the S that hold u: 2^k products, and sums over
// the two halves of the players as rows and columns of a table.
//
// Exact. No sum on the way exceeds 6 k! times the greatest |v| or |psi|; width_for returns the integer width that holds
// that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "base/types.hpp"
#include "game/shapley_value.hpp"

namespace shapley::hindsight {

using game::Coalition;
using Int256 = boost::multiprecision::int256_t;

enum class Width : std::uint8_t { bits_64, bits_128, bits_256 };

// The narrowest width that holds every sum of values in [-greatest, greatest] for k organizations, k <=
// k_max_lattice_organizations.
[[nodiscard]] Width width_for(Int128 greatest, std::size_t k);

class LatticeKeys {
 public:
  // REQUIRES: 1 <= k <= k_max_lattice_organizations.
  explicit LatticeKeys(std::size_t k);

  // values: v by coalition, 2^k entries; those of the empty and the grand coalition are not read. psi, keys: by
  // organization. Sum is as wide as width_for says, or wider. (Sum, Value) are (int64, int64), (Int128, int64),
  // (Int128, Int128) or (Int256, Int128).
  template <typename Sum, typename Value>
  void keys(std::span<const Value> values, std::span<const Value> psi, std::span<Sum> keys) const;

  // k! phi[u] from the keys and the psi that they were computed from, with v(N) = the sum of psi.
  template <typename Sum, typename Value>
  void scaled_contributions(std::span<const Sum> keys, std::span<const Value> psi, std::span<Sum> phi) const;

 private:
  std::size_t organizations_;
  std::vector<std::int64_t> weights_;  // by coalition; 0 of the empty and the grand one
};

}  // namespace shapley::hindsight
