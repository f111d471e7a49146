// By which mean residual run time shapleyd has ranks count what runs, and when it states another one.
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"
#include "daemon/configuration/declarations.hpp"
#include "game/serving_order.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using accounting::ResidualMeasured;

constexpr std::int64_t k_minute = 60;
constexpr Instant k_measured_at{1'000'000};

std::vector<ledger::EndedRun> runs_of(std::int64_t count, std::int64_t length_s, bool ended = true) {
  ledger::EndedRun run;
  run.length = Duration{length_s};
  run.processors = ProcessorMillionths{k_micro};
  run.ended = ended;
  return std::vector<ledger::EndedRun>(static_cast<std::size_t>(count), run);
}

TEST(Residual, IsMeasuredOverTwentyEndedRunsAtLeast) {
  std::vector<ledger::EndedRun> runs = runs_of(k_fewest_measured_runs - 1, 7200);
  for (const ledger::EndedRun& open : runs_of(5, 100, false)) runs.push_back(open);
  EXPECT_EQ(measured_residual(runs), std::nullopt);
  runs.push_back(runs.front());
  EXPECT_EQ(measured_residual(runs), (MeasuredResidual{Duration{3600}, k_fewest_measured_runs}));
}

TEST(Residual, IsTenMinutesTo365Days) {
  EXPECT_EQ(measured_residual(runs_of(20, 0)), std::nullopt);
  EXPECT_EQ(measured_residual(runs_of(20, 1))->residual, Duration{600});  // half a second by itself
  EXPECT_EQ(measured_residual(runs_of(20, 1300))->residual, Duration{650});
  EXPECT_EQ(measured_residual(runs_of(20, 1000 * k_day))->residual, game::k_longest_horizon);
}

TEST(Residual, IsStatedAtFirstAndWhenItMovedByMoreThanAFifth) {
  EXPECT_EQ(residual_statement(k_measured_at, nullptr, {Duration{1000}, 20}),
            (ResidualMeasured{k_measured_at, 1000, 20}));
  const ResidualMeasured last{k_measured_at - Duration{5}, 1000, 20};
  for (const std::int64_t near : {800, 999, 1000, 1200})
    EXPECT_EQ(residual_statement(k_measured_at, &last, {Duration{near}, 99}), std::nullopt) << near;
  for (const std::int64_t far : {1, 799, 1201, 9000})
    EXPECT_EQ(residual_statement(k_measured_at, &last, {Duration{far}, 99}), (ResidualMeasured{k_measured_at, far, 99}))
        << far;
}

TEST(Residual, IsDatedAfterTheLastStatement) {
  const ResidualMeasured last{k_measured_at + Duration{7}, 1000, 20};
  EXPECT_EQ(residual_statement(k_measured_at, &last, {Duration{5000}, 20})->at, k_measured_at + Duration{8});
}

TEST(Residual, IsLookedForEachMinuteAndThenOnceADay) {
  ResidualWatch watch;
  EXPECT_TRUE(watch.is_due(k_measured_at, nullptr));
  watch.note_look(k_measured_at);
  EXPECT_FALSE(watch.is_due(k_measured_at + Duration{k_minute - 1}, nullptr));
  EXPECT_TRUE(watch.is_due(k_measured_at + Duration{k_minute}, nullptr));
  const ResidualMeasured last{k_measured_at + Duration{k_minute}, 1000, 20};
  watch.note_look(last.at);
  EXPECT_FALSE(watch.is_due(last.at + Duration{k_day - 1}, &last));
  EXPECT_TRUE(watch.is_due(last.at + Duration{k_day}, &last));
  watch.note_look(last.at + Duration{k_day});  // and it had not moved
  EXPECT_FALSE(watch.is_due(last.at + Duration{2 * k_day - 1}, &last));
  // A process that has just started goes by the ledger.
  EXPECT_FALSE(ResidualWatch{}.is_due(last.at + Duration{k_day - 1}, &last));
  EXPECT_TRUE(ResidualWatch{}.is_due(last.at + Duration{k_day}, &last));
}

ledger::EndedRun run(std::int64_t length_s, std::int64_t processors, bool ended = true) {
  ledger::EndedRun run;
  run.length = Duration{length_s};
  run.processors = ProcessorMillionths{processors * k_micro};
  run.ended = ended;
  return run;
}

// Looked at in every second of every processor: how long it will still be held.
std::int64_t naive_residual(const std::vector<ledger::EndedRun>& runs) {
  Int128 doubled = 0;
  Int128 seconds = 0;
  for (const ledger::EndedRun& r : runs) {
    for (std::int64_t s = 0; r.ended && s < r.length.value; ++s) {
      doubled += (2 * (r.length.value - s) - 1) * (r.processors.value / k_micro);  // seen in the middle of the second
      seconds += r.processors.value / k_micro;
    }
  }
  return static_cast<std::int64_t>(doubled / (2 * seconds));
}

TEST(Residual, TheMeanResidualRunTimeWeighsProcessorsAndLength) {
  const std::vector<ledger::EndedRun> runs{run(10, 1), run(100, 3), run(1, 50), run(7, 2), run(1000, 9, false)};
  ASSERT_TRUE(mean_residual_run_time(runs).has_value());
  EXPECT_EQ(mean_residual_run_time(runs)->value, naive_residual(runs));
  EXPECT_EQ(mean_residual_run_time(std::vector{run(7200, 4), run(7200, 1)})->value, 3600);
  EXPECT_FALSE(mean_residual_run_time({}).has_value());
  EXPECT_FALSE(mean_residual_run_time(std::vector{run(0, 5), run(9, 5, false)}).has_value());
}

}  // namespace
}  // namespace shapley::daemon
