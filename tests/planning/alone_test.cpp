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
std::vector<std::int64_t> by_the_second(const std::vector<SubmittedJob>& jobs, std::int64_t processors) {
  std::vector<std::int64_t> starts(jobs.size(), -1);
  for (std::int64_t now = 0; now < 400; ++now) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (starts[i] >= 0 || jobs[i].submit > now) continue;
      std::int64_t used = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j)
        if (starts[j] >= 0 && now < starts[j] + jobs[j].length) used += jobs[j].processors;
      if (used + jobs[i].processors <= processors) starts[i] = now;
    }
  }
  return starts;
}

RC_GTEST_PROP(Alone, IsTheListOfTheWitness, (std::uint64_t seed)) {
  Rng rng(seed);
  const std::int64_t processors = between(rng, 1, 6);
  std::vector<SubmittedJob> jobs;
  std::int64_t submit = 0;
  for (std::int64_t i = between(rng, 0, 15); i > 0; --i)
    jobs.push_back({submit += between(rng, 0, 5), between(rng, 1, 9), between(rng, 1, processors)});
  RC_ASSERT(run_alone(jobs, processors) == by_the_second(jobs, processors));
}

}  // namespace
}  // namespace shapley::planning
