#include "sim/comparison.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/input/workload_source.hpp"
#include "sim/registry.hpp"
#include "sim/results.hpp"

namespace shapley::sim {
namespace {

// The embedded excerpt on few processors, so that jobs wait for each other.
struct Laboratory {
  workload::Trace trace = load_workload({.trace = std::string(k_embedded_excerpt), .generator = {}}).value();
  ComparisonSettings settings;
  Laboratory() {
    settings.organizations = 4;
    settings.processors = 12;
    settings.length = {8000};
    settings.windows = 8;
    settings.policies = {"round_robin", "direct_contr", "shapley_rate"};
  }
  std::vector<WindowResult> run(std::size_t first, std::size_t last, unsigned threads) const {
    Progress progress("test", last - first);
    return run_windows(trace, settings, first, last, threads, progress).value();
  }
  std::string text(const std::vector<WindowResult>& results) const {
    std::string text;
    for (const WindowResult& result : results) text += to_json(settings, result).dump() + '\n';
    return text;
  }
};

TEST(EmbeddedExcerpt, NamesItsOriginAndHoldsAFewHundredJobs) {
  EXPECT_NE(embedded_excerpt().find("Parallel Workloads Archive"), std::string::npos);
  const Laboratory laboratory;
  EXPECT_GT(laboratory.trace.jobs.size(), 200U);
  EXPECT_FALSE(laboratory.trace.acknowledge.empty());
}

TEST(Comparison, SameBytesWhateverTheThreadsAndBlocks) {
  const Laboratory laboratory;
  const std::string whole = laboratory.text(laboratory.run(0, 8, 1));
  EXPECT_EQ(laboratory.text(laboratory.run(0, 8, 4)), whole);
  EXPECT_EQ(laboratory.text(laboratory.run(0, 3, 2)) + laboratory.text(laboratory.run(3, 8, 2)), whole);
}

TEST(Comparison, MeasuresTheDistanceToTheReferencesSchedule) {
  const Laboratory laboratory;
  bool differed = false;
  for (const WindowResult& result : laboratory.run(0, 4, 2)) {
    const auto drawn = draw_window(laboratory.trace, laboratory.settings, result.number).value();
    PolicyOptions options;
    options.seed = drawn.policy_seed;
    options.samples = laboratory.settings.samples;
    const auto simulate_one = [&](const char* name) {
      return scheduling::simulate(drawn.window.instance, *make_policy(name, drawn.window.instance, options).value());
    };
    const auto fair = simulate_one("ref");
    EXPECT_EQ(result.work, fair.work);
    const auto other = simulate_one("round_robin");
    std::int64_t delta = 0;
    for (std::size_t u = 0; u < 4; ++u) delta += std::abs(other.psi[u] - fair.psi[u]);
    EXPECT_EQ(result.delta_psi[0], delta);
    EXPECT_EQ(result.policy_work[0], other.work);
    differed = differed || delta > 0;
  }
  EXPECT_TRUE(differed) << "a workload on which all policies agree tests nothing";
}

TEST(Comparison, TheReferenceIsFairToItself) {
  Laboratory laboratory;
  laboratory.settings.policies = {"ref"};
  for (const WindowResult& result : laboratory.run(0, 3, 2)) EXPECT_EQ(result.delta_psi[0], 0);
}

TEST(Comparison, EndowmentsAlternate) {
  const Laboratory laboratory;
  const auto results = laboratory.run(0, 2, 2);
  EXPECT_EQ(results[0].endowment, "zipf");
  EXPECT_EQ(results[1].endowment, "uniform");
}

TEST(Comparison, AWindowSurvivesItsJson) {
  const Laboratory laboratory;
  const auto results = laboratory.run(0, 2, 2);
  for (const WindowResult& result : results) {
    const auto json = to_json(laboratory.settings, result);
    const auto again = window_from_json(laboratory.settings, json);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(to_json(laboratory.settings, *again).dump(), json.dump());
    auto damaged = json;
    damaged["delta_psi"].erase("round_robin");
    EXPECT_FALSE(window_from_json(laboratory.settings, damaged));
    EXPECT_FALSE(window_from_json(laboratory.settings, nlohmann::ordered_json::array()));
  }
}

TEST(Comparison, SaysWhenNoWindowHoldsAJob) {
  workload::Trace trace;
  trace.users = {"a"};
  trace.groups = {"g"};
  trace.jobs = {{.submit = {0}, .run = {1}, .processors = 1, .user = 0, .group = 0},
                {.submit = {1'000'000'000}, .run = {1}, .processors = 1, .user = 0, .group = 0}};
  ComparisonSettings settings;
  settings.processors = 10;
  settings.length = {1};
  const auto drawn = draw_window(trace, settings, 0);
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Errc::not_found);
}

TEST(ComparisonReport, PairsPoliciesWindowByWindow) {
  ComparisonSettings settings;
  settings.policies = {"a", "b"};
  settings.length.value = 10;
  std::vector<WindowResult> results(2);
  results[0] = {.number = 0,
                .begin = {0},
                .endowment = "zipf",
                .jobs = 1,
                .work = 10,
                .delta_psi = {20, 40},
                .policy_work = {10, 10}};
  results[1] = {.number = 1,
                .begin = {25},
                .endowment = "zipf",
                .jobs = 1,
                .work = 4,
                .delta_psi = {16, 16},
                .policy_work = {4, 4}};
  const auto summaries = summarize_policies(settings, results, "a");
  EXPECT_DOUBLE_EQ(summaries[0].unfairness.mean, 3);  // (2 + 4) / 2
  EXPECT_DOUBLE_EQ(summaries[1].unfairness.mean, 4);  // (4 + 4) / 2
  EXPECT_DOUBLE_EQ(summaries[1].difference.mean, 1);  // (2 + 0) / 2
  EXPECT_DOUBLE_EQ(summaries[1].ratio, 4.0 / 3);
  EXPECT_DOUBLE_EQ(summaries[0].difference.mean, 0);
}

// Leaving out one cluster after the other is another way to the same error.
TEST(Comparison, ErrorOfTheRatioAgreesWithTheJackknife) {
  ComparisonSettings settings;
  settings.length.value = 10;
  settings.policies = {"shapley_rate", "direct_contr"};
  Rng rng(7);
  std::vector<WindowResult> results;
  constexpr std::int64_t k_clusters = 200;
  for (std::int64_t i = 0; i < 2 * k_clusters; ++i) {
    WindowResult result;
    result.begin.value = 5 * i;  // two windows in each cluster
    result.work = 10;
    const auto base = static_cast<std::int64_t>(100 + rng.below(900));
    result.delta_psi = {base / 3 + static_cast<std::int64_t>(rng.below(200)), base};
    results.push_back(result);
  }
  const auto ratio_without = [&](std::int64_t cluster) {
    double values = 0;
    double base = 0;
    for (const WindowResult& result : results) {
      if (result.begin.value / 10 == cluster) continue;
      values += static_cast<double>(result.delta_psi[0]);
      base += static_cast<double>(result.delta_psi[1]);
    }
    return values / base;
  };
  double mean = 0;
  for (std::int64_t g = 0; g < k_clusters; ++g) mean += ratio_without(g) / k_clusters;
  double squares = 0;
  for (std::int64_t g = 0; g < k_clusters; ++g) squares += std::pow(ratio_without(g) - mean, 2);
  const double jackknife = std::sqrt(squares * (k_clusters - 1) / k_clusters);

  const auto summaries = summarize_policies(settings, results, "direct_contr");
  EXPECT_NEAR(summaries[0].ratio, ratio_without(-1), 1e-12);
  EXPECT_NEAR(*summaries[0].ratio_error / jackknife, 1, 0.05);
  EXPECT_NEAR(*summaries[1].ratio_error, 0, 1e-12);
}

TEST(Comparison, NoRatioToABaselineThatIsFair) {
  ComparisonSettings settings;
  settings.policies = {"fcfs", "direct_contr"};
  WindowResult result;
  result.work = 1;
  result.delta_psi = {5, 0};
  EXPECT_FALSE(summarize_policies(settings, {result, result}, "direct_contr")[0].ratio_error);
}

}  // namespace
}  // namespace shapley::sim
