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
  [[nodiscard]] std::vector<NodeShare> shares(const protocol::JobRecord& job) const {
    return charging_.shares_of(job, [this](std::string_view name) { return find(name); });
  }
  [[nodiscard]] std::int64_t charged(const protocol::NodeHolding& holding, bool exclusive = false) const {
    protocol::JobRecord job;
    job.nodes = {holding};
    job.exclusive = exclusive;
    const auto all = shares(job);
    return all.empty() ? 0 : all.front().processors.value;
  }
  [[nodiscard]] std::int64_t asked(const protocol::JobRecord& job) const {
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
  EXPECT_EQ(site.find("g1")->whole, MicroProcessors{64 * k_micro});
  EXPECT_EQ(site.find("n1")->whole, MicroProcessors{16 * k_micro});
  EXPECT_EQ(site.charged({"g1", 1, 0, {{"gres/gpu", 1}}}), 16 * k_micro);
  EXPECT_EQ(site.charged({"g1", 1, 0, {}}), 4 * k_micro);
}

TEST(Charging, ByWeightsNodesAndRunsAreSums) {
  const Site site(ChargeRule{Charge::weights, {{"cpu", 2}}, {}});
  EXPECT_EQ(site.find("n1")->processors, MicroProcessors{32 * k_micro});
  EXPECT_EQ(site.find("n1")->whole, MicroProcessors{32 * k_micro});
  EXPECT_EQ(site.charged({"n1", 3, 64 * k_gib, {}}), 6 * k_micro);
}

TEST(Charging, ANodeThatTheBooksDoNotKnowIsChargedItsCpus) {
  EXPECT_EQ(Site().charged({"new", 3, 64 * k_gib, {}}, true), 3 * k_micro);
}

TEST(Charging, WhatSlurmAllocatedStandsBesideTheCharge) {
  protocol::JobRecord job;
  job.nodes = {{"n1", 1, 32 * k_gib, {}}, {"g1", 2, 0, {{"gres/gpu", 1}, {"gres/gpu", 1}}}};
  const NodeShare on_g1{"g1", {8 * k_micro}, 2, 0, {{"gres/gpu", 2}}};
  const NodeShare on_n1{"n1", {8 * k_micro}, 1, 32 * k_gib, {}};
  EXPECT_EQ(Site().shares(job), (std::vector<NodeShare>{on_g1, on_n1}));
}

TEST(Charging, ANodeOffersWhatItIsWorthIfItIsUsable) {
  protocol::NodeRecord drained = k_nodes[1];
  drained.usable = false;
  const CapacityChanged capacity = Charging().capacity_of(drained);
  EXPECT_EQ(capacity.processors, MicroProcessors{});
  EXPECT_EQ(capacity.whole, MicroProcessors{16 * k_micro});
  EXPECT_EQ(capacity.cpus, 16U);
  EXPECT_EQ(capacity.memory, 64 * k_gib);
  EXPECT_EQ(capacity.gres, (std::vector<accounting::Resource>{{"gres/gpu", 4}}));
}

TEST(Charging, AWaitingJobAsksForTheLeastThatItWouldBeCharged) {
  const Site site(rule_of(Charge::dominant, {{"g1", 4}}));
  protocol::JobRecord job;
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
  protocol::JobRecord job;
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
  protocol::JobRecord job;
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
  protocol::JobRecord job;
  job.nodes = {{"g1", 16, 0, {}}, {"n1", 16, 0, {}}};
  std::int64_t sum = 0;
  for (const NodeShare& share : Site(rule_of(Charge::cpu, weights)).shares(job)) sum += share.processors.value;
  EXPECT_LE(sum, k_max_weighted.value);
  EXPECT_GT(sum, k_max_weighted.value / 2);
}

TEST(Charging, AbsurdCountsStayWithinTheBound) {
  constexpr std::uint64_t k_huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Site().charged({"g1", 1, k_huge, {{"gres/gpu", k_huge}, {"gres/gpu", k_huge}}}), 16 * k_micro);
  protocol::JobRecord job;
  job.requested_cpus = std::numeric_limits<std::uint32_t>::max();
  job.pending_tasks = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(Site().asked(job), k_max_weighted.value);
}

}  // namespace
}  // namespace shapley::daemon
