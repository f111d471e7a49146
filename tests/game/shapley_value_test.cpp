// The Shapley value of min(demand, processors): against the mean over all orders, and its axioms.
#include "game/shapley_value.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "naive_shapley.hpp"

namespace shapley::game {
namespace {

Int128 factorial(std::size_t n) {
  return n < 2 ? 1 : static_cast<Int128>(n) * factorial(n - 1);
}

std::vector<Player> players_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& numbers) {
  std::vector<Player> players;
  for (const auto& [demand, owned] : numbers) players.push_back({{demand}, {owned}});
  return players;
}

rc::Gen<std::vector<std::pair<std::int64_t, std::int64_t>>> games(int most_players, std::int64_t most) {
  const auto amount = rc::gen::weightedOneOf<std::int64_t>(
      {{1, rc::gen::just(std::int64_t{0})},
       {3, rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, most))}});
  return rc::gen::mapcat(rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, most_players + 1)),
                         [amount](int players) {
                           return rc::gen::container<std::vector<std::pair<std::int64_t, std::int64_t>>>(
                               static_cast<std::size_t>(players), rc::gen::pair(amount, amount));
                         });
}

Int128 grand_coalition(const std::vector<Player>& players) {
  Int128 demand = 0;
  Int128 owned = 0;
  for (const Player& player : players) {
    demand += player.demand.value;
    owned += player.owned.value;
  }
  return std::min(demand, owned);
}

std::int64_t sum_of(const std::vector<ProcessorMillionths>& rates) {
  std::int64_t sum = 0;
  for (const ProcessorMillionths rate : rates) sum += rate.value;
  return sum;
}

// The potential of Hart and Mas-Colell: another road to the same values, for more players than orders can be listed.
std::vector<Int128> shapley_by_potential(const std::vector<Player>& players) {
  const std::size_t k = players.size();
  std::vector<Int128> q(std::size_t{1} << k);
  for (std::size_t mask = 1; mask < q.size(); ++mask) {
    std::vector<Player> members;
    Int128 sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      if ((mask >> i & 1) == 0) continue;
      members.push_back(players[i]);
      sum += q[mask ^ (std::size_t{1} << i)];
    }
    q[mask] = factorial(members.size() - 1) * grand_coalition(members) + sum;
  }
  std::vector<Int128> values;
  for (std::size_t i = 0; i < k; ++i) {
    values.push_back(q.back() - static_cast<Int128>(k) * q[(q.size() - 1) ^ (std::size_t{1} << i)]);
  }
  return values;
}

TEST(ShapleyValue, SharesWhatOneLendsAndTheOtherUses) {
  // One organization owns everything, the other wants everything: each is worth half of what is done.
  EXPECT_EQ(scaled_shapley_values(players_of({{0, 10}, {10, 0}})), (std::vector<Int128>{10, 10}));
  // Idle processors that no player wants earn nothing; nor does demand that no player can meet.
  EXPECT_EQ(scaled_shapley_values(players_of({{4, 4}, {0, 100}})), (std::vector<Int128>{8, 0}));
  EXPECT_EQ(scaled_shapley_values(players_of({{4, 4}, {100, 0}})), (std::vector<Int128>{8, 0}));
}

TEST(ShapleyValue, HandlesTheMostPlayersAndTheLargestNumbers) {
  const std::size_t k = k_exact_players;
  const std::vector<Player> equal(k, Player{{1'000'000'000'000}, {1'000'000'000'000}});
  for (const Int128 value : scaled_shapley_values(equal)) EXPECT_EQ(value, factorial(k) * 1'000'000'000'000);
  std::vector<Player> hungry = equal;
  hungry[3].demand = {std::numeric_limits<std::int64_t>::max()};
  const auto rates = shapley_rates(hungry, {.running = {17'999'999'999'999}, .seed = 0});
  EXPECT_EQ(sum_of(rates), 17'999'999'999'999);
}

