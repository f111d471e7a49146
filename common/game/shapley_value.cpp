#include "game/shapley_value.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/rng.hpp"

namespace shapley::game {

namespace {

constexpr std::size_t k_half_players = k_exact_players / 2;
constexpr std::size_t k_half_coalitions = std::size_t{1} << k_half_players;

// The number of players in a coalition of one half, by bit mask: a table, because counting bits may be a call.
constexpr auto k_sizes = [] {
  std::array<std::uint8_t, k_half_coalitions> sizes{};
  for (std::size_t mask = 1; mask < sizes.size(); ++mask) {
    sizes[mask] = static_cast<std::uint8_t>(std::popcount(mask));
  }
  return sizes;
}();

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

// The players and their figures in each placement: the parts of one game.
struct Game {
  std::vector<Player> players;
  std::vector<Placement> placements;
};

class Totals {
 public:
  explicit Totals(const Game& game) : game_(game), placed_(game.placements.size()) {}

  [[nodiscard]] Int128 value() const {
    Int128 served = anywhere_.demand;
    for (const Sum& placed : placed_) served += std::min(placed.demand, placed.owned);
    return std::min(served, anywhere_.owned);
  }
  void add(std::size_t player) {
    anywhere_.add(game_.players[player]);
    for (std::size_t p = 0; p < placed_.size(); ++p) placed_[p].add(game_.placements[p][player]);
  }

 private:
  struct Sum {
    Int128 demand = 0;
    Int128 owned = 0;
    void add(const Player& player) {
      demand += player.demand.value;
      owned += player.owned.value;
    }
  };
  const Game& game_;
  Sum anywhere_;
  std::vector<Sum> placed_;
};

Int128 value_of_all(const Game& game) {
  Totals all(game);
  for (std::size_t i = 0; i < game.players.size(); ++i) all.add(i);
  return all.value();
}

// Capping every term at v(N) changes no coalition's value, because v(C) <= v(N), and keeps every sum within 64 bits.
std::int64_t cap_of(Int128 value_of_all) {
  return static_cast<std::int64_t>(std::min<Int128>(value_of_all, std::numeric_limits<std::int64_t>::max()));
}

void cap(std::vector<Player>& players, std::int64_t most) {
  for (Player& player : players) {
    player.demand.value = std::min(player.demand.value, most);
    player.owned.value = std::min(player.owned.value, most);
  }
}

// One half of the players in a game: sums by bit mask, for any processors and for those of each placement.
struct Half {
  HalfGame anywhere;
  std::vector<HalfGame> placed;

  Half(const Game& game, std::size_t first, std::size_t count)
      : anywhere(std::span(game.players).subspan(first, count)) {
    placed.reserve(game.placements.size());
    for (const Placement& placement : game.placements) placed.emplace_back(std::span(placement).subspan(first, count));
  }
};

// v of the coalition of these two halves. Sums of the halves are below 2^62, each term at most `most`.
std::int64_t value_of(const Half& low, std::size_t l, const Half& high, std::size_t h, std::int64_t most) {
  const std::int64_t owned = low.anywhere.owned[l] + high.anywhere.owned[h];
  std::int64_t value = std::min(low.anywhere.demand[l] + high.anywhere.demand[h], owned);
  for (std::size_t p = 0; p < low.placed.size(); ++p) {
    const std::int64_t placed =
        std::min(low.placed[p].demand[l] + high.placed[p].demand[h], low.placed[p].owned[l] + high.placed[p].owned[h]);
    value = std::min(value + std::min(placed, most), owned);
  }
  return value;
}

// By size s of the coalition: k! times the weight that v(C) has in a member's value, after the sum over the coalitions
// without the member has been taken out, the same for every member (see scaled_shapley_values).
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

std::vector<Int128> marginal_contributions(const Game& game, std::uint64_t seed) {
  std::vector<std::size_t> order(game.players.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(seed).shuffle(std::span<std::size_t>(order));
  std::vector<Int128> sums(game.players.size());
  for (int pass = 0; pass < 2; ++pass) {
    Totals coalition(game);
    for (const std::size_t i : order) {
      const Int128 before = coalition.value();
      coalition.add(i);
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

bool covers_all(const Placement& placement, std::span<const Player> players) {
  return std::ranges::equal(placement, players, {}, &Player::owned, &Player::owned);
}

bool can_be_served(const Placement& placement) {
  const auto any = [&](ProcessorMillionths Player::*part) {
    return std::ranges::any_of(placement, [&](const Player& player) { return (player.*part).value > 0; });
  };
  return any(&Player::demand) && any(&Player::owned);
}

// Whether each owner of the placement's processors could serve all of its demand alone.
bool has_plenty(const Placement& placement) {
  ProcessorMillionths demand;
  for (const Player& player : placement) demand += player.demand;
  return std::ranges::all_of(
      placement, [&](ProcessorMillionths owned) { return owned.value == 0 || owned >= demand; }, &Player::owned);
}

std::vector<bool> owners_of(const Placement& placement) {
  std::vector<bool> owners;
  owners.reserve(placement.size());
  for (const Player& player : placement) owners.push_back(player.owned.value > 0);
  return owners;
}

void merge(Placement& into, const Placement& placement) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i].demand += placement[i].demand;
    into[i].owned += placement[i].owned;
  }
}

// An equal game with fewer placements: those that never count are dropped; those that cover all processors become
// demand of the players; those that have plenty and the same owners become one: to a coalition with one of these owners
// each is worth the coalition's demand, to any other nothing.
Game simplified(std::span<const Player> players, std::span<const Placement> placements) {
  Game game{{players.begin(), players.end()}, {}};
  std::map<std::vector<bool>, std::size_t> with_plenty;  // by owners: which of game.placements
  for (const Placement& placement : placements) {
    if (!can_be_served(placement)) continue;
    if (covers_all(placement, players)) {
      for (std::size_t i = 0; i < players.size(); ++i) game.players[i].demand += placement[i].demand;
      continue;
    }
    if (has_plenty(placement)) {
      const auto [known, is_new] = with_plenty.try_emplace(owners_of(placement), game.placements.size());
      if (!is_new) {
        merge(game.placements[known->second], placement);
        continue;
      }
    }
    game.placements.push_back(placement);
  }
  return game;
}

// The players that are no dummies, ascending.
std::vector<std::size_t> active_players(const Game& game) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < game.players.size(); ++i) {
    const auto wants = [i](const Placement& placement) { return placement[i].demand.value > 0; };
    const bool is_dummy = game.players[i].demand.value == 0 && game.players[i].owned.value == 0 &&
                          std::ranges::none_of(game.placements, wants);
    if (!is_dummy) active.push_back(i);
  }
  return active;
}

std::vector<Player> chosen(const std::vector<Player>& players, const std::vector<std::size_t>& active) {
  std::vector<Player> result;
  result.reserve(active.size());
  for (const std::size_t i : active) result.push_back(players[i]);
  return result;
}

bool is_exact(const Game& game) {
  return game.players.size() <= k_exact_players && (game.placements.size() + 1) << game.players.size() <= k_exact_steps;
}

}  // namespace

