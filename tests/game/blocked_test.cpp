// What a run blocks of a node, against cases by hand and a search over millionths.
#include "game/blocked.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace shapley::game {
namespace {

// 16 CPUs, 64,000 MiB, 4 GPUs.
const Amounts k_node{16, 64'000, {{"gres/fpga", 0}, {"gres/gpu", 4}}};

std::int64_t blocked_of(const Amounts& held, bool exclusive = false) {
  return blocked(held, k_node, exclusive).value;
}

TEST(Blocked, IsTheLargestPartTimesTheCpus) {
  EXPECT_EQ(blocked_of({4, 8'000, {}}), 4 * k_micro);
  EXPECT_EQ(blocked_of({1, 32'000, {}}), 8 * k_micro);
  EXPECT_EQ(blocked_of({1, 0, {{"gres/gpu", 3}}}), 12 * k_micro);
  EXPECT_EQ(blocked_of({1, 1, {}}), k_micro);
  EXPECT_EQ(blocked_of({2, 48'000, {{"gres/gpu", 1}}}), 12 * k_micro);
}

TEST(Blocked, IsSomethingAndNoMoreThanTheNode) {
  EXPECT_EQ(blocked_of({}), 1);
  EXPECT_EQ(blocked_of({17, 0, {}}), 16 * k_micro);
  EXPECT_EQ(blocked_of({1, std::int64_t{1} << 60U, {{"gres/gpu", std::int64_t{1} << 60U}}}), 16 * k_micro);
  EXPECT_EQ(blocked_of({1, 0, {}}, true), 16 * k_micro);
}

TEST(Blocked, WhatTheNodeDoesNotListBlocksNothing) {
  EXPECT_EQ(blocked_of({1, 0, {{"gres/fpga", 3}, {"gres/mps", 100}}}), k_micro);
  EXPECT_EQ(blocked({1, 64'000, {}}, {16, 0, {}}, false).value, k_micro);
}

TEST(Blocked, AgreesWithASearchOverMillionths) {
  for (std::int64_t cpus = 1; cpus <= 7; ++cpus) {
    for (std::int64_t memory = 0; memory <= 11; ++memory) {
      const Amounts node{7, 11, {{"gres/gpu", 3}}};
      for (std::int64_t gpus = 0; gpus <= 3; ++gpus) {
        const std::int64_t is = blocked({cpus, memory, {{"gres/gpu", gpus}}}, node, false).value;
        // The most millionths m with m <= 7,000,000 * part for the largest part.
        const auto within = [&](std::int64_t m) {
          return m <= cpus * k_micro || m * 11 <= 7 * k_micro * memory || m * 3 <= 7 * k_micro * gpus;
        };
        EXPECT_TRUE(within(is)) << cpus << ' ' << memory << ' ' << gpus;
        EXPECT_FALSE(within(is + 1)) << cpus << ' ' << memory << ' ' << gpus;
      }
    }
  }
}

TEST(DominantPart, MayBeMoreThanANode) {
  const NodePart part = dominant_part({24, 0, {{"gres/gpu", 10}}}, k_node);
  EXPECT_EQ(part.of, 10);
  EXPECT_EQ(part.whole, 4);
}

}  // namespace
}  // namespace shapley::game