TEST(ShapleyValue, CreditsNoPlayerWithoutProcessors) {
  EXPECT_TRUE(shapley_rates(players_of({{5, 0}, {7, 0}}), {.running = {3}, .seed = 1}).empty());
  EXPECT_EQ(shapley_rates(players_of({{5, 0}, {0, 0}}), {.running = {0}, .seed = 1}),
            (std::vector<ProcessorMillionths>(2)));
}

RC_GTEST_PROP(ShapleyValue, EqualsTheMeanOverAllOrders, ()) {
  const auto game = *games(6, 50);
  RC_ASSERT(scaled_shapley_values(players_of(game)) == naive::shapley_by_orders(game));
}

RC_GTEST_PROP(ShapleyValue, EqualsThePotential, ()) {
  const auto game = players_of(*games(11, 1'000'000'000'000));
  RC_ASSERT(scaled_shapley_values(game) == shapley_by_potential(game));
}

// Placements for these players: demand that each player has there, and a part of what it owns.
std::vector<naive::Players> some_placements(const naive::Players& game, int most) {
  std::vector<naive::Players> placements;
  for (int n = *rc::gen::inRange(0, most + 1); n > 0; --n) {
    naive::Players& placement = placements.emplace_back();
    const bool all = *rc::gen::weightedElement<bool>({{1, true}, {4, false}});
    for (const auto& [demand, owned] : game) {
      const auto wanted = *rc::gen::weightedOneOf<std::int64_t>(
          {{1, rc::gen::just(std::int64_t{0})}, {2, rc::gen::inRange<std::int64_t>(0, 50)}});
      placement.emplace_back(wanted, all ? owned : *rc::gen::inRange<std::int64_t>(0, owned + 1));
    }
  }
  return placements;
}

std::vector<Placement> placements_of(const std::vector<naive::Players>& numbers) {
  std::vector<Placement> placements;
  for (const naive::Players& placement : numbers) placements.push_back(players_of(placement));
  return placements;
}

TEST(ShapleyValue, CountsDemandOnlyWhereItCanBeServed) {
  // The second owns a processor and wants both; the third has none and wants the first's, which is all that its jobs
  // can use. Without the first its demand is worth nothing to any coalition.
  const auto players = players_of({{0, 1}, {2, 1}, {0, 0}});
  const std::vector<Placement> pinned{players_of({{0, 1}, {0, 0}, {1, 0}})};
  EXPECT_EQ(scaled_shapley_values(players), (std::vector<Int128>{3, 9, 0}));
  EXPECT_EQ(scaled_shapley_values(players, pinned), (std::vector<Int128>{4, 7, 1}));
  // Could they run anywhere, it would be the same: the second has work enough for its own processor.
  EXPECT_EQ(scaled_shapley_values(players_of({{0, 1}, {2, 1}, {1, 0}})), (std::vector<Int128>{4, 7, 1}));
  // Pinned to the second's processor, which the second wants for itself, the demand of the third is worth nothing.
  EXPECT_EQ(scaled_shapley_values(players, std::vector<Placement>{players_of({{0, 0}, {0, 1}, {1, 0}})}),
            (std::vector<Int128>{3, 9, 0}));
}

RC_GTEST_PROP(ShapleyValue, EqualsTheMeanOverAllOrdersWithPlacements, ()) {
  const auto game = *games(6, 50);
  const auto placements = some_placements(game, 3);
  RC_ASSERT(scaled_shapley_values(players_of(game), placements_of(placements)) ==
            naive::shapley_by_orders(game, placements));
}

RC_GTEST_PROP(ShapleyValue, OfAPlacementThatCoversEverythingIsDemandForAny, ()) {
  auto game = *games(6, 50);
  auto everywhere = game;
  auto merged = game;
  for (std::size_t i = 0; i < game.size(); ++i) {
    everywhere[i].first = *rc::gen::inRange<std::int64_t>(0, 50);
    merged[i].first += everywhere[i].first;
  }
  RC_ASSERT(scaled_shapley_values(players_of(game), placements_of({everywhere})) ==
            scaled_shapley_values(players_of(merged)));
}

