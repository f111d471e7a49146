// The papers' axioms, worked examples and theorems, restated in numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.hpp"
#include "game/shapley_value.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::sim {
namespace {

using game::Coalition;
using scheduling::Instance;

// A cooperative game of k players by the values of its coalitions; the empty one is worth 0.
using Game = std::vector<std::int64_t>;

Game any_game(std::size_t k) {
  Game game(std::size_t{1} << k);
  for (std::size_t c = 1; c < game.size(); ++c) game[c] = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  return game;
}

std::vector<Int128> shapley(const Game& game) {
  std::vector<Int128> scaled(static_cast<std::size_t>(std::countr_zero(game.size())));
  game::scaled_shapley_values_of_grand(game, scaled);
  return scaled;
}

RC_GTEST_PROP(ShapleyAxioms, Efficiency, ()) {
  const Game game = any_game(*rc::gen::inRange<std::size_t>(1, 8));
  const auto phi = shapley(game);
  RC_ASSERT(std::accumulate(phi.begin(), phi.end(), Int128{0}) ==
            static_cast<Int128>(game::factorial(phi.size())) * game.back());
}

RC_GTEST_PROP(ShapleyAxioms, Symmetry, ()) {
  // Players 0 and 1 are made indistinguishable: {0} + S is worth what {1} + S is.
  Game game = any_game(*rc::gen::inRange<std::size_t>(2, 8));
  for (std::size_t c = 0; c < game.size(); ++c) {
    if ((c & 3U) == 2) game[c] = game[c ^ 3U];
  }
  const auto phi = shapley(game);
  RC_ASSERT(phi[0] == phi[1]);
}

RC_GTEST_PROP(ShapleyAxioms, Dummy, ()) {
  // Player 0 adds nothing to any coalition.
  Game game = any_game(*rc::gen::inRange<std::size_t>(1, 8));
  for (std::size_t c = 1; c < game.size(); c += 2) game[c] = game[c ^ 1U];
  RC_ASSERT(shapley(game)[0] == 0);
}

RC_GTEST_PROP(ShapleyAxioms, Additivity, ()) {
  const std::size_t k = *rc::gen::inRange<std::size_t>(1, 8);
  const Game one = any_game(k);
  const Game other = any_game(k);
  Game sum(one.size());
  std::transform(one.begin(), one.end(), other.begin(), sum.begin(), std::plus<>());
  const auto phi_one = shapley(one);
  const auto phi_other = shapley(other);
  const auto phi_sum = shapley(sum);
  for (std::size_t u = 0; u < k; ++u) RC_ASSERT(phi_sum[u] == phi_one[u] + phi_other[u]);
}

// Both ways to compute it agree: by potentials, and over the grand coalition only.
RC_GTEST_PROP(ShapleyAxioms, PotentialsGiveTheSameValue, ()) {
  const Game game = any_game(*rc::gen::inRange<std::size_t>(1, 8));
  std::vector<Int128> potentials(game.size());
  game::scaled_potentials(game, potentials);
  const auto phi = shapley(game);
  for (std::size_t u = 0; u < phi.size(); ++u)
    RC_ASSERT(phi[u] == game::scaled_shapley(potentials, static_cast<Coalition>(game.size() - 1), u));
}

// In schedules: who has no processors and no jobs contributes nothing, and which one is listed first does not
// matter to the values of coalitions without ties.
RC_GTEST_PROP(RefAxioms, AnOrganizationWithoutAnythingContributesNothing, ()) {
  Instance instance = any_instance(4);
  instance.processors.push_back(0);
  const auto policy = scheduling::make_ref(instance);
  (void)scheduling::simulate(instance, *policy);
  RC_ASSERT(policy->contributions(instance.end.value)->back().numerator == 0);
}

TEST(Proposition55, TheGameIsNotSupermodular) {
  // a, b, c with a processor each; a and b release two unit jobs at 0, c has none; t = 2.
  const Instance instance{{1, 1, 1}, {{{0}, {1}, 0}, {{0}, {1}, 0}, {{0}, {1}, 1}, {{0}, {1}, 1}}, {2}};
  const auto policy = scheduling::make_ref(instance);
  (void)scheduling::simulate(instance, *policy);
  std::vector<std::int64_t> v(8);
  for (const auto& [coalition, value] : policy->coalition_values(2)) v[coalition] = value;
  constexpr Coalition a = 1, b = 2, c = 4;
  EXPECT_EQ(v[a | c], 4);
  EXPECT_EQ(v[b | c], 4);
  EXPECT_EQ(v[a | b | c], 7);
  EXPECT_EQ(v[c], 0);
  EXPECT_LT(v[a | b | c] + v[c], v[a | c] + v[b | c]);
}

// Theorem 5.1: phi of an organization without jobs counts subsets of S that sum to less than x, so computing it solves
// SubsetSum. k organizations with x_i in S; a has no jobs, b the large one; one processor each. With x_tot = sum of x_i
// + 2, organization i releases 1, 1 at 0, 2 x_tot at 3 and 2 x_i at 4; b releases 2x + 2 at 2 and L at 2x + 3. floor(
// (k+2)! phi[a] / L ) = n_<x = sum over such subsets S' of (|S'|+1)! (k-|S'|)!.
//
// The proof needs b served before all others from 2 on, and says that the two unit jobs see to it, since b lends
// its processor for them. Ties go to the lowest index here, which gives an organization all free processors of an
// instant: with three others the last one is owed more than b after one round. What b has lent adds up and what the
// others owe each other does not, so the unit jobs come in several rounds, 2 seconds apart, and everything after them
// later by as much.
struct Reduction {
  Instance instance;
  std::int64_t large = 0;
};

Reduction reduction(const std::vector<std::int64_t>& set, std::int64_t x, std::int64_t rounds) {
  const std::size_t k = set.size();
  const auto size = static_cast<std::int64_t>(k);
  const std::int64_t x_tot = std::accumulate(set.begin(), set.end(), std::int64_t{2});
  Reduction result;
  // No job but the large one, in sum, changes a value by more than what the parenthesis says.
  result.large = (4 * size * x_tot * x_tot + 4 * rounds * size) * game::factorial(k + 2) + 1;
  Instance& instance = result.instance;
  instance.processors.assign(k + 2, 1);
  const auto a = static_cast<std::uint32_t>(k);
  const std::uint32_t b = a + 1;
  const std::int64_t shift = 2 * (rounds - 1);
  for (std::uint32_t i = 0; i < a; ++i) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      instance.jobs.push_back({{2 * round}, {1}, i});
      instance.jobs.push_back({{2 * round}, {1}, i});
    }
    instance.jobs.push_back({{shift + 3}, {2 * x_tot}, i});
    instance.jobs.push_back({{shift + 4}, {2 * set[i]}, i});
  }
  instance.jobs.push_back({{shift + 2}, {2 * x + 2}, b});
  instance.jobs.push_back({{shift + 2 * x + 3}, {result.large}, b});
  instance.end = {shift + 2 * x + 4 + result.large + 8 * x_tot};
  return result;
}

