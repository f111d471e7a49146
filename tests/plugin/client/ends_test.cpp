// Which ends are expected, and how fast runs have been ending.
#include "plugin/client/places/ends.hpp"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/types.hpp"

namespace shapley::client {
namespace {

// By the definition: one time for all; none has more than it runs.
RC_GTEST_PROP(ExpectedEnds, AreThoseOfOneTime, ()) {
  std::vector<Ending> organizations;
  std::int64_t all = 0;
  for (int u = *rc::gen::inRange(1, 8); u > 0; --u) {
    organizations.push_back({*rc::gen::inRange<std::int64_t>(0, 5'000) * k_micro, *rc::gen::inRange(1, 400) / 20.0});
    all += organizations.back().running;
  }
  const std::int64_t freed = *rc::gen::inRange<std::int64_t>(0, all / k_micro + 10) * k_micro;
  const std::vector<std::int64_t> ended = expected_ends(organizations, freed);

  const std::int64_t sum = std::accumulate(ended.begin(), ended.end(), std::int64_t{0});
  RC_ASSERT(std::abs(sum - std::min(freed, all)) <= k_micro / 1'000);
  double reached = 0;  // the time, by the one that is furthest
  for (std::size_t u = 0; u < ended.size(); ++u) {
    const auto [running, rate] = organizations[u];
    RC_ASSERT(ended[u] >= 0 && ended[u] <= running);
    if (running > 0) reached = std::max(reached, static_cast<double>(ended[u]) / static_cast<double>(running) / rate);
  }
  for (std::size_t u = 0; u < ended.size(); ++u) {
    const auto [running, rate] = organizations[u];
    const double due = static_cast<double>(running) * std::min(1.0, rate * reached);
    RC_ASSERT(std::abs(static_cast<double>(ended[u]) - due) <= static_cast<double>(k_micro));
  }
}

TEST(ExpectedEnds, WithEqualRatesAreInProportion) {
  const std::vector<Ending> organizations{{28 * k_micro}, {4 * k_micro}, {0}};
  EXPECT_EQ(expected_ends(organizations, 16 * k_micro), (std::vector<std::int64_t>{14 * k_micro, 2 * k_micro, 0}));
  EXPECT_EQ(expected_ends(organizations, 99 * k_micro), (std::vector<std::int64_t>{28 * k_micro, 4 * k_micro, 0}));
  EXPECT_EQ(expected_ends({}, 5).size(), 0U);
}

TEST(EndRates, BeginEqual) {
  EndRates rates;
  EXPECT_EQ(rates.of(7), 1);
  rates.note(std::vector<std::int64_t>{0, 0}, std::vector<std::int64_t>{0, 0});
  EXPECT_EQ(rates.of(0), 1);
  EXPECT_EQ(rates.of(1), 1);
}

// Each runs on half of 64 processors. The first one's tasks end, four in a scan; the other one's do not.
TEST(EndRates, OfShortTasksBesideLongRuns) {
  EndRates rates;
  const std::vector<std::int64_t> ran{32 * k_micro, 32 * k_micro};
  for (int scan = 0; scan < 200; ++scan) rates.note(ran, std::vector<std::int64_t>{4 * k_micro, 0});
  EXPECT_GT(rates.of(0), 1.9);
  EXPECT_LT(rates.of(1), .05);
  // Then both end alike: after some turnovers of all that runs both are expected alike.
  for (int scan = 0; scan < 200; ++scan) rates.note(ran, std::vector<std::int64_t>{4 * k_micro, 4 * k_micro});
  EXPECT_NEAR(rates.of(0), 1, .05);
  EXPECT_NEAR(rates.of(1), 1, .05);
}

// Scans in which nothing ends do not change rates, however many they are.
TEST(EndRates, AreKeptWhileNothingEnds) {
  EndRates rates;
  const std::vector<std::int64_t> ran{30 * k_micro, 10 * k_micro};
  rates.note(ran, std::vector<std::int64_t>{10 * k_micro, 0});
  const double before = rates.of(0);
  EXPECT_GT(before, 1);
  for (int scan = 0; scan < 1'000; ++scan) rates.note(ran, std::vector<std::int64_t>{0, 0});
  EXPECT_EQ(rates.of(0), before);
}

}  // namespace
}  // namespace shapley::client
