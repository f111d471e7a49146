#include "base/counted.hpp"

#include <cstddef>

#include <gtest/gtest.h>

namespace shapley {
namespace {

TEST(Counted, OneHasNoS) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(std::size_t{1204}, "run"), "1204 runs");
}

TEST(Counted, WhatGoesWithTheNounAgrees) {
  constexpr const char* k_text = "run[|s] [was|were] left out";
  EXPECT_EQ(counted_as(1, k_text), "1 run was left out");
  EXPECT_EQ(counted_as(2, k_text), "2 runs were left out");
  EXPECT_EQ(counted_as(3, "left out"), "3 left out");
}

}  // namespace
}  // namespace shapley