// Nodes of one processor pool each, placements as sets of nodes (a bit each): what all together are worth is at least
// the maximum flow from demand to nodes, and exceeds it by no more than what placements share. The flow is by the
// theorem of the minimum cut: the least, over all sets of placements, of the capacity of their nodes and the demand of
// the others.
RC_GTEST_PROP(ShapleyValue, ExceedsTheMaximumFlowByWhatPlacementsShareAtMost, ()) {
  constexpr std::size_t k_nodes = 4;
  const auto amounts = rc::gen::container<std::vector<std::int64_t>>(k_nodes, rc::gen::inRange<std::int64_t>(0, 20));
  const auto capacities = *amounts;
  const auto demands = *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange<std::int64_t>(0, 40));
  const auto sets = *rc::gen::container<std::vector<unsigned>>(3, rc::gen::inRange(0U, 1U << k_nodes));
  const auto anywhere = *rc::gen::inRange<std::int64_t>(0, 20);
  const auto capacity_of = [&](unsigned nodes) {
    Int128 sum = 0;
    for (std::size_t n = 0; n < k_nodes; ++n) sum += (nodes >> n & 1) != 0 ? capacities[n] : 0;
    return sum;
  };
  const Int128 all = capacity_of((1U << k_nodes) - 1);
  Int128 flow = all;
  Int128 shared = -capacity_of(sets[0] | sets[1] | sets[2]);
  for (unsigned cut = 0; cut < 8; ++cut) {
    Int128 crossing = anywhere;
    unsigned nodes = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      if ((cut >> p & 1) != 0) {
        nodes |= sets[p];
      } else {
        crossing += demands[p];
      }
    }
    flow = std::min(flow, crossing + capacity_of(nodes));
  }
  std::vector<Placement> placements;
  for (std::size_t p = 0; p < 3; ++p) {
    const auto usable = static_cast<std::int64_t>(capacity_of(sets[p]));
    placements.push_back(players_of({{demands[p], usable}}));
    shared += usable;
  }
  const auto players = players_of({{anywhere, static_cast<std::int64_t>(all)}});
  const Int128 value = scaled_shapley_values(players, placements).front();
  RC_ASSERT(value >= flow);
  RC_ASSERT(value <= flow + shared);
}

RC_GTEST_PROP(ShapleyValue, IsEfficientSymmetricAndIgnoresDummies, ()) {
  auto game = *games(9, 1000);
  game.push_back(game.front());
  game.emplace_back(0, 0);
  const auto values = scaled_shapley_values(players_of(game));
  const Int128 sum = std::accumulate(values.begin(), values.end(), Int128{0});
  RC_ASSERT(sum == factorial(game.size()) * grand_coalition(players_of(game)));
  RC_ASSERT(values[values.size() - 2] == values.front());
  RC_ASSERT(values.back() == 0);
  // Without the dummy each other player keeps the same value; only the scale k! is another.
  const Int128 k = static_cast<Int128>(game.size());
  game.pop_back();
  const auto fewer = scaled_shapley_values(players_of(game));
  for (std::size_t i = 0; i < fewer.size(); ++i) RC_ASSERT(values[i] == k * fewer[i]);
}

RC_GTEST_PROP(ShapleyValue, GivesSelfSufficientOrganizationsTheirOwn, ()) {
  // Additivity in this game: if each player's demand equals its processors, v is the sum of single values.
  auto game = *games(9, 1000);
  for (auto& [demand, owned] : game) owned = demand;
  const auto values = scaled_shapley_values(players_of(game));
  for (std::size_t i = 0; i < game.size(); ++i) RC_ASSERT(values[i] == factorial(game.size()) * game[i].first);
}

