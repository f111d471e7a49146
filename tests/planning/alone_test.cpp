#include "planning/alone/alone.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "instances.hpp"

namespace shapley::planning {
namespace {

TEST(Alone, ALaterJobMayPassOneThatDoesNotFit) {
  // Three processors: the second job waits for both, the third one passes it.
  EXPECT_EQ(run_alone({{0, 10, 2}, {1, 10, 3}, {2, 5, 1}, {100, 1, 1}}, 3), (std::vector<std::int64_t>{0, 10, 2, 100}));
  EXPECT_TRUE(run_alone({}, 3).empty());
}

// Second by second: at every instant the first submitted job that fits starts.
std::vector<std::optional<std::int64_t>> by_the_second(const std::vector<SubmittedJob>& jobs,
                                                       const std::vector<ClusterSize>& sizes) {
  std::vector<std::optional<std::int64_t>> starts(jobs.size());
  for (std::int64_t now = 0; now < 400; ++now) {
    std::int64_t processors = 0;
    for (const ClusterSize& size : sizes)
      if (size.from <= now) processors = size.processors;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (starts[i] || jobs[i].submit > now) continue;
      std::int64_t used = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j)
        if (starts[j] && now < *starts[j] + jobs[j].length) used += jobs[j].processors;
      if (used + jobs[i].processors <= processors) starts[i] = now;
    }
  }
  return starts;
}

TEST(Alone, AClusterThatGrowsAndShrinks) {
  const std::optional<std::int64_t> never;
  // Two processors from 5 on, one from 10 on, three from 30 on. What runs at 10 ends where it is.
  EXPECT_EQ(run_alone({{0, 10, 2}, {1, 4, 1}, {1, 4, 4}, {1, 4, 3}}, {{5, 2}, {10, 1}, {30, 3}}),
            (std::vector<std::optional<std::int64_t>>{5, 15, never, 30}));
  EXPECT_EQ(run_alone({{0, 10, 1}}, std::vector<ClusterSize>{}), (std::vector<std::optional<std::int64_t>>{never}));
}

RC_GTEST_PROP(Alone, IsTheListOfTheWitness, (std::uint64_t seed)) {
  Rng rng(seed);
  const std::int64_t processors = between(rng, 1, 6);
  std::vector<SubmittedJob> jobs;
  std::int64_t submit = 0;
  for (std::int64_t i = between(rng, 0, 15); i > 0; --i)
    jobs.push_back({submit += between(rng, 0, 5), between(rng, 1, 9), between(rng, 1, processors)});
  const auto starts = run_alone(jobs, processors);
  RC_ASSERT((std::vector<std::optional<std::int64_t>>(starts.begin(), starts.end())) ==
            by_the_second(jobs, {{0, processors}}));
}

RC_GTEST_PROP(Alone, OnAClusterOfManySizesIsTheListOfTheWitness, (std::uint64_t seed)) {
  Rng rng(seed);
  std::vector<ClusterSize> sizes;
  std::int64_t from = 0;
  for (std::int64_t i = between(rng, 0, 6); i > 0; --i)
    sizes.push_back({from += between(rng, 0, 30), between(rng, 0, 6)});
  std::vector<SubmittedJob> jobs;
  std::int64_t submit = 0;
  for (std::int64_t i = between(rng, 0, 15); i > 0; --i)
    jobs.push_back({submit += between(rng, 0, 5), between(rng, 1, 9), between(rng, 1, 7)});
  RC_ASSERT(run_alone(jobs, sizes) == by_the_second(jobs, sizes));
}

}  // namespace
}  // namespace shapley::planning
