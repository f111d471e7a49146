// Which ends are expected, by how long runs have lasted.
#include "plugin/client/places/ends.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/types.hpp"

namespace shapley::client {
namespace {

std::vector<RunsByAge> any_runs() {
  std::vector<RunsByAge> organizations;
  for (int u = *rc::gen::inRange(1, 6); u > 0; --u) {
    RunsByAge& runs = organizations.emplace_back();
    for (int n = *rc::gen::inRange(0, 6); n > 0; --n) {
      runs.add(*rc::gen::inRange<std::int64_t>(-2, 1'000'000), *rc::gen::inRange<std::int64_t>(1, 64) * k_micro);
    }
  }
  return organizations;
}

std::int64_t sum_of(std::span<const std::int64_t> parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

RC_GTEST_PROP(ExpectedEnds, AddUpAndGrowWithWhatHasComeFree, ()) {
  const std::vector<RunsByAge> organizations = any_runs();
  std::int64_t all = 0;
  for (const RunsByAge& runs : organizations) all += runs.all();
  std::vector<std::int64_t> before(organizations.size());
  for (std::int64_t step = 0; step <= 16; ++step) {
    const std::int64_t freed = all / 16 * step;
    const std::vector<std::int64_t> ended = expected_ends(organizations, freed);
    RC_ASSERT(std::abs(sum_of(ended) - freed) <= static_cast<std::int64_t>(organizations.size()) + all / 1'000'000);
    for (std::size_t u = 0; u < ended.size(); ++u) {
      RC_ASSERT(ended[u] >= before[u] && ended[u] <= organizations[u].all());
    }
    before = ended;
  }
}

TEST(ExpectedEnds, OfRunsOfOneAgeAreInProportion) {
  std::vector<RunsByAge> organizations(3);
  organizations[0].add(100, 28 * k_micro);
  organizations[1].add(100, 4 * k_micro);
  const std::vector<std::int64_t> half = expected_ends(organizations, 16 * k_micro);
  EXPECT_NEAR(static_cast<double>(half[0]), 14.0 * k_micro, 10);
  EXPECT_NEAR(static_cast<double>(half[1]), 2.0 * k_micro, 10);
  EXPECT_EQ(half[2], 0);
  EXPECT_EQ(expected_ends(organizations, 99 * k_micro), (std::vector<std::int64_t>{28 * k_micro, 4 * k_micro, 0}));
  EXPECT_TRUE(expected_ends({}, 5).empty());
}

// A duration is longer than x, given that it is longer than a, with probability a / x. Which of the runs of these ages
// end next is counted over many draws.
TEST(ExpectedEnds, AreThoseOfDurationsOfAllMagnitudes) {
  constexpr std::int64_t k_ages[] = {3, 200};
  constexpr int k_runs = 16, k_draws = 4'000;
  std::vector<RunsByAge> organizations(2);
  for (int u = 0; u < 2; ++u) organizations[static_cast<std::size_t>(u)].add(k_ages[u], k_runs * k_micro);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  double of_first = 0;
  for (int draw = 0; draw < k_draws; ++draw) {
    std::vector<std::pair<double, int>> ends;  // after now
    for (int u = 0; u < 2; ++u) {
      for (int run = 0; run < k_runs; ++run) {
        const double age = static_cast<double>(k_ages[u]);
        ends.emplace_back(age / uniform(random) - age, u);
      }
    }
    std::sort(ends.begin(), ends.end());
    for (int i = 0; i < 8; ++i) of_first += ends[static_cast<std::size_t>(i)].second == 0 ? 1 : 0;
  }
  const std::vector<std::int64_t> ended = expected_ends(organizations, 8 * k_micro);
  EXPECT_NEAR(static_cast<double>(ended[0]) / k_micro, of_first / k_draws, .3);
}

}  // namespace
}  // namespace shapley::client