std::int64_t orderings_below(const std::vector<std::int64_t>& set, std::int64_t x) {
  std::int64_t count = 0;
  for (std::uint32_t subset = 0; subset < (1U << set.size()); ++subset) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < set.size(); ++i) sum += (subset >> i & 1U) != 0 ? set[i] : 0;
    const auto size = static_cast<std::size_t>(std::popcount(subset));
    if (sum < x) count += game::factorial(size + 1) * game::factorial(set.size() - size);
  }
  return count;
}

std::int64_t orderings_by_contribution(const std::vector<std::int64_t>& set, std::int64_t x, std::int64_t rounds) {
  const Reduction made = reduction(set, x, rounds);
  const auto policy = scheduling::make_ref(made.instance);
  (void)scheduling::simulate(made.instance, *policy);
  const auto phi = policy->contributions(made.instance.end.value);
  return static_cast<std::int64_t>((*phi)[set.size()].numerator / made.large);
}

TEST(Theorem51, ContributionsSolveSubsetSumAsPrinted) {
  const std::vector<std::int64_t> set{2, 3};
  for (std::int64_t x = 1; x <= 6; ++x)
    EXPECT_EQ(orderings_by_contribution(set, x, 1), orderings_below(set, x)) << "x = " << x;
}

TEST(Theorem51, ContributionsSolveSubsetSumInRounds) {
  const std::vector<std::int64_t> set{2, 3, 7};
  constexpr std::int64_t rounds = 200;  // more than the square of what the others' jobs sum to
  for (std::int64_t x = 1; x <= 12; ++x)
    EXPECT_EQ(orderings_by_contribution(set, x, rounds), orderings_below(set, x)) << "x = " << x;
  // A subset sums to x where the count grows from x to x + 1: to 5 = 2 + 3, not to 6.
  EXPECT_LT(orderings_by_contribution(set, 5, rounds), orderings_by_contribution(set, 6, rounds));
  EXPECT_EQ(orderings_by_contribution(set, 6, rounds), orderings_by_contribution(set, 7, rounds));
}

