// What runs are charged and what nodes are worth, against charges by hand and a plain second computation.
#include "daemon/observer/charging.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using accounting::CapacityChanged;
using accounting::NodeShare;
using config::Charge;

constexpr std::int64_t k_gib = 1024;

protocol::NodeRecord node(std::string name, std::uint32_t cpus, std::uint64_t gib, std::uint64_t gpus = 0) {
  protocol::NodeRecord record;
  record.name = std::move(name);
  record.cpus = cpus;
  record.memory = gib * k_gib;
  if (gpus > 0) record.gres = {{"gres/gpu", gpus}};
  return record;
}

// n1: 16 CPUs, 64 GiB. g1: 16 CPUs, 64 GiB, 4 GPUs.
const std::vector<protocol::NodeRecord> k_nodes{node("n1", 16, 64), node("g1", 16, 64, 4)};

ChargeRule rule_of(Charge charge, std::map<std::string, std::int64_t, std::less<>> node_weights = {}) {
  return {charge, {{"cpu", 1}}, std::move(node_weights)};
}

class Site {
 public:
  explicit Site(ChargeRule rule = {}) : charging_(std::move(rule)) {
    for (const protocol::NodeRecord& record : k_nodes) known_.push_back(charging_.capacity_of(record));
  }

  [[nodiscard]] const CapacityChanged* find(std::string_view name) const {
    for (const CapacityChanged& capacity : known_) {
      if (capacity.node == name) return &capacity;
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<NodeShare> shares(const protocol::JobUpdate& job) const {
    return charging_.shares_of(job, [this](std::string_view name) { return find(name); });
  }
  [[nodiscard]] std::int64_t charged(const protocol::NodeHolding& holding, bool exclusive = false) const {
    protocol::JobUpdate job;
    job.nodes = {holding};
    job.exclusive = exclusive;
    const auto all = shares(job);
    return all.empty() ? 0 : all.front().processors.value;
  }
  [[nodiscard]] std::int64_t asked(const protocol::JobUpdate& job) const {
    return charging_.waiting_of(job, node_kinds(known_)).value;
  }

 private:
  Charging charging_;
  std::vector<CapacityChanged> known_;
};

TEST(Charging, TheLargestPartOfTheNodeIsWhatCounts) {
  const Site site;
  EXPECT_EQ(site.charged({"n1", 4, 8 * k_gib, {}}), 4 * k_micro);                   // CPUs
  EXPECT_EQ(site.charged({"n1", 1, 64 * k_gib, {}}), 16 * k_micro);                 // all the memory
  EXPECT_EQ(site.charged({"n1", 1, 16 * k_gib, {}}), 4 * k_micro);                  // a quarter of it
  EXPECT_EQ(site.charged({"g1", 1, 0, {{"gres/gpu", 3}}}), 12 * k_micro);           // three of four GPUs
  EXPECT_EQ(site.charged({"g1", 2, 48 * k_gib, {{"gres/gpu", 1}}}), 12 * k_micro);  // three quarters of the memory
  EXPECT_EQ(site.charged({"n1", 1, 0, {{"gres/gpu", 3}}}), k_micro);                // a GPU that the node does not list
  EXPECT_EQ(site.charged({"n1", 1, 1000 * k_gib, {}}), 16 * k_micro);               // never more than the node
}

TEST(Charging, WhoHasTheNodeToItselfIsChargedTheNode) {
  EXPECT_EQ(Site().charged({"n1", 8, 0, {}}, true), 16 * k_micro);
  EXPECT_EQ(Site(rule_of(Charge::cpu)).charged({"n1", 8, 0, {}}, true), 8 * k_micro);
}

TEST(Charging, ByCpusNothingElseCounts) {
  const Site site(rule_of(Charge::cpu));
  EXPECT_EQ(site.charged({"n1", 1, 64 * k_gib, {}}), k_micro);
  EXPECT_EQ(site.charged({"g1", 2, 0, {{"gres/gpu", 4}}}), 2 * k_micro);
}

TEST(Charging, ANodeIsWorthItsCpusTimesItsWeight) {
  const Site site(rule_of(Charge::dominant, {{"g1", 4}}));
  EXPECT_EQ(site.find("g1")->whole, ProcessorMillionths{64 * k_micro});
  EXPECT_EQ(site.find("n1")->whole, ProcessorMillionths{16 * k_micro});
  EXPECT_EQ(site.charged({"g1", 1, 0, {{"gres/gpu", 1}}}), 16 * k_micro);
  EXPECT_EQ(site.charged({"g1", 1, 0, {}}), 4 * k_micro);
}

// The charge says what is blocked where it is `dominant` and a CPU is worth one processor, and nowhere else.
TEST(Charging, CpusOfNodesAreCountedWhereRunsAreNotChargedWhatTheyBlock) {
  const auto counted = [](const ChargeRule& rule, std::string_view name) { return Site(rule).find(name)->usable_cpus; };
  EXPECT_EQ(counted(rule_of(Charge::dominant), "g1"), std::nullopt);
  EXPECT_EQ(counted(rule_of(Charge::dominant, {{"g1", 4}}), "g1"), 16U);
  EXPECT_EQ(counted(rule_of(Charge::dominant, {{"g1", 4}}), "n1"), std::nullopt);
  for (const Charge charge : {Charge::cpu, Charge::weights, Charge::billing}) {
    EXPECT_EQ(counted(rule_of(charge), "n1"), 16U);
    protocol::NodeRecord drained = k_nodes[1];
    drained.usable = false;
    EXPECT_EQ(Charging(rule_of(charge)).capacity_of(drained).usable_cpus, 0U);
  }
  EXPECT_EQ(Charging(rule_of(Charge::cpu)).capacity_of(node("none", 0, 1)).usable_cpus, std::nullopt);
}

TEST(Charging, ByWeightsNodesAndRunsAreSums) {
  const Site site(ChargeRule{Charge::weights, {{"cpu", 2}}, {}});
  EXPECT_EQ(site.find("n1")->processors, ProcessorMillionths{32 * k_micro});
  EXPECT_EQ(site.find("n1")->whole, ProcessorMillionths{32 * k_micro});
  EXPECT_EQ(site.charged({"n1", 3, 64 * k_gib, {}}), 6 * k_micro);
}

// Slurm's figures are taken as they are, whatever a job holds.
TEST(Charging, ByBillingNodesAndRunsAreWhatSlurmBills) {
  const Charging charging({Charge::billing, {}, {}});
  protocol::NodeRecord record = node("g1", 16, 64, 4);
  record.tres = {{"cpu", 16}, {"mem", 64 * k_gib}, {"billing", 80}, {"gres/gpu", 4}};
  const CapacityChanged capacity = charging.capacity_of(record);
  EXPECT_EQ(capacity.whole, ProcessorMillionths{80 * k_micro});
  EXPECT_EQ(capacity.processors, capacity.whole);

  protocol::JobUpdate job;
  job.requested_cpus = 4;
  job.pending_tasks = 3;
  job.exclusive = true;
  job.tres = {{"cpu", 4}, {"billing", 20}};
  EXPECT_EQ(charging.waiting_of(job, std::vector{capacity}), ProcessorMillionths{60 * k_micro});

  // By CPUs over the nodes, and to the millionth the job's whole billing.
  job.nodes = {{"g1", 1, 0, {{"gres/gpu", 1}}}, {"n1", 2, 0, {}}};
  const auto shares = charging.shares_of(job, [](std::string_view) { return nullptr; });
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].processors, ProcessorMillionths{6'666'667});
  EXPECT_EQ(shares[1].processors, ProcessorMillionths{13'333'333});
}

