#include "daemon/configuration/horizon_check.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

ledger::Run run(std::int64_t length_s, std::int64_t processors, bool ended = true) {
  ledger::Run run;
  run.length = Duration{length_s};
  run.processors = MicroProcessors{processors * k_micro};
  run.ended = ended;
  return run;
}

// Looked at in every second of every processor: how long it will still be held.
std::int64_t naive_residual(const std::vector<ledger::Run>& runs) {
  Int128 doubled = 0;
  Int128 seconds = 0;
  for (const ledger::Run& r : runs) {
    for (std::int64_t s = 0; r.ended && s < r.length.value; ++s) {
      doubled += (2 * (r.length.value - s) - 1) * (r.processors.value / k_micro);  // seen in the middle of the second
      seconds += r.processors.value / k_micro;
    }
  }
  return static_cast<std::int64_t>(doubled / (2 * seconds));
}

TEST(HorizonCheck, TheMeanResidualRunTimeWeighsProcessorsAndLength) {
  const std::vector<ledger::Run> runs{run(10, 1), run(100, 3), run(1, 50), run(7, 2), run(1000, 9, false)};
  ASSERT_TRUE(mean_residual_run_time(runs).has_value());
  EXPECT_EQ(mean_residual_run_time(runs)->value, naive_residual(runs));
  EXPECT_EQ(mean_residual_run_time(std::vector{run(7200, 4), run(7200, 1)})->value, 3600);
  EXPECT_FALSE(mean_residual_run_time({}).has_value());
  EXPECT_FALSE(mean_residual_run_time(std::vector{run(0, 5), run(9, 5, false)}).has_value());
}

TEST(HorizonCheck, WarnsBelowItAndSaysBoth) {
  const std::vector runs{run(7200, 4)};
  EXPECT_FALSE(horizon_warning(Duration{3600}, runs).has_value());
  const auto warning = horizon_warning(Duration{1800}, runs);
  ASSERT_TRUE(warning.has_value());
  EXPECT_NE(warning->find("horizon: 30m is shorter"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("1.00 hours over the last 1 run"), std::string::npos) << *warning;
  EXPECT_FALSE(horizon_warning(Duration{0}, {}).has_value());
}

}  // namespace
}  // namespace shapley::daemon