RC_GTEST_PROP(ShapleyRates, SumToWhatRunsAndAreFairlyRounded, ()) {
  const auto game = *games(6, 50);
  const auto players = players_of(game);
  const auto running = *rc::gen::inRange<std::int64_t>(0, 60);
  const auto rates = shapley_rates(players, {.running = {running}, .seed = 7});
  if (grand_coalition(players) == 0 && running > 0) {
    RC_ASSERT(rates.empty());
    return;
  }
  const auto expected = naive::apportion_by_remainders(running, naive::shapley_by_orders(game));
  for (std::size_t i = 0; i < rates.size(); ++i) RC_ASSERT(rates[i].value == expected[i]);
  RC_ASSERT(sum_of(rates) == running);
}

RC_GTEST_PROP(ShapleyRates, WithPlacementsAreFairlyRounded, ()) {
  const auto game = *games(6, 50);
  const auto placements = some_placements(game, 4);
  const auto running = *rc::gen::inRange<std::int64_t>(1, 60);
  const auto weights = naive::shapley_by_orders(game, placements);
  const auto placed = placements_of(placements);
  const auto rates = shapley_rates(players_of(game), {.running = {running}, .seed = 7, .placements = placed});
  if (std::accumulate(weights.begin(), weights.end(), Int128{0}) == 0) {
    RC_ASSERT(rates.empty());
    return;
  }
  const auto expected = naive::apportion_by_remainders(running, weights);
  for (std::size_t i = 0; i < rates.size(); ++i) RC_ASSERT(rates[i].value == expected[i]);
}

// Of every placement each of its owners could serve all demand alone, or all but one; few sets of owners.
RC_GTEST_PROP(ShapleyRates, OfPlacementsWithPlentyAreThoseOfEachByItself, ()) {
  auto game = *games(5, 50);
  const auto amount = [](std::int64_t least, std::int64_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
  };
  std::vector<naive::Players> placements;
  for (auto left = amount(2, 6); left > 0; --left) {
    const auto owners = amount(1, 3);
    naive::Players& placement = placements.emplace_back();
    std::int64_t demand = 0;
    for (std::size_t i = 0; i < game.size(); ++i) demand += placement.emplace_back(amount(0, 4), 0).first;
    for (std::size_t i = 0; i < game.size(); ++i) {
      if ((owners >> i & 1) == 0) continue;
      placement[i].second = std::max<std::int64_t>(demand + amount(-1, 4), 0);
      game[i].second += placement[i].second;
    }
  }
  const auto weights = naive::shapley_by_orders(game, placements);
  if (std::accumulate(weights.begin(), weights.end(), Int128{0}) == 0) return;
  const auto placed = placements_of(placements);
  const auto rates = shapley_rates(players_of(game), {.running = {1'000'000}, .seed = 7, .placements = placed});
  const auto expected = naive::apportion_by_remainders(1'000'000, weights);
  for (std::size_t i = 0; i < rates.size(); ++i) RC_ASSERT(rates[i].value == expected[i]);
}

TEST(ShapleyRates, OfPlacementsWithPlentyAreExactHoweverMany) {
  // 12 organizations of 100 processors, and 600 jobs that run where they are pinned to: one by one too many steps.
  constexpr std::size_t k = 12;
  const std::vector<Player> players(k, Player{{0}, {100}});
  std::vector<Placement> placements;
  for (std::size_t i = 0; i < 600; ++i) {
    Placement& placement = placements.emplace_back(k);
    placement[i % 7].demand = {1};
    placement[i % k].owned = {2};
  }
  const auto rates_by = [&](std::uint64_t seed) {
    return shapley_rates(players, {.running = {600 * k_micro}, .seed = seed, .placements = placements});
  };
  const auto rates = rates_by(1);
  for (std::uint64_t seed = 2; seed < 10; ++seed) EXPECT_EQ(rates_by(seed), rates);
  // Half of each job is due to who asked, half to the owner: the last one owns 50 of the jobs' places and has no job.
  EXPECT_EQ(rates.back(), ProcessorMillionths{25 * k_micro});
}

