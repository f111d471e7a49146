#include "game/potential.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace shapley::game {

std::int64_t factorial(std::size_t n) {
  std::int64_t product = 1;
  for (std::size_t i = 2; i <= n; ++i) product *= static_cast<std::int64_t>(i);
  return product;
}

std::vector<Coalition> all_coalitions(std::size_t k) {
  std::vector<Coalition> coalitions(grand_coalition(k));
  std::iota(coalitions.begin(), coalitions.end(), Coalition{1});
  return coalitions;
}

void scaled_potentials(std::span<const std::int64_t> values, std::span<Int128> q) {
  q[0] = 0;
  for (Coalition c = 1; c < values.size(); ++c) {
    Int128 sum = static_cast<Int128>(factorial(static_cast<std::size_t>(std::popcount(c)) - 1)) * values[c];
    for (Coalition rest = c; rest != 0; rest &= rest - 1) sum += q[c ^ (rest & (~rest + 1))];
    q[c] = sum;
  }
}

// With s = |C|:  k! phi[i] = sum over C with i of (s-1)!(k-s)! v(C)  -  sum over C without i of s!(k-s-1)! v(C). The
// second sum is taken over every C but N, the same for everybody, which adds s!(k-s-1)! to the weight of each C with i:
// (s-1)!(k-s)! + s!(k-s-1)! = k (s-1)!(k-s-1)!. The two halves of the players are rows and columns of a table, so that
// each coalition is touched once.
void scaled_shapley_values_of_grand(std::span<const std::int64_t> values, std::span<Int128> scaled_phi) {
  const std::size_t k = scaled_phi.size();
  const std::size_t low_players = k / 2;
  const std::size_t low_masks = std::size_t{1} << low_players;
  const std::size_t high_masks = values.size() / low_masks;
  std::array<std::int64_t, k_max_lattice_organizations + 1> member{};
  std::array<std::int64_t, k_max_lattice_organizations + 1> without{};
  for (std::size_t s = 1; s < k; ++s) {
    member[s] = static_cast<std::int64_t>(k) * factorial(s - 1) * factorial(k - s - 1);
    without[s] = factorial(s) * factorial(k - s - 1);
  }
  member[k] = factorial(k - 1);

  constexpr std::size_t half_coalitions = std::size_t{1} << (k_max_lattice_organizations / 2);
  std::array<Int128, half_coalitions> by_low{};
  std::array<std::uint8_t, half_coalitions> size_of_low{};
  for (std::size_t l = 1; l < low_masks; ++l) size_of_low[l] = static_cast<std::uint8_t>(size_of_low[l / 2] + l % 2);
  std::fill(scaled_phi.begin(), scaled_phi.end(), 0);
  Int128 common = 0;
  for (std::size_t h = 0; h < high_masks; ++h) {
    const auto size_of_high = static_cast<std::size_t>(std::popcount(h));
    Int128 row = 0;
    for (std::size_t l = 0; l < low_masks; ++l) {
      const std::size_t size = size_of_high + size_of_low[l];
      const Int128 value = values[h * low_masks + l];
      const Int128 weighted = value * member[size];
      common += value * without[size];
      row += weighted;
      by_low[l] += weighted;
    }
    for (std::size_t rest = h; rest != 0; rest &= rest - 1)
      scaled_phi[low_players + static_cast<std::size_t>(std::countr_zero(rest))] += row;
  }
  for (std::size_t l = 1; l < low_masks; ++l) {
    for (std::size_t rest = l; rest != 0; rest &= rest - 1)
      scaled_phi[static_cast<std::size_t>(std::countr_zero(rest))] += by_low[l];
  }
  for (Int128& phi : scaled_phi) phi -= common;
}

Int128 scaled_shapley(std::span<const Int128> q, Coalition coalition, std::size_t organization) {
  return q[coalition] - std::popcount(coalition) * scaled_potential_without(q, coalition, organization);
}

}  // namespace shapley::game
