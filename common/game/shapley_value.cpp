#include "game/shapley_value.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>

#include "base/rng.hpp"
#include "game/potential.hpp"

namespace shapley::game {

namespace {

constexpr std::size_t k_half_players = k_exact_players / 2;
constexpr std::size_t k_half_coalitions = std::size_t{1} << k_half_players;

// Demand and processors of every coalition of one half of the players, by bit mask.
struct HalfGame {
  std::array<std::int64_t, k_half_coalitions> demand{};
  std::array<std::int64_t, k_half_coalitions> owned{};

  explicit HalfGame(std::span<const Player> players) {
    for (std::size_t mask = 1; mask < (std::size_t{1} << players.size()); ++mask) {
      const std::size_t rest = mask & (mask - 1);
      const Player& lowest = players[static_cast<std::size_t>(std::countr_zero(mask))];
      demand[mask] = demand[rest] + lowest.demand.value;
      owned[mask] = owned[rest] + lowest.owned.value;
    }
  }
};

struct Totals {
  Int128 demand = 0;
  Int128 owned = 0;
  [[nodiscard]] Int128 value() const { return std::min(demand, owned); }
  void add(const Player& player) {
    demand += player.demand.value;
    owned += player.owned.value;
  }
};

// Capping both terms at v(N) changes no coalition's value, because v(C) <= v(N), and keeps every sum within 64 bits.
std::vector<Player> capped(std::span<const Player> players) {
  Totals all;
  for (const Player& player : players) all.add(player);
  const auto cap = static_cast<std::int64_t>(std::min<Int128>(all.value(), std::numeric_limits<std::int64_t>::max()));
  std::vector<Player> result(players.begin(), players.end());
  for (Player& player : result) {
    player.demand.value = std::min(player.demand.value, cap);
    player.owned.value = std::min(player.owned.value, cap);
  }
  return result;
}

// By size s of the coalition: k! times the weight that v(C) has in a member's value, after the sum over the coalitions
// without the member has been taken out for everybody alike (see scaled_shapley_values).
std::array<std::int64_t, k_exact_players + 1> member_weights(std::size_t k) {
  std::array<std::int64_t, k_exact_players + 1> weights{};
  for (std::size_t s = 1; s < k; ++s) {
    weights[s] = static_cast<std::int64_t>(k) * factorial(s - 1) * factorial(k - s - 1);
  }
  weights[k] = factorial(k - 1);
  return weights;
}

// Adds, for every player i of one half, the sum of by_mask over the masks that hold i.
void add_sums_by_member(std::span<const Int128> by_mask, std::span<Int128> by_player) {
  for (std::size_t mask = 1; mask < by_mask.size(); ++mask) {
    for (std::size_t rest = mask; rest != 0; rest &= rest - 1) {
      by_player[static_cast<std::size_t>(std::countr_zero(rest))] += by_mask[mask];
    }
  }
}

std::vector<Int128> marginal_contributions(std::span<const Player> players, std::uint64_t seed) {
  std::vector<std::size_t> order(players.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(seed).shuffle(std::span<std::size_t>(order));
  std::vector<Int128> sums(players.size());
  for (int pass = 0; pass < 2; ++pass) {
    Totals coalition;
    for (const std::size_t i : order) {
      const Int128 before = coalition.value();
      coalition.add(players[i]);
      sums[i] += coalition.value() - before;
    }
    std::reverse(order.begin(), order.end());
  }
  return sums;
}

struct Quotient {
  std::int64_t floor = 0;
  Int128 remainder = 0;
};

// total * weight / sum. The product may need 190 bits: then long division bit by bit. REQUIRES: 0 <= weight <= sum <
// 2^126.
Quotient proportion(std::int64_t total, Int128 weight, Int128 sum) {
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

std::vector<Int128> scaled_shapley_values(std::span<const Player> players) {
  const std::size_t k = players.size();
  assert(k >= 1 && k <= k_exact_players);
  const std::vector<Player> game = capped(players);
  const std::size_t low_players = k / 2;
  const std::size_t low_masks = std::size_t{1} << low_players;
  const std::size_t high_masks = std::size_t{1} << (k - low_players);
  const HalfGame low({game.data(), low_players});
  const HalfGame high({game.data() + low_players, k - low_players});
  const auto weights = member_weights(k);

  std::array<Int128, k_half_coalitions> by_low{};
  std::array<Int128, k_half_coalitions> by_high{};
  for (std::size_t h = 0; h < high_masks; ++h) {
    const auto size_of_high = static_cast<std::size_t>(std::popcount(h));
    Int128 row = 0;
    for (std::size_t l = 0; l < low_masks; ++l) {
      const std::int64_t value = std::min(low.demand[l] + high.demand[h], low.owned[l] + high.owned[h]);
      const std::size_t size = size_of_high + static_cast<std::size_t>(std::popcount(l));
      const Int128 weighted = Int128{value} * weights[size];
      row += weighted;
      by_low[l] += weighted;
    }
    by_high[h] = row;
  }

  std::vector<Int128> values(k);
  const std::span<Int128> all_values(values);
  add_sums_by_member({by_low.data(), low_masks}, all_values.first(low_players));
  add_sums_by_member({by_high.data(), high_masks}, all_values.subspan(low_players));
  // What the coalitions without the player take away is the same for everybody; efficiency says how much.
  Totals all;
  for (const Player& player : game) all.add(player);
  Int128 excess = -all.value() * factorial(k);
  for (const Int128 value : values) excess += value;
  for (Int128& value : values) value -= excess / static_cast<Int128>(k);
  return values;
}

std::vector<MicroProcessors> shapley_rates(std::span<const Player> players, const RateOptions& options) {
  std::vector<MicroProcessors> rates(players.size());
  if (options.running.value == 0) return rates;
  std::vector<std::size_t> active;
  std::vector<Player> game;
  Totals all;
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (players[i].demand.value == 0 && players[i].owned.value == 0) continue;
    active.push_back(i);
    game.push_back(players[i]);
    all.add(players[i]);
  }
  if (all.value() == 0) return {};
  const std::vector<Int128> weights =
      game.size() <= k_exact_players ? scaled_shapley_values(game) : marginal_contributions(game, options.seed);
  const std::vector<std::int64_t> parts = apportion(options.running.value, weights);
  for (std::size_t i = 0; i < active.size(); ++i) rates[active[i]].value = parts[i];
  return rates;
}

std::vector<std::int64_t> apportion(std::int64_t total, std::span<const Int128> weights) {
  std::vector<std::int64_t> parts(weights.size());
  if (total == 0) return parts;
  const Int128 sum = std::accumulate(weights.begin(), weights.end(), Int128{0});
  assert(total > 0 && sum > 0);
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

}  // namespace shapley::game