std::vector<Int128> scaled_shapley_values(std::span<const Player> players, std::span<const Placement> placements) {
  SHAPLEY_REQUIRE(!players.empty() && players.size() <= k_exact_players);
  const std::size_t k = players.size();
  Game game{{players.begin(), players.end()}, {placements.begin(), placements.end()}};
  const Int128 value_of_game = value_of_all(game);
  const std::int64_t most = cap_of(value_of_game);
  cap(game.players, most);
  for (Placement& placement : game.placements) cap(placement, most);
  const std::size_t low_players = k / 2;
  const std::size_t low_masks = std::size_t{1} << low_players;
  const std::size_t high_masks = std::size_t{1} << (k - low_players);
  const Half low(game, 0, low_players);
  const Half high(game, low_players, k - low_players);
  const auto weights = member_weights(k);

  std::array<Int128, k_half_coalitions> by_low{};
  std::array<Int128, k_half_coalitions> by_high{};
  for (std::size_t h = 0; h < high_masks; ++h) {
    const std::size_t size_of_high = k_sizes[h];
    Int128 row = 0;
    for (std::size_t l = 0; l < low_masks; ++l) {
      const std::int64_t value = value_of(low, l, high, h, most);
      const Int128 weighted = Int128{value} * weights[size_of_high + k_sizes[l]];
      row += weighted;
      by_low[l] += weighted;
    }
    by_high[h] = row;
  }

  std::vector<Int128> values(k);
  const std::span<Int128> all_values(values);
  add_sums_by_member({by_low.data(), low_masks}, all_values.first(low_players));
  add_sums_by_member({by_high.data(), high_masks}, all_values.subspan(low_players));
  // What the coalitions without the player take away is the same for every player; efficiency says how much.
  Int128 excess = -value_of_game * factorial(k);
  for (const Int128 value : values) excess += value;
  for (Int128& value : values) value -= excess / static_cast<Int128>(k);
  return values;
}

std::vector<ProcessorMillionths> shapley_rates(std::span<const Player> players, const RateOptions& options) {
  std::vector<ProcessorMillionths> rates(players.size());
  if (options.running.value == 0) return rates;
  Game game = simplified(players, options.placements);
  const std::vector<std::size_t> active = active_players(game);
  game.players = chosen(game.players, active);
  for (Placement& placement : game.placements) placement = chosen(placement, active);
  if (value_of_all(game) == 0) return {};
  const std::vector<Int128> weights = is_exact(game) ? scaled_shapley_values(game.players, game.placements)
                                                     : marginal_contributions(game, options.seed);
  const std::vector<std::int64_t> parts = apportion(options.running.value, weights);
  for (std::size_t i = 0; i < active.size(); ++i) rates[active[i]].value = parts[i];
  return rates;
}

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