TEST(ShapleyRates, OfManyPlacementsAreUnbiasedToo) {
  // 17 organizations own two processors each, the first of them wants some of each other's: exact in 2^17 steps for
  // each placement, which is too many. By symmetry all others have one value; 4000 draws come within 3 % of it.
  constexpr std::size_t k = 17;
  std::vector<Player> players(k, Player{{0}, {2}});
  players.front().owned = {0};
  std::vector<Placement> placements;
  for (std::size_t i = 1; i < k; ++i) {
    Placement& placement = placements.emplace_back(k);
    placement.front().demand = {1};
    placement[i].owned = {2};
  }
  const std::int64_t running = 16 * k_micro;
  std::int64_t others = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto rates = shapley_rates(players, {.running = {running}, .seed = seed, .placements = placements});
    others = std::accumulate(rates.begin() + 1, rates.end(), others,
                             [](std::int64_t s, ProcessorMillionths r) { return s + r.value; });
  }
  // Each of the others adds one to whatever coalition has the first: half of it is its own.
  EXPECT_NEAR(static_cast<double>(others) / 4000, static_cast<double>(running) / 2,
              0.03 * static_cast<double>(running) / 2);
}

RC_GTEST_PROP(ShapleyRates, OfManyOrganizationsSumAndRepeat, ()) {
  auto game = *games(40, 1000);
  for (std::size_t i = 0; i <= k_exact_players; ++i) game.emplace_back(3, 2);
  const auto players = players_of(game);
  const auto running = *rc::gen::inRange<std::int64_t>(1, 100'000);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto rates = shapley_rates(players, {.running = {running}, .seed = seed});
  RC_ASSERT(sum_of(rates) == running);
  RC_ASSERT(rates == shapley_rates(players, {.running = {running}, .seed = seed}));
  for (const ProcessorMillionths rate : rates) RC_ASSERT(rate.value >= 0);
  // A dummy changes nothing, wherever it stands.
  const auto place = *rc::gen::inRange<std::size_t>(0, players.size() + 1);
  auto longer = players;
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(place), Player{});
  auto with_dummy = shapley_rates(longer, {.running = {running}, .seed = seed});
  RC_ASSERT(with_dummy[place].value == 0);
  with_dummy.erase(with_dummy.begin() + static_cast<std::ptrdiff_t>(place));
  RC_ASSERT(with_dummy == rates);
}

TEST(ShapleyRates, OfManyOrganizationsAreUnbiased) {
  // 9 lenders of 2 processors and 10 borrowers of 1: by symmetry only two exact values, found from the smaller game by
  // averaging 4000 draws. The standard error is below 1 % of the value; 3 % cannot fail by chance for these seeds.
  std::vector<std::pair<std::int64_t, std::int64_t>> game(9, {0, 2});
  game.insert(game.end(), 10, {1, 0});
  const auto players = players_of(game);
  const std::int64_t running = 10 * k_micro;
  std::int64_t lenders = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto rates = shapley_rates(players, {.running = {running}, .seed = seed});
    lenders = std::accumulate(rates.begin(), rates.begin() + 9, lenders,
                              [](std::int64_t s, ProcessorMillionths r) { return s + r.value; });
  }
  const auto by_potential = shapley_by_potential(players);
  const Int128 exact = std::accumulate(by_potential.begin(), by_potential.begin() + 9, Int128{0});
  const double expected =
      static_cast<double>(exact) / static_cast<double>(factorial(19)) * static_cast<double>(k_micro);
  EXPECT_NEAR(static_cast<double>(lenders) / 4000, expected, 0.03 * expected);
}

RC_GTEST_PROP(Apportion, GivesEachItsFloorOrOneMore, ()) {
  const auto small = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000)));
  const auto total = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  // A large common factor takes the road of long division; it must not change the outcome.
  std::vector<Int128> weights(small.begin(), small.end());
  weights.push_back(1);
  const auto parts = apportion(total, weights);
  RC_ASSERT(parts == naive::apportion_by_remainders(total, weights));
  std::vector<Int128> large = weights;
  for (Int128& weight : large) weight *= Int128{1} << 90;
  RC_ASSERT(apportion(total, large) == parts);
}

}  // namespace
}  // namespace shapley::game
