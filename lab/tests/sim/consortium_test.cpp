// `experiment consortium`: that what is lent on one cluster is repaid on the other by the sum and not by own books, the
// cases, and the measures.
#include "sim/experiments/consortium.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "game/braking.hpp"

namespace shapley::sim {
namespace {

constexpr std::int64_t k_week_s = 7 * 24 * 3600;

ConsortiumCase made_case(const std::string& name, std::int64_t weeks) {
  const auto cases = consortium_cases({weeks * k_week_s}, 3);
  return *std::find_if(cases.begin(), cases.end(), [&](const ConsortiumCase& made) { return made.name == name; });
}

ConsortiumMeasures run(const ConsortiumCase& one, const std::string& estimator, bool by_sum) {
  return run_consortium(one, estimator, {.by_sum = by_sum, .serving = game::k_horizon_rule}, 3).value();
}

TEST(ConsortiumExperiment, ARowNamesItsRule) {
  ConsortiumTable table{"case", "about", "direct_contr", 1, 3600, {}};
  ConsortiumMeasures measures;
  measures.mean_wait_s = {{0}};
  measures.standing = {{0}};
  const game::ServingRule half{.horizon = {}, .guarantee = {500'000}, .pace = game::pace_under({500'000})};
  table.rows = {{{.by_sum = false, .serving = game::k_horizon_rule}, measures, {}},
                {{.serving = half, .every = {3600}}, measures, {}}};
  std::ostringstream out;
  print_consortium(table, out);
  EXPECT_NE(out.str().find("\nown 30d "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\nsum braking, every 1h "), std::string::npos) << out.str();
}

TEST(ConsortiumExperiment, TheSumRepaysOnTheOtherClusterWhatOwnBooksNeverDo) {
  const ConsortiumCase repay = made_case("repay", 40);
  for (const char* estimator : {"direct_contr", "shapley_rate"}) {
    const ConsortiumMeasures own = run(repay, estimator, false);
    const ConsortiumMeasures sum = run(repay, estimator, true);
    EXPECT_GT(own.standing[0].back(), 3000) << estimator;
    EXPECT_EQ(own.weeks_to_settle(96), std::nullopt) << estimator;
    EXPECT_LT(std::abs(sum.standing[0].back()), 10) << estimator;
    EXPECT_LT(sum.weeks_to_settle(96).value_or(40), 35) << estimator;
    // A waits less on 2 for it, B and C longer.
    EXPECT_LT(sum.mean_wait_s[1][0], 0.9 * own.mean_wait_s[1][0]) << estimator;
    EXPECT_GT(sum.mean_wait_s[1][1], 1.5 * own.mean_wait_s[1][1]) << estimator;
    EXPECT_GT(sum.mean_wait_s[1][2], 1.5 * own.mean_wait_s[1][2]) << estimator;
  }
}

// A lost link: figures that go on being extrapolated make both clusters correct one debt twice.
TEST(ConsortiumExperiment, RareExchangesSwingUnlessFiguresStay) {
  const ConsortiumCase symmetric = made_case("symmetric", 30);
  const auto deviation = [&](Duration every, Extrapolation extrapolation) {
    const ConsortiumSetting setting{.serving = game::k_horizon_rule, .every = every, .extrapolation = extrapolation};
    return run_consortium(symmetric, "direct_contr", setting, 3)->deviation;
  };
  EXPECT_LT(deviation({60}, Extrapolation::always), 0.005);
  EXPECT_GT(deviation({k_week_s}, Extrapolation::always), 0.1);
  EXPECT_LT(deviation({k_week_s}, Extrapolation::residual), 0.04);
}

TEST(ConsortiumExperiment, SendsWhatItsCasesSay) {
  const auto load = [](const ConsortiumCase& one, std::size_t cluster, std::uint32_t organization) {
    const scheduling::Instance& instance = one.clusters[cluster];
    double work = 0;
    for (const scheduling::Job& job : instance.jobs)
      if (job.organization == organization) work += static_cast<double>(job.duration.value);
    return work / 16 / static_cast<double>(instance.end.value);
  };
  const auto expect_loads = [&](const char* name, const std::vector<std::vector<double>>& loads) {
    const ConsortiumCase one = made_case(name, 40);
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_TRUE(scheduling::validate(one.clusters[c])) << name;
      for (std::uint32_t u = 0; u < 3; ++u)
        EXPECT_NEAR(load(one, c, u), loads[c][u], 0.002) << name << ": " << u << " on " << c;
    }
  };
  expect_loads("cross", {{2.1, 1.05, 0}, {0, 1.05, 2.1}});
  expect_loads("symmetric", {{1.05, 1.05, 1.05}, {1.05, 1.05, 1.05}});
  constexpr double k_lent = 30.0 / 280;
  const double lender = 1 - k_lent;
  const double borrower = 1.05 * (1 + k_lent / 2);
  expect_loads("repay", {{lender, borrower, borrower}, {1.05 + 1.05 * lender, 1.05, 1.05}});
  EXPECT_NEAR(static_cast<double>(mean_residual(made_case("symmetric", 40)).value) / 3600, 5, 0.2);
  EXPECT_EQ(mean_residual({"", "", {{{1}, {{{0}, {10}, 0}}, {10}}}}).value, 3600);
}

TEST(ConsortiumExperiment, MeasuresAndTheirMean) {
  ConsortiumMeasures first{{{3600, 0}}, {{9, 4, 1}, {-9, -6, -1}}, {{0.5}, {0.5}}, 0.1, 0.2};
  EXPECT_EQ(first.weeks_to_settle(5), 2);
  EXPECT_EQ(first.weeks_to_settle(9), 0);
  EXPECT_EQ(first.weeks_to_settle(0.5), std::nullopt);
  ConsortiumMeasures second = first;
  second.mean_wait_s[0][1] = 7200;
  second.standing[0][2] = 4;
  second.deviation = 0.3;
  const std::vector<ConsortiumMeasures> runs{first, second};
  const ConsortiumMeasures mean = mean_of(runs);
  EXPECT_EQ(mean.mean_wait_s, (std::vector<std::vector<double>>{{3600, 3600}}));
  EXPECT_EQ(mean.standing[0].back(), 2.5);
  EXPECT_DOUBLE_EQ(mean.deviation, 0.2);
  EXPECT_DOUBLE_EQ(mean.deviation_of_cluster, 0.2);
}

}  // namespace
}  // namespace shapley::sim
