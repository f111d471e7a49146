// Sums by weights, and what one task is charged and blocks, against figures by hand.
#include "request/charging.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::request {
namespace {

NodeKind kind(std::uint32_t cpus, std::int64_t memory = 0, std::int64_t gpus = 0, std::int64_t worth = 1) {
  NodeKind kind{.cpus = cpus, .allocation_unit = 1, .memory = memory, .gres = {}, .whole = {cpus * worth * k_micro}};
  if (gpus > 0) kind.gres = {{"gres/gpu", gpus}};
  return kind;
}

protocol::JobUpdate asking(std::uint32_t cpus, std::uint64_t memory = 0, std::uint64_t gpus = 0) {
  protocol::JobUpdate job;
  job.requested_cpus = cpus;
  job.requested_memory = memory;
  if (gpus > 0) job.requested_gres = {{"gres/gpu", gpus}};
  return job;
}

Measure task(const protocol::JobUpdate& job, const std::vector<NodeKind>& usable, const std::vector<NodeKind>& all = {},
             const ChargeRule& rule = {}) {
  const Charging charging(rule);
  return charging.task_of(charging.request_of(job), {.usable = usable, .fitting = {}, .all = all});
}

constexpr Measure same(std::int64_t processors) {
  return {processors * k_micro, processors * k_micro};
}

TEST(Task, CountsWhereItIsLeastOfTheKindsThatItMayUse) {
  const NodeKind small = kind(16, 64), large = kind(128, 64);
  EXPECT_EQ(task(asking(1, 32), {small, large}), same(8));
  EXPECT_EQ(task(asking(1, 32), {large}, {small, large}), same(64));
  EXPECT_EQ(task(asking(1, 32), {}, {small, large}), same(8)) << "what it may use is not known";
}

TEST(Task, WithoutANodeThatHasWhatItNeedsOthersCountAndThenItsCpus) {
  EXPECT_EQ(task(asking(1, 0, 2), {kind(16)}, {kind(16), kind(32, 0, 4)}), same(16));
  EXPECT_EQ(task(asking(3, 0, 2), {kind(16)}, {kind(16)}), same(3));
  EXPECT_EQ(task(asking(3), {}, {}), same(3));
  EXPECT_EQ(task(asking(0), {}, {}), (Measure{0, 1})) << "something is blocked";
}

TEST(Task, DuringAReservationItAsksForWhatItWillBlockAfterwards) {
  const std::vector<NodeKind> small{kind(16, 64)}, large{kind(128, 64)}, all{small[0], large[0]};
  const Charging charging;
  EXPECT_EQ(charging.task_of(charging.request_of(asking(1, 32)), {.usable = {}, .fitting = large, .all = all}),
            same(64));
  EXPECT_EQ(charging.task_of(charging.request_of(asking(1, 32)), {.usable = small, .fitting = all, .all = all}),
            same(8));
}

TEST(Task, HoldsWholeCores) {
  NodeKind threads = kind(64);
  threads.allocation_unit = 2;
  EXPECT_EQ(task(asking(1), {threads}), same(2));
  EXPECT_EQ(task(asking(4), {threads}), same(4));
  EXPECT_EQ(task(asking(5), {threads}), same(6));
  EXPECT_EQ(task(asking(1), {threads, kind(64)}), same(1)) << "a node without threads is less";
  protocol::JobUpdate wide = asking(3);
  wide.requested_nodes = 3;
  EXPECT_EQ(task(wide, {threads}), same(6)) << "a core of each node";
  EXPECT_EQ(task(asking(1), {threads}, {}, {Charge::cpu, {}, {}}), same(2));
  EXPECT_EQ(task(asking(1), {threads}, {}, {Charge::weights, {{"cpu", 5}}, {}}), (Measure{10 * k_micro, 2 * k_micro}));
}

TEST(Task, PriceAndWhatIsBlockedAreTwoThings) {
  const NodeKind dear = kind(16, 0, 4, 8);
  EXPECT_EQ(task(asking(1, 0, 1), {dear}), (Measure{32 * k_micro, 4 * k_micro}));
  EXPECT_EQ(task(asking(1, 0, 1), {dear}, {}, {Charge::cpu, {}, {}}), (Measure{8 * k_micro, 4 * k_micro}));
  protocol::JobUpdate billed = asking(1, 0, 1);
  billed.tres = {{"cpu", 1}, {"billing", 3}};
  EXPECT_EQ(task(billed, {dear}, {}, {Charge::billing, {}, {}}), (Measure{3 * k_micro, 4 * k_micro}));
  billed.exclusive = true;
  EXPECT_EQ(task(billed, {dear}, {}, {Charge::billing, {}, {}}), (Measure{3 * k_micro, 16 * k_micro}));
}

TEST(Task, PriceAndWhatIsBlockedAreEachWhereTheyAreLeast) {
  EXPECT_EQ(task(asking(1, 32), {kind(16, 64, 0, 16), kind(128, 64)}), (Measure{64 * k_micro, 8 * k_micro}));
}

TEST(Charging, WeightsOutOfRangeAreReduced) {
  constexpr std::int64_t k_huge = std::numeric_limits<std::int64_t>::max();
  const Charging charging({Charge::dominant, {}, {{"n1", k_huge}, {"n2", -5}}});
  protocol::NodeRecord node;
  node.cpus = std::numeric_limits<std::uint32_t>::max();
  node.name = "n1";
  EXPECT_EQ(charging.kind_of(node).whole, k_max_weighted);
  node.name = "n2";
  EXPECT_EQ(charging.kind_of(node).whole, ProcessorMillionths{});
  const Weighting weighting({{"cpu", k_huge}, {"mem", k_huge}});
  node.tres = {{"mem", (1ULL << 60U) - 1}};
  EXPECT_EQ(weighting.capacity_of(node), k_max_weighted);
}

// A sum that is spread by CPUs over nodes of unequal worth; where they are not worth it together, nothing is moved.
TEST(Charging, ByASumNoNodeIsChargedMoreThanItIsWorth) {
  const Charging charging({.charge = Charge::billing, .weights = {}, .node_weights = {}});
  const auto charged = [&](std::uint64_t billing, std::int64_t worth_of_third) {
    protocol::JobUpdate job;
    job.nodes = {{"a", 8, 0, {}}, {"b", 8, 0, {}}, {"c", 8, 0, {}}};
    job.tres = {{"cpu", 24}, {"billing", billing}};
    std::vector<std::int64_t> charges;
    for (const Share& share : charging.shares_of(job, [&](std::string_view name) -> std::optional<NodeKind> {
           return name == "c" ? kind(1, 0, 0, worth_of_third) : kind(8, 0, 0, name == "a" ? 66 : 1);
         }))
      charges.push_back(share.charge.value);
    return charges;
  };
  using Charges = std::vector<std::int64_t>;
  EXPECT_EQ(charged(24, 8), (Charges{8'000'000, 8'000'000, 8'000'000}));
  EXPECT_EQ(charged(300, 8), (Charges{284'000'000, 8'000'000, 8'000'000}));
  EXPECT_EQ(charged(300, 200), (Charges{174'575'758, 8'000'000, 117'424'242}));
  EXPECT_EQ(charged(900, 8), (Charges{300'000'000, 300'000'000, 300'000'000}));
}

TEST(Free, IsWhatTheLargestUsedPartLeaves) {
  const NodeKind node = kind(16, 64, 4);
  const auto held = [](std::uint32_t cpus, std::int64_t memory, std::int64_t gpus) {
    Share share{.node = {}, .charge = {}, .cpus = cpus, .memory = memory, .gres = {}};
    if (gpus > 0) share.gres = {{"gres/gpu", gpus}};
    return share;
  };
  EXPECT_EQ(free_beside(held(0, 0, 0), false, node), 16 * k_micro);
  EXPECT_EQ(free_beside(held(4, 48, 2), false, node), 4 * k_micro);
  EXPECT_EQ(free_beside(held(20, 0, 0), false, node), 0) << "CPUs that are shared";
  EXPECT_EQ(free_beside(held(1, 0, 0), true, node), 0);
  EXPECT_EQ(free_beside(held(0, 0, 0), false, NodeKind()), 0);
}

TEST(Free, InPiecesThatAreTooSmallIsNoRoom) {
  const NodeKind node = kind(16, 64, 4);
  const std::int64_t half = 8 * k_micro;
  const auto gpus = [](std::int64_t count) { return std::vector<Resource>{{"gres/gpu", count}}; };
  EXPECT_EQ(room_for({}, false, half, node), half) << "the pieces may be as small as one likes";
  EXPECT_EQ(room_for({.cpus = 3}, false, half, node), 6 * k_micro);
  EXPECT_EQ(room_for({.cpus = 9}, false, half, node), 0);
  EXPECT_EQ(room_for({.cpus = 1, .memory = 32}, false, half, node), half) << "half of the memory is half of the node";
  EXPECT_EQ(room_for({.cpus = 1, .memory = 33}, false, half, node), 0);
  EXPECT_EQ(room_for({.cpus = 1, .gres = gpus(2)}, false, half, node), half);
  EXPECT_EQ(room_for({.cpus = 1, .gres = gpus(3)}, false, half, node), 0);
  // More than the node has.
  EXPECT_EQ(room_for({.cpus = 17}, false, 16 * k_micro, node), 0);
  EXPECT_EQ(room_for({.cpus = 1, .memory = 65}, false, 16 * k_micro, node), 0);
  // A whole node.
  EXPECT_EQ(room_for({.cpus = 1}, true, 16 * k_micro, node), 16 * k_micro);
  EXPECT_EQ(room_for({.cpus = 1}, true, 16 * k_micro - 1, node), 0);
  EXPECT_EQ(room_for({}, true, 0, NodeKind()), 0);
  NodeKind cores = node;
  cores.allocation_unit = 2;
  EXPECT_EQ(room_for({.cpus = 3}, false, half, cores), half) << "of two threads a core, 4 are held";
}

std::vector<Share> shares(std::initializer_list<std::pair<const char*, std::int64_t>> parts) {
  std::vector<Share> result;
  for (const auto& [node, micro] : parts) result.push_back({.node = node, .charge = ProcessorMillionths{micro}});
  return result;
}

TEST(Weighting, CpusCountWhereSlurmAllocatedThem) {
  protocol::JobUpdate job;
  job.nodes = {{"n2", 3}, {"n1", 2}};
  job.tres = {{"cpu", 5}, {"mem", 4000}};
  EXPECT_EQ(Weighting({{"cpu", 1}}).shares_of(job), shares({{"n1", 2'000'000}, {"n2", 3'000'000}}));
}

TEST(Weighting, OtherResourcesFollowTheCpusByLargestRemainderAndAddUp) {
  protocol::JobUpdate job;
  job.nodes = {{"a", 1}, {"b", 1}, {"c", 1}};
  job.tres = {{"cpu", 3}, {"gres/gpu", 1}};
  // 32 processors in three equal parts: 10,666,666 2/3 each; the two missing millionths go to the first names.
  EXPECT_EQ(Weighting({{"cpu", 1}, {"gres/gpu", 32}}).shares_of(job),
            shares({{"a", 11'666'667}, {"b", 11'666'667}, {"c", 11'666'666}}));
}

TEST(Weighting, GenericResourcesCountOnTheNodesThatHaveThem) {
  protocol::JobUpdate job;
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
    protocol::JobUpdate job;
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
    for (const Share& s : weighting.shares_of(job)) sum += s.charge.value;
    EXPECT_EQ(sum, static_cast<std::int64_t>((2 * cpus + 7 * gpus + 3 * mem) * 1'000'000)) << "seed " << seed;
  }
}

TEST(Weighting, ANodeTwiceInARecordIsOneShare) {
  protocol::JobUpdate job;
  job.nodes = {{"n1", 2}, {"n1", 1}};
  EXPECT_EQ(Weighting({{"cpu", 1}}).shares_of(job), shares({{"n1", 3'000'000}}));
}

TEST(Weighting, NothingThatCountsIsNoShare) {
  protocol::JobUpdate job;
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
  protocol::JobUpdate job;
  job.requested_cpus = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(Weighting({{"cpu", 1'000'000'000}}).cpus(job.requested_cpus), k_max_weighted);
}

}  // namespace
}  // namespace shapley::request
