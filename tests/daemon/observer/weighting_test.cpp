#include "daemon/observer/weighting.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using accounting::NodeShare;

std::vector<NodeShare> shares(std::initializer_list<std::pair<const char*, std::int64_t>> parts) {
  std::vector<NodeShare> result;
  for (const auto& [node, micro] : parts) result.push_back({node, MicroProcessors{micro}});
  return result;
}

TEST(Weighting, CpusCountWhereSlurmAllocatedThem) {
  protocol::JobRecord job;
  job.nodes = {{"n2", 3}, {"n1", 2}};
  job.tres = {{"cpu", 5}, {"mem", 4000}};
  EXPECT_EQ(Weighting({{"cpu", 1}}).shares_of(job), shares({{"n1", 2'000'000}, {"n2", 3'000'000}}));
}

TEST(Weighting, OtherResourcesFollowTheCpusByLargestRemainderAndAddUp) {
  protocol::JobRecord job;
  job.nodes = {{"a", 1}, {"b", 1}, {"c", 1}};
  job.tres = {{"cpu", 3}, {"gres/gpu", 1}};
  // 32 processors in three equal parts: 10,666,666 2/3 each; the two missing millionths go to the first names.
  EXPECT_EQ(Weighting({{"cpu", 1}, {"gres/gpu", 32}}).shares_of(job),
            shares({{"a", 11'666'667}, {"b", 11'666'667}, {"c", 11'666'666}}));
}

TEST(Weighting, GenericResourcesCountOnTheNodesThatHaveThem) {
  protocol::JobRecord job;
  job.nodes = {{"a", 1}, {"g", 1, 0, {{"gres/gpu", 2}}}};
  job.tres = {{"cpu", 2}, {"gres/gpu", 2}};
  EXPECT_EQ(Weighting({{"cpu", 1}, {"gres/gpu", 8}}).shares_of(job), shares({{"a", 1'000'000}, {"g", 17'000'000}}));
  // Of a type there is only the job's own sum, spread by CPUs.
  job.tres = {{"cpu", 2}, {"gres/gpu", 2}, {"gres/gpu:big", 2}};
  EXPECT_EQ(Weighting({{"cpu", 1}, {"gres/gpu:big", 8}}).shares_of(job), shares({{"a", 9'000'000}, {"g", 9'000'000}}));
  // Slurm does not track it.
  job.tres = {{"cpu", 2}};
  EXPECT_EQ(Weighting({{"cpu", 1}, {"gres/gpu", 8}}).shares_of(job), shares({{"a", 1'000'000}, {"g", 1'000'000}}));
}

TEST(Weighting, ThePartsOfAnyJobAddUpToTheNaiveSum) {
  const Weighting weighting({{"cpu", 2}, {"gres/gpu", 7}, {"mem", 3}});
  for (std::uint32_t seed = 1; seed < 200; ++seed) {
    protocol::JobRecord job;
    std::uint64_t cpus = 0;
    for (std::uint32_t n = 0; n <= seed % 9; ++n) {
      const std::uint32_t here = 1 + (seed * 31 + n * 17) % 13;
      job.nodes.push_back({"n" + std::to_string(n), here});
      cpus += here;
    }
    const std::uint64_t gpus = seed % 5;
    const std::uint64_t mem = seed % 1013;
    job.tres = {{"cpu", cpus}, {"gres/gpu", gpus}, {"mem", mem}};
    std::int64_t sum = 0;
    for (const NodeShare& s : weighting.shares_of(job)) sum += s.processors.value;
    EXPECT_EQ(sum, static_cast<std::int64_t>((2 * cpus + 7 * gpus + 3 * mem) * 1'000'000)) << "seed " << seed;
  }
}

TEST(Weighting, ANodeTwiceInARecordIsOneShare) {
  protocol::JobRecord job;
  job.nodes = {{"n1", 2}, {"n1", 1}};
  EXPECT_EQ(Weighting({{"cpu", 1}}).shares_of(job), shares({{"n1", 3'000'000}}));
}

TEST(Weighting, NothingThatCountsIsNoShare) {
  protocol::JobRecord job;
  EXPECT_TRUE(Weighting({{"cpu", 1}}).shares_of(job).empty());
  job.nodes = {{"n1", 0}};
  EXPECT_TRUE(Weighting({{"cpu", 1}}).shares_of(job).empty());
  job.nodes = {{"n1", 4}};
  EXPECT_TRUE(Weighting({{"gres/gpu", 5}}).shares_of(job).empty());
}

TEST(Weighting, UnknownAndAbsurdCountsStayWithinTheBound) {
  protocol::NodeRecord node;
  node.cpus = 8;
  node.tres = {{"mem", std::numeric_limits<std::uint64_t>::max() - 1}};  // Slurm's NO_VAL64
  EXPECT_EQ(Weighting({{"cpu", 1}, {"mem", 1}}).capacity_of(node).value, 8 * k_micro);
  node.tres = {{"mem", 1ULL << 59U}};
  EXPECT_EQ(Weighting({{"cpu", 1}, {"mem", 1'000'000}}).capacity_of(node), k_max_weighted);
  protocol::JobRecord job;
  job.requested_cpus = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(Weighting({{"cpu", 1'000'000'000}}).task_of(job), k_max_weighted);
}

}  // namespace
}  // namespace shapley::daemon
