#include "daemon/observer/constraint.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

// Of a node with the features "big", "gpu" and "ib".
std::optional<bool> admitted(std::string_view constraint) {
  static const std::vector<std::string> features{"big", "gpu", "ib"};
  return admits(constraint, features);
}

TEST(Constraint, OneFeature) {
  EXPECT_EQ(admitted("gpu"), true);
  EXPECT_EQ(admitted("gp"), false);
  EXPECT_EQ(admitted("opa"), false);
}

TEST(Constraint, IsEvaluatedFromTheLeftToTheRight) {
  EXPECT_EQ(admitted("gpu&ib"), true);
  EXPECT_EQ(admitted("gpu,opa"), false);
  EXPECT_EQ(admitted("opa|ib"), true);
  EXPECT_EQ(admitted("opa&gpu|ib"), true);
  EXPECT_EQ(admitted("gpu|ib&opa"), false) << "as Slurm does: (gpu|ib)&opa";
  EXPECT_EQ(admitted("gpu|(ib&opa)"), true);
  EXPECT_EQ(admitted("(opa|ib)&(gpu|red)"), true);
  EXPECT_EQ(admitted("(opa|ib)&(blue|red)"), false);
}

TEST(Constraint, OfAlternativesAnyWillDo) {
  EXPECT_EQ(admitted("[opa|ib]"), true);
  EXPECT_EQ(admitted("[opa|red]"), false);
  EXPECT_EQ(admitted("big&[opa|ib]"), true);
  EXPECT_EQ(admitted("red&[opa|ib]"), false);
  EXPECT_EQ(admitted("gpu*2"), true);
  EXPECT_EQ(admitted("[gpu*2&opa*4]"), true);
  EXPECT_EQ(admitted("opa*4&gpu*2"), true);
  EXPECT_EQ(admitted("[(opa&gpu)*2&red*1]"), false);
}

TEST(Constraint, WhatIsNoneIsSaid) {
  for (const std::string_view text :
       {"",   "&",  "gpu&", "|gpu",  "gpu||ib", "(gpu",  "gpu)", "[gpu",    "gpu]",    "(gpu]",
        "()", "[]", "gpu*", "gpu*0", "gpu*2*2", "gpu*x", "*",    "gpu(ib)", "gpu[ib]", "(((((((((gpu)))))))))"}) {
    EXPECT_EQ(admitted(text), std::nullopt) << text;
  }
  EXPECT_EQ(admitted("((((((((gpu))))))))"), true);
}

}  // namespace
}  // namespace shapley::daemon
