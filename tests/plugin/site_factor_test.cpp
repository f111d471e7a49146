// Ranks and levels as site factors: strict order holds whatever the other factors and levels are, and nothing leaves
// Slurm's ranges.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

extern "C" {
#include "plugin/priority/site_factor.h"
}

namespace {

constexpr std::int64_t k_site_limit = std::int64_t{1} << 31;

// What Slurm does with a job: the other weighted factors, the site factor, minus nice, cut below at 1.
std::int64_t slurm_priority(std::int64_t others, std::int64_t site, std::int64_t nice) {
  return std::max<std::int64_t>(1, others + site - nice);
}

TEST(SiteFactor, StrictByHand) {
  // Weights of 1500 in all: a step of 1500 + 10000 for nice + 1.
  const shapley_steps_t steps = shapley_steps_strict(1500, 3, false);
  EXPECT_TRUE(steps.ranks_fit && steps.levels_fit);
  const std::uint32_t step = steps.rank;
  EXPECT_EQ(step, 11501U);
  EXPECT_EQ(steps.level, 0U);
  EXPECT_EQ(shapley_site_strict(step, 3, 0), 10000U + 2 * 11501U);
  EXPECT_EQ(shapley_site_strict(step, 3, 1), 10000U + 11501U);
  EXPECT_EQ(shapley_site_strict(step, 3, 2), 10000U);
}

TEST(SiteFactor, LevelsByHand) {
  // A level is worth more than the weights of 1500; a rank more than that and 15 levels of 1502.
  const shapley_steps_t strict = shapley_steps_strict(1500, 3, true);
  EXPECT_TRUE(strict.ranks_fit && strict.levels_fit);
  EXPECT_EQ(strict.level, 1502U);
  EXPECT_EQ(strict.rank, 11501U + 15U * 1502U);
  // Ranks are 2500 apart: 15 levels of 166 stay below.
  const shapley_steps_t weighted = shapley_steps_weighted(5000, 3, true);
  EXPECT_EQ(weighted.level, 166U);
  EXPECT_TRUE(weighted.levels_fit);
  EXPECT_EQ(shapley_steps_weighted(5000, 1, true).level, 333U) << "one organization: no rank to stay below";
}

TEST(SiteFactor, LevelsGiveWayToRanks) {
  // Weights of 200 million and ten ranks: steps of 200 million each leave 347 million for levels.
  const shapley_steps_t squeezed = shapley_steps_strict(200'000'000, 10, true);
  EXPECT_TRUE(squeezed.ranks_fit);
  EXPECT_FALSE(squeezed.levels_fit);
  EXPECT_GT(squeezed.level, 2'000'000U);
  // Twelve such ranks leave nothing: the order among organizations is as it is without levels.
  const shapley_steps_t none = shapley_steps_strict(200'000'000, 12, true);
  EXPECT_EQ(none.level, 0U);
  EXPECT_FALSE(none.levels_fit);
  EXPECT_EQ(none.rank, shapley_steps_strict(200'000'000, 12, false).rank);
  EXPECT_EQ(shapley_steps_weighted(20, 3, true).level, 0U) << "10 apart: no room for 15 levels";
  EXPECT_FALSE(shapley_steps_weighted(20, 3, true).levels_fit);
  EXPECT_EQ(shapley_steps_weighted(0, 3, true).level, 0U);
}

TEST(SiteFactor, AllLevelsTogetherEndBelowTheNextRankAndBelowSlurmsLimit) {
  EXPECT_EQ(shapley_steps_weighted(300, 3, true).level, 9U) << "150 apart: 15 levels of 10 would draw level";
  EXPECT_EQ(shapley_steps_weighted(302, 3, true).level, 10U);
  constexpr std::uint32_t k_largest = (1U << 31U) - 1;
  EXPECT_EQ(shapley_steps_weighted(k_largest, 2, true).level, 0U);
  EXPECT_EQ(shapley_steps_weighted(k_largest - 150, 2, true).level, 10U);
  EXPECT_EQ(shapley_steps_weighted(UINT32_MAX, 2, true).level, 0U);
}

TEST(SiteFactor, WithoutLevelsNothingIsDifferent) {
  EXPECT_EQ(shapley_steps_weighted(5000, 3, false).level, 0U);
  EXPECT_TRUE(shapley_steps_weighted(5000, 3, false).levels_fit);
  EXPECT_TRUE(shapley_steps_strict(4'000'000'000U, 3, false).levels_fit);
}

TEST(SiteFactor, WeightedByHand) {
  EXPECT_EQ(shapley_site_weighted(5000, 3, 0), 5000U);
  EXPECT_EQ(shapley_site_weighted(5000, 3, 1), 2500U);
  EXPECT_EQ(shapley_site_weighted(5000, 3, 2), 0U);
}

TEST(SiteFactor, FewRanksOrAPositionOutsideThemGetTheLowest) {
  for (std::uint32_t ranks : {0U, 1U}) {
    EXPECT_EQ(shapley_site_strict(7, ranks, 0), static_cast<std::uint32_t>(k_shapley_nice_headroom));
    EXPECT_EQ(shapley_site_weighted(5000, ranks, 0), 0U);
  }
  EXPECT_EQ(shapley_site_strict(7, 3, 3), static_cast<std::uint32_t>(k_shapley_nice_headroom));
  EXPECT_EQ(shapley_site_weighted(5000, 3, 3), 0U);
}

RC_GTEST_PROP(SiteFactor, StrictOrderBeatsEveryOtherFactorAndItsOwnNice, ()) {
  const auto weights = static_cast<std::uint64_t>(*rc::gen::inRange<std::int64_t>(0, 50'000'000));
  const auto ranks = static_cast<std::uint32_t>(*rc::gen::inRange(2, 40));
  const auto better = static_cast<std::uint32_t>(*rc::gen::inRange<int>(0, static_cast<int>(ranks) - 1));
  const auto worse =
      static_cast<std::uint32_t>(*rc::gen::inRange<int>(static_cast<int>(better) + 1, static_cast<int>(ranks)));
  const auto nice = *rc::gen::inRange<std::int64_t>(0, k_shapley_nice_headroom + 1);
  const shapley_steps_t steps = shapley_steps_strict(weights, ranks, *rc::gen::arbitrary<bool>());
  RC_ASSERT(steps.ranks_fit);
  // The better organization's job at its worst against the other's job at its best, its level included.
  RC_ASSERT(slurm_priority(0, shapley_site_strict(steps.rank, ranks, better), nice) >
            slurm_priority(static_cast<std::int64_t>(weights),
                           std::int64_t{shapley_site_strict(steps.rank, ranks, worse)} +
                               std::int64_t{steps.level} * k_shapley_max_level,
                           0));
}

// Whatever the weights, ranks and levels: no job passes one of a better-ranked organization by its level.
RC_GTEST_PROP(SiteFactor, NoLevelLiftsAJobPastABetterRank, ()) {
  const bool strict = *rc::gen::arbitrary<bool>();
  const auto weight = *rc::gen::oneOf(rc::gen::arbitrary<std::uint32_t>(), rc::gen::inRange<std::uint32_t>(0, 2000));
  const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 3000);
  const auto better = *rc::gen::inRange<std::uint32_t>(0, ranks - 1);
  const auto worse = *rc::gen::inRange<std::uint32_t>(better + 1, ranks);
  const auto better_level = *rc::gen::inRange<std::int64_t>(0, k_shapley_max_level + 1);
  const auto worse_level = *rc::gen::inRange<std::int64_t>(0, k_shapley_max_level + 1);
  const shapley_steps_t steps =
      strict ? shapley_steps_strict(weight, ranks, true) : shapley_steps_weighted(weight, ranks, true);
  const auto site = [&](std::uint32_t position, std::int64_t level) {
    return std::int64_t{strict ? shapley_site_strict(steps.rank, ranks, position)
                               : shapley_site_weighted(weight, ranks, position)} +
           std::int64_t{steps.level} * level;
  };
  if (site(better, 0) > site(worse, 0)) {
    RC_ASSERT(site(better, better_level) > site(worse, worse_level));
  } else {
    RC_ASSERT(steps.level == 0U);  // a weight that does not keep the ranks apart leaves no room for levels
  }
  RC_ASSERT(site(0, k_shapley_max_level) < k_site_limit);
}

// Where they fit, a level counts more than the site's other factors, and ranks lose nothing by levels.
RC_GTEST_PROP(SiteFactor, ALevelOutweighsTheOtherFactorsWhereItFits, ()) {
  const auto weights = *rc::gen::arbitrary<std::uint32_t>();
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 5000);
  const shapley_steps_t with = shapley_steps_strict(weights, ranks, true);
  const shapley_steps_t without = shapley_steps_strict(weights, ranks, false);
  RC_ASSERT(with.ranks_fit == without.ranks_fit);
  RC_ASSERT(with.rank >= without.rank);
  RC_ASSERT(with.levels_fit == (with.level > weights));
  // Against the definition in 64 bits: full levels fit when the first rank's highest level ends below 2^31.
  const std::int64_t level = std::int64_t{weights} + 2;
  const std::int64_t all_levels = level * k_shapley_max_level;
  const std::int64_t top =
      k_shapley_nice_headroom +
      (std::int64_t{weights} + k_shapley_nice_headroom + 1 + all_levels) * (std::int64_t{ranks} - 1) + all_levels;
  RC_ASSERT((with.level == level) == (top < k_site_limit));
}

RC_GTEST_PROP(SiteFactor, NiceStillOrdersTheLastOrganization, ()) {
  const auto nice = *rc::gen::inRange<std::int64_t>(1, k_shapley_nice_headroom);
  const std::uint32_t last = shapley_site_strict(1, 5, 4);
  RC_ASSERT(slurm_priority(0, last, nice) < slurm_priority(0, last, nice - 1));
}

RC_GTEST_PROP(SiteFactor, StaysInRangeAndInOrderWhenTheWeightsAreTooLarge, ()) {
  const auto weights = *rc::gen::arbitrary<std::uint32_t>();
  const auto ranks = static_cast<std::uint32_t>(*rc::gen::inRange(1, 5000));
  const shapley_steps_t steps = shapley_steps_strict(weights, ranks, false);
  const bool fits = steps.ranks_fit;
  const std::uint32_t step = steps.rank;
  // Against the definition in 64 bits: it fits when the first rank's site stays below 2^31.
  const std::int64_t top = k_shapley_nice_headroom +
                           (std::int64_t{weights} + k_shapley_nice_headroom + 1) * std::max<std::int64_t>(ranks - 1, 1);
  RC_ASSERT(fits == (top < k_site_limit));
  RC_ASSERT(shapley_site_strict(step, ranks, 0) < k_site_limit);
  if (ranks > 1) RC_ASSERT(shapley_site_strict(step, ranks, 0) > shapley_site_strict(step, ranks, 1));
  RC_ASSERT(shapley_site_weighted(weights, ranks, 0) < k_site_limit);
}

TEST(SiteFactor, SumsTresWeights) {
  EXPECT_DOUBLE_EQ(shapley_tres_weights_sum(nullptr), 0.0);
  EXPECT_DOUBLE_EQ(shapley_tres_weights_sum(""), 0.0);
  EXPECT_DOUBLE_EQ(shapley_tres_weights_sum("CPU=1000,Mem=2000.5,GRES/gpu=3000"), 6000.5);
  EXPECT_DOUBLE_EQ(shapley_tres_weights_sum("cpu=,mem=x,node=-5,billing=7"), 7.0);
}

TEST(SiteFactor, PriorityIsCutToSlurmsRange) {
  EXPECT_EQ(shapley_priority_of_sum(-3.0), 1U);
  EXPECT_EQ(shapley_priority_of_sum(0.99), 1U);
  EXPECT_EQ(shapley_priority_of_sum(632.99), 632U);
  EXPECT_EQ(shapley_priority_of_sum(4294967295.0), UINT32_MAX);
  EXPECT_EQ(shapley_priority_of_sum(1e12), UINT32_MAX);
  EXPECT_EQ(shapley_priority_of_sum(std::nan("")), 1U);
}

}  // namespace
