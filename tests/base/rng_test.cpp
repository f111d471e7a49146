#include "base/rng.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace shapley {
namespace {

TEST(Rng, FollowsThePublishedSequence) {
  // First outputs of SplitMix64 seeded with 1234567, as in the reference implementation's test vectors.
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317U);
  EXPECT_EQ(rng.next(), 3203168211198807973U);
  EXPECT_EQ(rng.next(), 9817491932198370423U);
}

TEST(Rng, ShuffleReachesEveryPermutationAboutEqually) {
  std::array<int, 6> seen{};
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::vector<int> items{0, 1, 2};
    Rng rng(seed);
    rng.shuffle(std::span(items));
    ++seen.at(static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0)));
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace shapley