TEST(Charging, ARunThatSlurmBillsNothingIsInTheBooks) {
  const Charging charging({Charge::billing, {}, {}});
  protocol::JobUpdate job;
  job.tres = {{"cpu", 3}, {"billing", 0}};
  job.requested_cpus = 3;
  EXPECT_EQ(charging.task_of(job, {}), ProcessorMillionths{1}) << "and so is its wait";
  job.nodes = {{"g1", 1, 0, {}}, {"n1", 2, 0, {}}};
  const auto shares = charging.shares_of(job, [](std::string_view) { return nullptr; });
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].processors, ProcessorMillionths{1});
  EXPECT_EQ(shares[1].processors, ProcessorMillionths{1});
}

TEST(Charging, ANodeThatTheBooksDoNotKnowIsChargedItsCpus) {
  EXPECT_EQ(Site().charged({"new", 3, 64 * k_gib, {}}, true), 3 * k_micro);
}

TEST(Charging, WhatSlurmAllocatedStandsBesideTheCharge) {
  protocol::JobUpdate job;
  job.nodes = {{"n1", 1, 32 * k_gib, {}}, {"g1", 2, 0, {{"gres/gpu", 1}, {"gres/gpu", 1}}}};
  const NodeShare on_g1{"g1", {8 * k_micro}, 2, 0, {{"gres/gpu", 2}}};
  const NodeShare on_n1{"n1", {8 * k_micro}, 1, 32 * k_gib, {}};
  EXPECT_EQ(Site().shares(job), (std::vector<NodeShare>{on_g1, on_n1}));
}

TEST(Charging, ANodeOffersWhatItIsWorthIfItIsUsable) {
  protocol::NodeRecord drained = k_nodes[1];
  drained.usable = false;
  const CapacityChanged capacity = Charging().capacity_of(drained);
  EXPECT_EQ(capacity.processors, ProcessorMillionths{});
  EXPECT_EQ(capacity.whole, ProcessorMillionths{16 * k_micro});
  EXPECT_EQ(capacity.cpus, 16U);
  EXPECT_EQ(capacity.memory, 64 * k_gib);
  EXPECT_EQ(capacity.gres, (std::vector<accounting::Resource>{{"gres/gpu", 4}}));
}

