#include "hindsight/contributions.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "base/contract.hpp"

namespace shapley::hindsight {

void GapShares::add(Coalition present, const Done<Int128>& done) {
  if (present == 0 || done == Done<Int128>{}) return;
  const Int256 of_one = k_gap_parts / std::popcount(present);
  const Done<Int256> part{Int256(done.work) * of_one, Int256(done.moment) * of_one};
  for (Coalition rest = present; rest != 0; rest &= rest - 1) {
    add_part(static_cast<std::size_t>(std::countr_zero(rest)), part);
  }
}

GapShares& GapShares::operator-=(const GapShares& other) {
  for (std::size_t player = 0; player < other.size(); ++player) {
    const Done<Int256>& part = other.parts_[player];
    add_part(player, {-part.work, -part.moment});
  }
  return *this;
}

void GapShares::add_part(std::size_t player, const Done<Int256>& part) {
  if (parts_.size() <= player) parts_.resize(player + 1);
  parts_[player] += part;
  sum_ += part;
}

namespace {

// A multiple of every number of players, for parts of the gap.
Int256 scale_of(std::size_t players, std::size_t exact) {
  if (players <= exact) return Int256(game::factorial(players));
  return Int256(game::pair_weights(players).scale) * players * k_gap_parts;
}

// phi[u] sums to v(N), and v(N) enters every player's phi alike.
Int256 grand_weight_of(std::size_t players, std::size_t exact) {
  return scale_of(players, exact) / players;
}

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

std::vector<Int256> lattice_shares(std::span<const Int128> values, std::size_t players) {
  std::vector<Int128> by_mask(std::size_t{1} << players);
  std::copy(values.begin(), values.end(), by_mask.begin() + 1);
  Int128 greatest = 0;
  for (const Int128 value : values) greatest = std::max(greatest, magnitude(value));
  const LatticeKeys lattice(players);
  const std::vector<Int128> none(players);
  const auto evaluate = [&]<typename Sum>(Sum) {
    std::vector<Sum> keys(players);
    std::vector<Sum> shares(players);
    lattice.keys<Sum, Int128>(by_mask, none, keys);
    lattice.scaled_contributions<Sum, Int128>(keys, none, shares);
    std::vector<Int256> wide;
    for (const Sum& share : shares) wide.emplace_back(share);
    return wide;
  };
  return width_for(greatest, players) == Width::bits_256 ? evaluate(Int256{}) : evaluate(Int128{});
}

std::vector<Int256> pair_shares(std::span<const Int128> values, std::size_t players) {
  const std::vector<Coalition> coalitions = coalitions_of(players, 0);
  const game::CoalitionWeights weights = game::pair_weights(players);
  std::vector<Int256> shares(players);
  Int256 sum = 0;
  for (std::size_t u = 0; u < players; ++u) {
    for (const auto& [coalition, weight] : weights.of[u]) {
      if (coalition == game::grand_coalition(players)) continue;
      const auto slot = std::lower_bound(coalitions.begin(), coalitions.end(), coalition) - coalitions.begin();
      shares[u] += Int256(values[static_cast<std::size_t>(slot)]) * weight;
    }
    sum += shares[u];
  }
  for (Int256& share : shares) share = (share * players - sum) * k_gap_parts;
  return shares;
}

}  // namespace

std::vector<Coalition> coalitions_of(std::size_t players, std::size_t exact) {
  SHAPLEY_REQUIRE(players <= k_most_players);
  if (players == 0) return {};
  if (players <= exact) return game::all_coalitions(players);
  std::set<Coalition> coalitions{game::grand_coalition(players)};
  for (const auto& of_one : game::pair_weights(players).of) {
    for (const auto& [coalition, weight] : of_one) coalitions.insert(coalition);
  }
  return {coalitions.begin(), coalitions.end()};
}

std::vector<Int256> shares_of(std::span<const Int128> values, std::size_t players, std::size_t exact) {
  SHAPLEY_REQUIRE(players >= 1);
  return players <= exact ? lattice_shares(values, players) : pair_shares(values, players);
}

void add_gap(std::span<Int256> shares, std::span<const Int256> parts, const Int256& sum, std::size_t exact) {
  SHAPLEY_REQUIRE(shares.size() <= parts.size());
  const Int256 scale = scale_of(shares.size(), exact);
  const Int256 equal = scale / shares.size() * sum;
  for (std::size_t u = 0; u < shares.size(); ++u) shares[u] += (scale * parts[u] - equal) / k_gap_parts;
}

std::vector<Int128> contributions_of(std::span<const Int256> shares, Int128 grand, std::span<const std::uint32_t> ranks,
                                     std::size_t exact) {
  SHAPLEY_REQUIRE(!shares.empty() && shares.size() == ranks.size());
  const std::size_t players = shares.size();
  const Int256 scale = scale_of(players, exact);
  const Int256 of_grand = grand_weight_of(players, exact) * Int256(grand);
  std::vector<Int256> remainders(players);
  std::vector<Int128> contributions(players);
  Int128 left = grand;
  for (std::size_t u = 0; u < players; ++u) {
    const Int256 scaled = shares[u] + of_grand;
    Int256 floor = scaled / scale;
    remainders[u] = scaled - floor * scale;
    if (remainders[u] < 0) {
      --floor;
      remainders[u] += scale;
    }
    contributions[u] = static_cast<Int128>(floor);
    left -= contributions[u];
  }
  std::vector<std::size_t> order(players);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : ranks[a] < ranks[b];
  });
  for (std::size_t i = 0; i < players && left > 0; ++i, --left) ++contributions[order[i]];
  return contributions;
}

}  // namespace shapley::hindsight
