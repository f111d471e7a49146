// Ranks as site factors: strict order holds whatever the other factors are, and nothing leaves Slurm's ranges.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

extern "C" {
#include "plugin/site_factor.h"
}

namespace {

constexpr std::int64_t k_site_limit = std::int64_t{1} << 31;

// What Slurm does with a job: the other weighted factors, the site factor, minus nice, cut below at 1.
std::int64_t slurm_priority(std::int64_t others, std::int64_t site, std::int64_t nice) {
  return std::max<std::int64_t>(1, others + site - nice);
}

TEST(SiteFactor, StrictByHand) {
  // Weights of 1500 in all: a step of 1500 + 10000 for nice + 1.
  bool fits = false;
  const std::uint32_t step = shapley_rank_step(1500, 3, &fits);
  EXPECT_TRUE(fits);
  EXPECT_EQ(step, 11501U);
  EXPECT_EQ(shapley_site_strict(step, 3, 0), 10000U + 2 * 11501U);
  EXPECT_EQ(shapley_site_strict(step, 3, 1), 10000U + 11501U);
  EXPECT_EQ(shapley_site_strict(step, 3, 2), 10000U);
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
  bool fits = false;
  const std::uint32_t step = shapley_rank_step(weights, ranks, &fits);
  RC_ASSERT(fits);
  // The better organization's job at its worst against the other's job at its best.
  RC_ASSERT(slurm_priority(0, shapley_site_strict(step, ranks, better), nice) >
            slurm_priority(static_cast<std::int64_t>(weights), shapley_site_strict(step, ranks, worse), 0));
}

RC_GTEST_PROP(SiteFactor, NiceStillOrdersTheLastOrganization, ()) {
  const auto nice = *rc::gen::inRange<std::int64_t>(1, k_shapley_nice_headroom);
  const std::uint32_t last = shapley_site_strict(1, 5, 4);
  RC_ASSERT(slurm_priority(0, last, nice) < slurm_priority(0, last, nice - 1));
}

RC_GTEST_PROP(SiteFactor, StaysInRangeAndInOrderWhenTheWeightsAreTooLarge, ()) {
  const auto weights = *rc::gen::arbitrary<std::uint32_t>();
  const auto ranks = static_cast<std::uint32_t>(*rc::gen::inRange(1, 5000));
  bool fits = false;
  const std::uint32_t step = shapley_rank_step(weights, ranks, &fits);
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