TEST(Charging, AWaitingJobAsksForTheLeastThatItWouldBeCharged) {
  const Site site(rule_of(Charge::dominant, {{"g1", 4}}));
  protocol::JobUpdate job;
  job.requested_cpus = 4;
  job.pending_tasks = 3;
  EXPECT_EQ(site.asked(job), 3 * 4 * k_micro);
  job.requested_memory = 32 * k_gib;
  EXPECT_EQ(site.asked(job), 3 * 8 * k_micro);
  job.requested_gres = {{"gres/gpu", 1}};  // only g1 has what it needs: half of 64
  EXPECT_EQ(site.asked(job), 3 * 32 * k_micro);
  job.requested_gres = {{"gres/fpga", 1}};  // no node has it
  EXPECT_EQ(site.asked(job), 3 * 4 * k_micro);
}

TEST(Charging, AWaitingJobThatWantsNodesToItselfAsksForWholeOnes) {
  protocol::JobUpdate job;
  job.requested_cpus = 17;
  job.exclusive = true;
  EXPECT_EQ(Site().asked(job), 32 * k_micro);
  job.requested_nodes = 3;
  EXPECT_EQ(Site().asked(job), 48 * k_micro);
}

TEST(Charging, NodesOfOneKindAreOneKind) {
  const Charging charging;
  const auto kind = [&](const protocol::NodeRecord& record) { return charging.capacity_of(record); };
  EXPECT_EQ(
      node_kinds({kind(node("a", 4, 8)), kind(node("b", 4, 8)), kind(node("c", 4, 16)), kind(node("d", 0, 0))}).size(),
      2U);
}

// Every whole part of a node, against a search for the largest part.
TEST(Charging, AgreesWithAPlainSearch) {
  const Site site;
  for (std::uint32_t cpus = 1; cpus <= 16; ++cpus) {
    for (std::uint64_t gib = 0; gib <= 64; gib += 8) {
      for (std::uint64_t gpus = 0; gpus <= 4; ++gpus) {
        std::int64_t largest = 0;
        for (const std::int64_t sixteenths :
             {std::int64_t{cpus}, static_cast<std::int64_t>(gib) / 4, 4 * static_cast<std::int64_t>(gpus)}) {
          if (sixteenths > largest) largest = sixteenths;
        }
        EXPECT_EQ(site.charged({"g1", cpus, gib * k_gib, {{"gres/gpu", gpus}}}), largest * k_micro);
      }
    }
  }
}

TEST(Charging, AStartedJobAsksForWhatItAskedForWhileItWaited) {
  protocol::JobUpdate job;
  job.requested_cpus = 2;
  job.exclusive = true;
  job.requested_nodes = 2;
  const std::int64_t waiting = Site().asked(job);
  job.start_time = 1000;
  job.requested_nodes = 1;
  job.nodes = {{"g1", 16, 0, {}}, {"n1", 16, 0, {}}};
  EXPECT_EQ(Site().asked(job), waiting);
}

TEST(Charging, ARunOfMoreThanTheBooksTakeIsCutToThat) {
  std::map<std::string, std::int64_t, std::less<>> weights{{"g1", 1'000'000}, {"n1", 500'000}};
  protocol::JobUpdate job;
  job.nodes = {{"g1", 16, 0, {}}, {"n1", 16, 0, {}}};
  std::int64_t sum = 0;
  for (const NodeShare& share : Site(rule_of(Charge::cpu, weights)).shares(job)) sum += share.processors.value;
  EXPECT_LE(sum, k_max_weighted.value);
  EXPECT_GT(sum, k_max_weighted.value / 2);
}

TEST(Charging, AbsurdCountsStayWithinTheBound) {
  constexpr std::uint64_t k_huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Site().charged({"g1", 1, k_huge, {{"gres/gpu", k_huge}, {"gres/gpu", k_huge}}}), 16 * k_micro);
  protocol::JobUpdate job;
  job.requested_cpus = std::numeric_limits<std::uint32_t>::max();
  job.pending_tasks = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(Site().asked(job), k_max_weighted.value);
}

using accounting::NodeShare;

std::vector<NodeShare> shares(std::initializer_list<std::pair<const char*, std::int64_t>> parts) {
  std::vector<NodeShare> result;
  for (const auto& [node, micro] : parts) result.push_back({node, ProcessorMillionths{micro}});
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
    for (const NodeShare& s : weighting.shares_of(job)) sum += s.processors.value;
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
  EXPECT_EQ(Weighting({{"cpu", 1'000'000'000}}).task_of(job), k_max_weighted);
}

}  // namespace
}  // namespace shapley::daemon
