#include "game/shapley_value.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace shapley::game {

namespace {

struct Quotient {
  std::int64_t floor = 0;
  Int128 remainder = 0;
};

// total * weight / sum. The product may need 190 bits: then long division bit by bit. REQUIRES: 0 <= weight <= sum <
// 2^126.
Quotient proportion(std::int64_t total, Int128 weight, Int128 sum) {
  SHAPLEY_REQUIRE(0 <= weight && weight <= sum && sum < Int128{1} << 126U);
  if (sum < (Int128{1} << 62)) {
    const Int128 product = weight * total;
    return {static_cast<std::int64_t>(product / sum), product % sum};
  }
  Int128 floor = 0;
  Int128 remainder = 0;
  for (int bit = 63 - std::countl_zero(static_cast<std::uint64_t>(total)); bit >= 0; --bit) {
    floor *= 2;
    remainder *= 2;
    if (((total >> bit) & 1) != 0) remainder += weight;
    while (remainder >= sum) {
      remainder -= sum;
      ++floor;
    }
  }
  return {static_cast<std::int64_t>(floor), remainder};
}

}  // namespace

std::vector<std::int64_t> apportion(std::int64_t total, std::span<const Int128> weights) {
  std::vector<std::int64_t> parts(weights.size());
  if (total == 0) return parts;
  const Int128 sum = std::accumulate(weights.begin(), weights.end(), Int128{0});
  SHAPLEY_REQUIRE(total > 0 && sum > 0);
  std::vector<Int128> remainders(weights.size());
  std::int64_t left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Quotient quotient = proportion(total, weights[i], sum);
    parts[i] = quotient.floor;
    remainders[i] = quotient.remainder;
    left -= quotient.floor;
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[order[i]];
  return parts;
}

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
// second sum is taken over every C but N, the same for every player, which adds s!(k-s-1)! to the weight of each C with
// i: (s-1)!(k-s)! + s!(k-s-1)! = k (s-1)!(k-s-1)!. The two halves of the players are rows and columns of a table, so
// that each coalition is touched once.
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

CoalitionWeights pair_weights(std::size_t k) {
  const Coalition grand = grand_coalition(k);
  CoalitionWeights weights(k);
  if (k == 1) {
    weights.add(0, grand, 1);
    return weights;
  }
  // phi * 2k(k-1): the means over w have k-1 terms, which cancels one k-1.
  const auto end = static_cast<std::int64_t>(2 * (k - 1));
  const auto middle = static_cast<std::int64_t>(k - 2);
  for (std::size_t u = 0; u < k; ++u) {
    const Coalition self = Coalition{1} << u;
    weights.add(u, self, end);
    weights.add(u, grand, end);
    weights.add(u, grand ^ self, -end);
    for (std::size_t w = 0; w < k && middle > 0; ++w) {
      if (w == u) continue;
      const Coalition other = Coalition{1} << w;
      weights.add(u, self | other, middle);
      weights.add(u, other, -middle);
      weights.add(u, grand ^ other, middle);
      weights.add(u, grand ^ (self | other), -middle);
    }
  }
  weights.scale = Int128{2} * k * (k - 1);
  return weights;
}

}  // namespace shapley::game