// Work done until T by the best schedule of all: the greatest over every order of starts and every idling, by search.
std::int64_t optimal_work(const Instance& instance) {
  struct Search {
    const Instance& instance;
    std::int64_t best = 0;
    // Free processors differ in when they become free only. Jobs are taken in any order; each starts as early as it can
    // on the processor chosen for it, which suffices: an optimal schedule can be shifted left job by job.
    void place(std::uint32_t left, std::vector<std::int64_t>& free_at, std::int64_t work) {
      best = std::max(best, work);
      for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
        const auto j = static_cast<std::size_t>(std::countr_zero(rest));
        const scheduling::Job& job = instance.jobs[j];
        for (std::size_t p = 0; p < free_at.size(); ++p) {
          if (std::find(free_at.begin(), free_at.begin() + static_cast<std::ptrdiff_t>(p), free_at[p]) !=
              free_at.begin() + static_cast<std::ptrdiff_t>(p))
            continue;  // the same as an earlier processor
          const std::int64_t before = free_at[p];
          const std::int64_t start = std::max(before, job.release.value);
          if (start >= instance.end.value) continue;
          free_at[p] = start + job.duration.value;
          place(left & ~(1U << j), free_at, work + std::min(job.duration.value, instance.end.value - start));
          free_at[p] = before;
        }
      }
    }
  };
  Search search{instance};
  std::vector<std::int64_t> free_at(instance.total_processors(), 0);
  search.place(static_cast<std::uint32_t>((1ULL << instance.jobs.size()) - 1), free_at, 0);
  return search.best;
}

// Theorem 6.2: every greedy schedule does at least 3/4 of the work that any schedule can do, at every T.
RC_GTEST_PROP(Theorem62, GreedyDoesThreeQuarters, ()) {
  const Instance instance = any_instance(3, {.duration_max = 6, .jobs_max = 5});
  const std::int64_t optimum = optimal_work(instance);
  for (const std::string& name : policy_names()) {
    const auto policy = make_policy(name, instance, {});
    RC_ASSERT(4 * scheduling::simulate(instance, **policy).work >= 3 * optimum);
  }
}

TEST(Theorem62, Figure7AttainsTheBound) {
  // Two processors each; four jobs of 3 and two of 6, all at 0; T = 6. Long jobs first fill the machine (100 %), short
  // jobs first leave two processors idle from 6 on, that is do 18 of 24 (75 %).
  Instance instance{{1, 1}, {{{0}, {3}, 0}, {{0}, {3}, 0}, {{0}, {6}, 1}}, {6}};
  EXPECT_EQ(optimal_work(instance), 12);
  const auto short_first = make_policy("fcfs", instance, {});
  EXPECT_EQ(scheduling::simulate(instance, **short_first).work, 9);
  instance = {{2, 2}, {}, {6}};
  for (int i = 0; i < 4; ++i) instance.jobs.push_back({{0}, {3}, 0});
  for (int i = 0; i < 2; ++i) instance.jobs.push_back({{0}, {6}, 1});
  const auto four = make_policy("fcfs", instance, {});
  EXPECT_EQ(scheduling::simulate(instance, **four).work, 18);
}

// Theorem 5.6: with N = ceil(k^2 / eps^2 ln(k / (1 - lambda))) permutations and unit jobs, |psi - psi*| <= eps |psi*|
// with probability lambda at least.
TEST(Theorem56, NumberOfPermutations) {
  EXPECT_EQ(scheduling::permutations_for(5, {.epsilon = 0.1, .lambda = 0.9}), 9'781U);  // 2500 ln 50 = 9780.06
  EXPECT_EQ(scheduling::permutations_for(3, {.epsilon = 0.5, .lambda = 0.9}), 123U);    // 36 ln 30 = 122.4
}

TEST(Theorem56, RandMeetsTheBoundForUnitJobs) {
  constexpr double epsilon = 0.3;
  constexpr double lambda = 0.9;
  constexpr int trials = 200;
  int met = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Rng rng(static_cast<std::uint64_t>(trial));
    Instance instance{{}, {}, {40}};
    for (int u = 0; u < 4; ++u) instance.processors.push_back(static_cast<std::uint32_t>(1 + rng.below(3)));
    for (int j = 0; j < 150; ++j)
      instance.jobs.push_back(
          {{static_cast<std::int64_t>(rng.below(30))}, {1}, static_cast<std::uint32_t>(rng.below(4))});
    const auto ref = make_policy("ref", instance, {});
    PolicyOptions options;
    options.seed = static_cast<std::uint64_t>(trial);
    options.accuracy = scheduling::RandAccuracy{epsilon, lambda};
    const auto rand = make_policy("rand", instance, options);
    const auto fair = scheduling::simulate(instance, **ref);
    const auto found = scheduling::simulate(instance, **rand);
    std::int64_t distance = 0;
    for (std::size_t u = 0; u < 4; ++u) distance += std::abs(fair.psi[u] - found.psi[u]);
    if (static_cast<double>(distance) <= epsilon * static_cast<double>(fair.value)) ++met;
  }
  EXPECT_GE(met, static_cast<int>(lambda * trials));
}

}  // namespace
}  // namespace shapley::sim
