#include <atomic>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/comparison.hpp"
#include "sim/system.hpp"

namespace shapley::sim {
namespace {

TEST(Summarize, MeanMedianAndDeviation) {
  const Summary odd = summarize({1, 2, 9}, {0, 1, 2});
  EXPECT_DOUBLE_EQ(odd.mean, 4);
  EXPECT_DOUBLE_EQ(odd.median, 2);
  EXPECT_DOUBLE_EQ(odd.deviation, std::sqrt((9.0 + 4 + 25) / 2));
  EXPECT_DOUBLE_EQ(summarize({4, 1, 2, 9}, {0, 1, 2, 3}).median, 3);
}

TEST(Summarize, SingleClustersGiveTheTextbooksError) {
  // With one observation per cluster the formula is the usual s / sqrt(n).
  const std::vector<double> values{3, 8, 1, 7, 7};
  const Summary summary = summarize(values, {0, 1, 2, 3, 4});
  EXPECT_NEAR(*summary.standard_error, summary.deviation / std::sqrt(5.0), 1e-12);
}

TEST(Summarize, RepeatedObservationsOfOneClusterAddNoKnowledge) {
  const Summary once = summarize({3, 8, 1}, {0, 1, 2});
  const Summary thrice = summarize({3, 3, 3, 8, 8, 8, 1, 1, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2});
  EXPECT_NEAR(*thrice.standard_error, *once.standard_error, 1e-12);
}

TEST(Summarize, OneClusterHasNoError) {
  EXPECT_FALSE(summarize({3, 8}, {5, 5}).standard_error.has_value());
}

TEST(RunParallel, DoesEveryPieceOnce) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    std::vector<std::atomic<int>> done(100);
    ASSERT_TRUE(run_parallel(done.size(), threads, [&](std::size_t i) -> Expected<void> {
      ++done[i];
      return {};
    }));
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(RunParallel, ReturnsAnError) {
  const auto result = run_parallel(10, 3, [](std::size_t i) -> Expected<void> {
    if (i == 4) return fail(Errc::io, "piece 4");
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "piece 4");
}

TEST(ProgressLine, ShowsTheTimeLeft) {
  using std::chrono::milliseconds;
  EXPECT_EQ(progress_line("windows", 0, 10, milliseconds(0)), "windows [..............................] 0/10");
  EXPECT_EQ(progress_line("windows", 5, 10, milliseconds(30'000)),
            "windows [###############...............] 5/10  30 s left");
  EXPECT_EQ(progress_line("w", 1, 4, milliseconds(30'000)), "w [#######.......................] 1/4  1 min 30 s left");
  EXPECT_EQ(progress_line("w", 1, 3, milliseconds(3'600'000)),
            "w [##########....................] 1/3  2 h 0 min left");
  EXPECT_EQ(progress_line("w", 4, 4, milliseconds(9)), "w [##############################] 4/4");
}

}  // namespace
}  // namespace shapley::sim
