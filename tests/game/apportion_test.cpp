// How an amount is apportioned by weights, against the plain way.
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "game/shapley_value.hpp"
#include "naive_apportion.hpp"

namespace shapley::game {
namespace {

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
