// What jobs ask for and hold, and what is free on the nodes that they may use: cases by hand, and a second computation
// that knows nothing of sets, sums and what was there before.
#include "plugin/client/requests/requests.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support.hpp"

namespace shapley::client {
namespace {

using protocol::JobState;
using protocol::JobUpdate;
using protocol::NodeRecord;

NodeRecord node_of(const std::string& name, std::uint32_t cpus, std::uint64_t memory = 0, std::uint64_t gpus = 0) {
  NodeRecord node;
  node.name = name;
  node.cpus = cpus;
  node.memory = memory;
  if (gpus > 0) node.gres = {{"gres/gpu", gpus}};
  node.partitions = {"main"};
  return node;
}

JobUpdate waiting(std::uint32_t id, std::uint32_t cpus, std::uint64_t memory = 0, std::uint64_t gpus = 0) {
  JobUpdate job;
  job.job_id = id;
  job.partition = "main";
  job.requested_cpus = cpus;
  job.requested_memory = memory;
  if (gpus > 0) job.requested_gres = {{"gres/gpu", gpus}};
  return job;
}

JobUpdate running(std::uint32_t id, std::vector<protocol::NodeHolding> nodes) {
  JobUpdate job;
  job.job_id = id;
  job.partition = "main";
  job.state = JobState::running;
  job.start_time = 1000;
  job.nodes = std::move(nodes);
  return job;
}

class RequestsTest : public ::testing::Test {
 protected:
  // n1: 16 CPUs, 64 GiB. g1: the same and 4 GPUs.
  RequestsTest() {
    requests.note(node_of("n1", 16, 65536));
    requests.note(node_of("g1", 16, 65536, 4));
  }
  Measure asked(const JobUpdate& job) {
    requests.note(job);
    return requests.asked(job.job_id).task;
  }
  NodeSetId set_of(const JobUpdate& job) {
    requests.note(job);
    return requests.asked(job.job_id).nodes;
  }
  std::int64_t free_in(const JobUpdate& job) { return requests.free(set_of(job)); }

  Requests requests;
};

constexpr Measure same(std::int64_t processors) {
  return {processors * k_micro, processors * k_micro};
}

TEST_F(RequestsTest, ATaskAsksForTheLargestPartOfANode) {
  EXPECT_EQ(asked(waiting(1, 3)), same(3));
  EXPECT_EQ(asked(waiting(2, 1, 32768)), same(8));
  EXPECT_EQ(asked(waiting(3, 1, 0, 1)), same(4));
  JobUpdate whole = waiting(4, 1);
  whole.exclusive = true;
  EXPECT_EQ(asked(whole), same(16));
  whole.requested_nodes = 2;
  EXPECT_EQ(asked(whole), same(32));
  EXPECT_EQ(requests.asked(99).task, same(1)) << "not known";
}

// n1 belongs to two organizations; half of g1 belongs to commons, which has no rank.
TEST_F(RequestsTest, WhatARunIsChargedIsGivenByTheOwnersOfItsNodes) {
  const std::vector<protocol::OwnedNodes> owned{{{"n1", "away"}, {{"a", 250'000}, {"b", 750'000}}},
                                                {{"g1"}, {{"commons", 500'000}, {"b", 500'000}}}};
  const auto index_of = [](const std::string& name) { return name == "a" ? 0U : name == "b" ? 1U : k_no_organization; };
  const auto given = [&](std::uint32_t job) {
    std::map<std::uint32_t, Measure> sums;
    for (const auto& [organization, part] : requests.given(job)) {
      sums[organization].charge += part.charge;
      sums[organization].blocked += part.blocked;
    }
    return sums;
  };
  using Given = std::map<std::uint32_t, Measure>;
  requests.note(running(1, {{"n1", 4, 0, {}}, {"g1", 1, 0, {{"gres/gpu", 1}}}}));
  EXPECT_TRUE(given(1).empty()) << "nothing is known of owners";
  requests.set_owners(std::make_shared<const NodeOwners>(owned, index_of));
  EXPECT_EQ(given(1), (Given{{0, same(1)}, {1, same(5)}})) << "three of n1 and half of the four of g1";
  EXPECT_EQ(requests.owned(0).all, 4 * k_micro);
  EXPECT_EQ(requests.owned(0).free, 3 * k_micro);
  EXPECT_EQ(requests.owned(1).all, 20 * k_micro);
  EXPECT_EQ(requests.owned(1).free, 15 * k_micro);
  requests.set_rule({Charge::weights, {{"cpu", 10}}, {}});
  requests.note(running(1, {{"n1", 4, 0, {}}, {"g1", 1, 0, {{"gres/gpu", 1}}}}));
  EXPECT_EQ(given(1), (Given{{0, {10 * k_micro, k_micro}}, {1, {35 * k_micro, 5 * k_micro}}}));
  requests.note(node_of("away", 16));
  EXPECT_EQ(requests.owned(0).all, 8 * k_micro);
  requests.forget_node("n1");
  EXPECT_EQ(requests.owned(0).all, 4 * k_micro);
  requests.forget(1);
  EXPECT_TRUE(given(1).empty());
}

TEST_F(RequestsTest, ATaskOfOneThreadHoldsTheCore) {
  NodeRecord threads = node_of("t1", 64);
  threads.allocation_unit = 2;
  threads.partitions = {"threads"};
  requests.note(threads);
  JobUpdate job = waiting(1, 1);
  job.partition = "threads";
  EXPECT_EQ(asked(job), same(2));
  job.requested_cpus = 5;
  EXPECT_EQ(asked(job), same(6));
  job.requested_nodes = 4;
  EXPECT_EQ(asked(job), same(8)) << "a core of each node at least";
  job.partition = "main,threads";
  job.requested_nodes = 1;
  EXPECT_EQ(asked(job), same(5)) << "the least";
}

TEST_F(RequestsTest, WhatANodeLacksThatItMayNotUseCountsNothing) {
  NodeRecord large = node_of("l1", 128, 65536);
  large.partitions = {"large"};
  requests.note(large);
  JobUpdate job = waiting(1, 1, 32768);
  EXPECT_EQ(asked(job), same(8)) << "half of the memory of a node of 16 CPUs";
  job.partition = "large";
  EXPECT_EQ(asked(job), same(64));
}

TEST_F(RequestsTest, WhereNoNodeOfItsOwnHasWhatItNeedsAnyNodeCounts) {
  JobUpdate job = waiting(1, 1, 0, 2);
  job.required_nodes = "n1";
  EXPECT_EQ(asked(job), same(8));
  requests.forget_node("g1");
  EXPECT_EQ(requests.asked(1).task, same(1)) << "and where none has it, its CPUs";
}

TEST_F(RequestsTest, FreeAreThoseNodesThatHaveItsGenericResources) {
  requests.note(running(1, {{"g1", 1, 0, {{"gres/gpu", 4}}}}));
  EXPECT_EQ(free_in(waiting(2, 1)), 16 * k_micro);
  EXPECT_EQ(free_in(waiting(3, 1, 0, 1)), 0) << "n1 has no GPU";
  requests.forget(1);
  EXPECT_EQ(free_in(waiting(3, 1, 0, 1)), 16 * k_micro);
  EXPECT_TRUE(requests.contains(set_of(waiting(2, 1)), set_of(waiting(3, 1, 0, 1))));
}

TEST_F(RequestsTest, FreeAreThoseNodesThatHaveItsTypeOfThem) {
  NodeRecord other = node_of("g2", 8, 0, 4), untyped = node_of("g3", 4, 0, 4);
  requests.note(node_of("g1", 16, 65536, 4), {.reserved_from = 0, .types = {"gres/gpu:old"}});
  requests.note(other, {.reserved_from = 0, .types = {"gres/gpu:new", "gres/gpu:newer"}});
  const auto free_with = [&](std::uint32_t id, std::vector<std::string> types) {
    requests.note(waiting(id, 1, 0, 1), {.cpus = 1, .memory = 0, .gres = {}, .types = std::move(types)});
    return requests.free(requests.asked(id).nodes);
  };
  EXPECT_EQ(free_with(1, {"gres/gpu:old"}), 16 * k_micro);
  EXPECT_EQ(free_with(2, {"gres/gpu:new"}), 8 * k_micro);
  EXPECT_EQ(free_with(3, {}), 24 * k_micro);
  EXPECT_EQ(free_with(4, {"gres/gpu:new", "gres/gpu:old"}), 0) << "no node has both";
  EXPECT_EQ(free_with(5, {"gres/gpu:lost"}), 0);
  requests.note(untyped);
  EXPECT_EQ(free_with(5, {"gres/gpu:lost"}), 4 * k_micro) << "its configuration names no types";
}

TEST_F(RequestsTest, APartitionInWhichNothingStartsHasNothingFreeWhereAnotherIsOpen) {
  NodeRecord other = node_of("o1", 8);
  other.partitions = {"other"};
  requests.note(other);
  JobUpdate both = waiting(1, 1);
  both.partition = "main,other";
  JobUpdate one = waiting(2, 1);
  one.partition = "other";
  EXPECT_EQ(free_in(both), 40 * k_micro);
  requests.note_closed({"other"});
  EXPECT_EQ(free_in(both), 32 * k_micro);
  EXPECT_EQ(free_in(one), 8 * k_micro) << "it will be there when the partition opens";
  requests.note_closed({});
  EXPECT_EQ(free_in(both), 40 * k_micro);
}

TEST_F(RequestsTest, ThePriceIsTheDaemonsRule) {
  requests.set_rule({.charge = Charge::dominant, .weights = {}, .node_weights = {{"g1", 4}}});
  EXPECT_EQ(asked(waiting(1, 1, 0, 1)), (Measure{16 * k_micro, 4 * k_micro}));
  EXPECT_EQ(asked(waiting(2, 2)), same(2)) << "on the node where it is least";
  requests.note(running(3, {{"g1", 1, 0, {{"gres/gpu", 2}}}}));
  EXPECT_EQ(requests.held(3), (Measure{32 * k_micro, 8 * k_micro}));
  requests.set_rule({.charge = Charge::cpu, .weights = {}, .node_weights = {}});
  EXPECT_EQ(requests.asked(1).task, (Measure{1 * k_micro, 4 * k_micro})) << "without a new record";
  EXPECT_EQ(requests.held(3), (Measure{1 * k_micro, 8 * k_micro}));
}

TEST_F(RequestsTest, OfASumTheRecordHasTheFigures) {
  JobUpdate wanted = waiting(1, 1, 0, 1);
  wanted.tres = {{"cpu", 1}, {"billing", 7}};
  JobUpdate run = running(2, {{"g1", 2, 0, {{"gres/gpu", 1}}}, {"n1", 1, 0, {}}});
  run.tres = {{"cpu", 3}, {"billing", 10}};
  requests.note(wanted);
  requests.note(run);
  requests.set_rule({.charge = Charge::billing, .weights = {}, .node_weights = {}});
  EXPECT_EQ(requests.asked(1).task, same(4)) << "not noted under this rule";
  EXPECT_EQ(requests.held(2), same(5));
  requests.note(wanted);
  requests.note(run);
  EXPECT_EQ(requests.asked(1).task, (Measure{7 * k_micro, 4 * k_micro}));
  EXPECT_EQ(requests.held(2), (Measure{10 * k_micro, 5 * k_micro}));
  requests.set_rule({.charge = Charge::weights, .weights = {{"cpu", 2}, {"gres/gpu", 5}}, .node_weights = {}});
  wanted.tres = {{"cpu", 1}, {"gres/gpu", 1}};
  EXPECT_EQ(asked(wanted), (Measure{7 * k_micro, 4 * k_micro}));
}

TEST_F(RequestsTest, ARunBlocksTheLargestPartOfItsNodes) {
  const JobUpdate any = waiting(1, 1);
  EXPECT_EQ(free_in(any), 32 * k_micro);
  requests.note(running(2, {{"n1", 2, 32768, {}}}));
  EXPECT_EQ(free_in(any), 24 * k_micro);
  EXPECT_EQ(requests.held(2), same(8));
  requests.note(running(3, {{"n1", 10, 8192, {}}}));
  EXPECT_EQ(free_in(any), 20 * k_micro) << "12 CPUs of n1 are more than its 40 of 64 GiB";
  requests.note(running(4, {{"g1", 1, 0, {{"gres/gpu", 3}}}}));
  EXPECT_EQ(free_in(any), 8 * k_micro);
  EXPECT_EQ(requests.all(set_of(any)), 32 * k_micro);
  requests.forget(3);
  requests.forget(4);
  EXPECT_EQ(free_in(any), 24 * k_micro);
}

TEST_F(RequestsTest, NothingIsFreeBesideARunThatHasItsNodeToItself) {
  JobUpdate run = running(1, {{"n1", 1, 0, {}}});
  run.exclusive = true;
  requests.note(run);
  EXPECT_EQ(free_in(waiting(2, 1)), 16 * k_micro);
  EXPECT_EQ(requests.held(1), same(16));
}

TEST_F(RequestsTest, ARunHoldsItsNodesUntilItHasEnded) {
  JobUpdate run = running(1, {{"n1", 4, 8192, {}}});
  requests.note(run);
  run.state = JobState::suspended;
  requests.note(run);
  EXPECT_EQ(free_in(waiting(2, 1)), 30 * k_micro) << "its memory";
  run.state = JobState::running;
  requests.note(run);
  EXPECT_EQ(free_in(waiting(2, 1)), 28 * k_micro);
  run.state = JobState::ended;
  run.completing = true;
  requests.note(run);
  EXPECT_EQ(free_in(waiting(2, 1)), 28 * k_micro);
  run.completing = false;
  requests.note(run);
  EXPECT_EQ(free_in(waiting(2, 1)), 32 * k_micro);
}

TEST_F(RequestsTest, ARequeuedRunHoldsItsNodesWhileItCompletes) {
  JobUpdate job = running(1, {{"n1", 4, 0, {}}});
  job.state = JobState::pending;
  job.completing = true;
  requests.note(job);
  EXPECT_EQ(free_in(waiting(2, 1)), 28 * k_micro);
  EXPECT_EQ(asked(waiting(1, 2)), same(2));
  EXPECT_EQ(free_in(waiting(2, 1)), 32 * k_micro);
}

TEST_F(RequestsTest, ANodeThatIsDownOffersNothing) {
  const JobUpdate any = waiting(1, 1);
  requests.note(running(2, {{"n1", 4, 0, {}}}));
  NodeRecord down = node_of("n1", 16, 65536);
  down.usable = false;
  requests.note(down);
  EXPECT_EQ(free_in(any), 16 * k_micro);
  EXPECT_EQ(requests.all(set_of(any)), 16 * k_micro);
  requests.note(node_of("n1", 16, 65536));
  EXPECT_EQ(free_in(any), 28 * k_micro);
  requests.forget_node("n1");
  EXPECT_EQ(free_in(any), 16 * k_micro);
  requests.note(node_of("n1", 16, 65536));
  EXPECT_EQ(free_in(any), 28 * k_micro) << "the run is still there";
}

TEST_F(RequestsTest, SetsAreThoseOfPartitionsFeaturesNodesAndReservations) {
  NodeRecord fast = node_of("f1", 8);
  fast.features = {"fast"};
  requests.note(fast);
  NodeRecord kept = node_of("r1", 4);
  kept.reservations = {"course"};
  requests.note(kept);
  JobUpdate job = waiting(1, 1);
  const NodeSetId main = set_of(job);
  EXPECT_EQ(requests.free(main), 40 * k_micro);
  EXPECT_EQ(requests.free(k_any_node), 44 * k_micro);
  job.job_id = 2;
  job.features = "fast";
  const NodeSetId with_feature = set_of(job);
  EXPECT_EQ(requests.free(with_feature), 8 * k_micro);
  job = waiting(3, 1);
  job.reservation = "course";
  const NodeSetId reserved = set_of(job);
  EXPECT_EQ(requests.free(reserved), 4 * k_micro);
  job = waiting(4, 1);
  job.required_nodes = "n1,f1";
  const NodeSetId named = set_of(job);
  EXPECT_EQ(requests.free(named), 24 * k_micro);
  job = waiting(5, 1);
  job.partition = "none";
  const NodeSetId none = set_of(job);
  EXPECT_EQ(requests.all(none), 0);

  EXPECT_TRUE(requests.overlap(with_feature, named));
  EXPECT_FALSE(requests.overlap(reserved, main));
  EXPECT_TRUE(requests.contains(main, named));
  EXPECT_FALSE(requests.contains(named, main));
  EXPECT_TRUE(requests.contains(k_any_node, reserved));
  EXPECT_FALSE(requests.contains(main, k_any_node));
  EXPECT_FALSE(requests.overlap(none, main));

  kept.reservations.clear();
  requests.note(kept);
  EXPECT_EQ(requests.free(main), 44 * k_micro) << "the reservation is over";
  EXPECT_EQ(requests.free(reserved), 0);
}

TEST_F(RequestsTest, BeyondTheBoundOfSetsAnyNodeCounts) {
  JobUpdate job = waiting(1, 1);
  for (std::uint32_t id = 1; id <= k_max_node_sets + 10; ++id) {
    job.job_id = id;
    job.features = "f" + std::to_string(id);
    requests.note(job);
  }
  EXPECT_EQ(requests.node_sets(), k_max_node_sets);
  EXPECT_NE(requests.asked(1).nodes, k_any_node);
  EXPECT_EQ(requests.asked(k_max_node_sets + 10).nodes, k_any_node);
  requests.forget(1);
  EXPECT_NE(set_of(job), k_any_node) << "there is room again";
  EXPECT_EQ(requests.node_sets(), k_max_node_sets);
}

TEST_F(RequestsTest, ForgettingEverythingLeavesTheRule) {
  requests.set_rule({.charge = Charge::dominant, .weights = {}, .node_weights = {{"n1", 3}}});
  requests.note(waiting(1, 2));
  requests.note(running(2, {{"n1", 4, 0, {}}}));
  requests.clear();
  EXPECT_EQ(requests.all(k_any_node), 0);
  EXPECT_EQ(requests.asked(1).nodes, k_any_node);
  requests.note(node_of("n1", 16));
  EXPECT_EQ(requests.free(k_any_node), 16 * k_micro);
  EXPECT_EQ(asked(waiting(1, 2)), (Measure{6 * k_micro, 2 * k_micro}));
}

TEST(WaitingJobs, AnyOrderOfInsertionsAndRemovalsIsThatOfAMap) {
  WaitingJobs jobs;
  std::map<std::uint32_t, std::uint32_t> expected;
  std::uint64_t random = 12345;
  for (int step = 0; step < 20'000; ++step) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto id = static_cast<std::uint32_t>(1 + (random >> 40U) % 700);
    if (expected.erase(id) > 0) {
      jobs.erase(id);
    } else {
      expected[id] = static_cast<std::uint32_t>(step);
      jobs.insert(id, static_cast<std::uint32_t>(step));
    }
    if (step % 100 != 0) continue;
    ASSERT_EQ(jobs.size(), expected.size());
    for (std::uint32_t job = 1; job <= 700; ++job) {
      const std::uint32_t* found = jobs.find(job);
      const auto known = expected.find(job);
      ASSERT_EQ(found != nullptr, known != expected.end()) << job;
      if (found != nullptr) {
        ASSERT_EQ(*found, known->second);
      }
    }
  }
}

// ---- a second computation over the records that are there ------------------------------------------

constexpr std::int64_t k_now = 1000;

// A world of records, which are noted as they change.
struct World {
  std::map<std::string, NodeRecord> nodes;
  std::map<std::uint32_t, JobUpdate> jobs;
  std::map<std::uint32_t, request::LeastPart> least;  // of jobs that wait
  std::map<std::string, std::int64_t> reserved_from;  // of nodes
  std::map<std::string, std::int64_t> weights;
};

std::vector<std::string> pick_names(std::vector<std::string> names) {
  std::vector<std::string> some;
  for (std::string& name : names) {
    if (*rc::gen::inRange(0, 2) == 0) some.push_back(std::move(name));
  }
  return some;
}

NodeRecord pick_node() {
  NodeRecord node = node_of("n" + std::to_string(*rc::gen::inRange(1, 6)), *rc::gen::element(4U, 8U, 16U),
                            *rc::gen::element<std::uint64_t>(0, 1024, 4096), *rc::gen::element<std::uint64_t>(0, 2, 4));
  node.usable = *rc::gen::inRange(0, 4) > 0;
  node.allocation_unit = *rc::gen::element(1U, 2U);
  node.partitions = pick_names({"a", "b"});
  node.features = pick_names({"x", "y"});
  if (*rc::gen::inRange(0, 4) == 0) node.reservations = {"r"};
  return node;
}

JobUpdate pick_job() {
  JobUpdate job = waiting(*rc::gen::inRange(1U, 12U), *rc::gen::inRange(1U, 9U),
                          *rc::gen::element<std::uint64_t>(0, 512, 1024), *rc::gen::element<std::uint64_t>(0, 0, 1, 2));
  job.partition = *rc::gen::element<std::string>("a", "b", "a,b");
  job.features = *rc::gen::element<std::string>("", "", "x", "x&y", "x|y");
  if (*rc::gen::inRange(0, 4) == 0) job.required_nodes = "n1,n2,n3";
  if (*rc::gen::inRange(0, 4) == 0) job.excluded_nodes = "n2";
  if (*rc::gen::inRange(0, 4) == 0) job.reservation = "r";
  job.exclusive = *rc::gen::inRange(0, 4) == 0;
  job.requested_nodes = *rc::gen::inRange(1U, 3U);
  if (*rc::gen::inRange(0, 2) == 0) return job;
  job.state = *rc::gen::element(JobState::running, JobState::running, JobState::suspended, JobState::ended);
  job.completing = *rc::gen::inRange(0, 4) == 0;
  job.start_time = 1000;
  for (const std::string& name : pick_names({"n1", "n2", "n3", "n4", "n5", "n6"})) {
    protocol::NodeHolding held{name, *rc::gen::inRange(1U, 9U), *rc::gen::element<std::uint64_t>(0, 256, 1024), {}};
    if (*rc::gen::inRange(0, 2) == 0) held.gres = {{"gres/gpu", *rc::gen::element<std::uint64_t>(1, 2)}};
    job.nodes.push_back(std::move(held));
  }
  return job;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool fits(const JobUpdate& job, const NodeRecord& node) {
  if (!((job.partition.find('a') != std::string::npos && has(node.partitions, "a")) ||
        (job.partition.find('b') != std::string::npos && has(node.partitions, "b"))))
    return false;
  const bool x = has(node.features, "x"), y = has(node.features, "y");
  if (job.features == "x" && !x) return false;
  if (job.features == "x&y" && !(x && y)) return false;
  if (job.features == "x|y" && !(x || y)) return false;
  if (!job.required_nodes.empty() && node.name != "n1" && node.name != "n2" && node.name != "n3") return false;
  return job.excluded_nodes.empty() || node.name != "n2";
}

bool may_use(const JobUpdate& job, const NodeRecord& node) {
  if (!fits(job, node)) return false;
  return job.reservation.empty() ? node.reservations.empty() : has(node.reservations, "r");
}

std::uint64_t gpus_in(const std::vector<protocol::Tres>& gres) {
  std::uint64_t sum = 0;
  for (const protocol::Tres& g : gres) sum += g.count;
  return sum;
}

// The blocked millionths of a processor of what is used of a node, as a fraction of the node's CPUs: the largest part.
std::int64_t part_of_node(const NodeRecord& node, std::uint64_t cpus, std::uint64_t memory, std::uint64_t gpus,
                          std::int64_t worth) {
  const std::int64_t whole = std::int64_t{node.cpus} * worth * k_micro;
  std::int64_t largest = whole * static_cast<std::int64_t>(cpus) / node.cpus;
  if (node.memory > 0)
    largest = std::max(largest, whole * static_cast<std::int64_t>(memory) / static_cast<std::int64_t>(node.memory));
  if (const std::uint64_t all = gpus_in(node.gres); all > 0)
    largest = std::max(largest, whole * static_cast<std::int64_t>(gpus) / static_cast<std::int64_t>(all));
  return largest;
}

bool holds(const JobUpdate& job) {
  return job.state == JobState::running || job.state == JobState::suspended || job.completing;
}

std::int64_t free_of(const World& world, const NodeRecord& node) {
  std::uint64_t cpus = 0, memory = 0, gpus = 0;
  for (const auto& [id, job] : world.jobs) {
    if (!holds(job)) continue;
    for (const protocol::NodeHolding& held : job.nodes) {
      if (held.node != node.name) continue;
      const bool suspended = job.state == JobState::suspended;
      if (job.exclusive && !suspended) return 0;
      cpus += suspended ? 0 : held.cpus;
      memory += held.memory;
      gpus += gpus_in(held.gres);
    }
  }
  return std::max<std::int64_t>(0, node.cpus * k_micro - part_of_node(node, cpus, memory, gpus, 1));
}

request::LeastPart pick_least() {
  request::LeastPart least{*rc::gen::inRange(0, 6), *rc::gen::element<std::int64_t>(0, 256, 2048), {}, {}};
  if (*rc::gen::inRange(0, 4) == 0) least.gres = {{"gres/gpu", *rc::gen::element<std::int64_t>(1, 3)}};
  return least;
}

// Piece by piece, each on one node.
std::int64_t room_of(const NodeRecord& node, const request::LeastPart& least, bool exclusive, std::int64_t free) {
  if (exclusive) return free == node.cpus * k_micro ? free : 0;
  const std::int64_t gpus = least.gres.empty() ? 0 : least.gres.front().count;
  const std::uint64_t all_gpus = gpus_in(node.gres);
  std::int64_t cpus = least.cpus;
  if (node.allocation_unit == 2) cpus += cpus % 2;
  if (cpus > node.cpus || (node.memory > 0 && least.memory > static_cast<std::int64_t>(node.memory)) ||
      (all_gpus > 0 && gpus > static_cast<std::int64_t>(all_gpus)))
    return 0;
  const std::int64_t piece =
      part_of_node(node, static_cast<std::uint64_t>(cpus), static_cast<std::uint64_t>(least.memory),
                   static_cast<std::uint64_t>(gpus), 1);
  if (piece == 0) return free;
  std::int64_t room = 0;
  while (room + piece <= free) room += piece;
  return room;
}

std::optional<std::int64_t> task_on(const JobUpdate& job, const NodeRecord& node, std::int64_t worth) {
  const std::uint64_t gpus = gpus_in(job.requested_gres);
  if (gpus > 0 && gpus_in(node.gres) == 0) return std::nullopt;
  std::uint64_t cpus = job.requested_cpus;
  if (node.allocation_unit == 2) cpus = std::max(cpus + cpus % 2, std::uint64_t{2} * job.requested_nodes);
  std::int64_t part = part_of_node(node, cpus, job.requested_memory, gpus, worth);
  if (!job.exclusive) return part;
  const std::int64_t whole = std::int64_t{node.cpus} * worth * k_micro;
  const bool fits = part <= whole * job.requested_nodes;
  return fits ? whole * job.requested_nodes : (part + whole - 1) / whole * whole;
}

std::int64_t task_of(const World& world, const JobUpdate& job, bool priced) {
  std::optional<std::int64_t> here, later, anywhere;
  for (const auto& [name, node] : world.nodes) {
    const auto weight = world.weights.find(name);
    const auto on = task_on(job, node, priced && weight != world.weights.end() ? weight->second : 1);
    if (!on) continue;
    anywhere = std::min(anywhere.value_or(*on), *on);
    if (fits(job, node)) later = std::min(later.value_or(*on), *on);
    if (may_use(job, node)) here = std::min(here.value_or(*on), *on);
  }
  return here.value_or(later.value_or(anywhere.value_or(job.requested_cpus * k_micro)));
}

// What the run blocks, and what it is charged: at least a millionth, at most the node, on a node that is not known its
// CPUs.
std::int64_t held_by(const World& world, const JobUpdate& job, bool priced) {
  std::int64_t sum = 0;
  for (const protocol::NodeHolding& held : job.nodes) {
    const bool suspended = job.state == JobState::suspended;
    if (priced && suspended) continue;
    const auto weight = world.weights.find(held.node);
    const std::int64_t worth = priced && weight != world.weights.end() ? weight->second : 1;
    const std::uint64_t cpus = suspended ? 0 : held.cpus;
    const auto node = world.nodes.find(held.node);
    if (node == world.nodes.end()) {
      sum += std::max<std::int64_t>(1, static_cast<std::int64_t>(cpus) * worth * k_micro);
      continue;
    }
    const std::int64_t whole = std::int64_t{node->second.cpus} * worth * k_micro;
    const std::int64_t part = part_of_node(node->second, cpus, held.memory, gpus_in(held.gres), worth);
    sum += job.exclusive && !suspended ? whole : std::clamp<std::int64_t>(part, 1, whole);
  }
  return sum;
}

void expect_like(const World& world, const Requests& requests) {
  std::map<std::uint32_t, std::set<std::string>> nodes_of;
  for (const auto& [id, job] : world.jobs) {
    if (holds(job) && !job.nodes.empty()) {
      RC_ASSERT(requests.held(id).charge == held_by(world, job, true));
      RC_ASSERT(requests.held(id).blocked == held_by(world, job, false));
    }
    if (job.state != JobState::pending || job.completing) continue;
    constexpr std::uint32_t k_any_time = std::numeric_limits<std::uint32_t>::max();
    const auto limit = *rc::gen::element<std::uint32_t>(0, 100, 200, k_any_time);
    const Requests::Asked asked = requests.asked(id, limit);
    RC_ASSERT(asked.task.charge == task_of(world, job, true));
    RC_ASSERT(asked.task.blocked == task_of(world, job, false));
    std::int64_t free = 0, all = 0, room = 0, with_room = 0;
    std::set<std::string>& nodes = nodes_of[asked.nodes];
    for (const auto& [name, node] : world.nodes) {
      if (!may_use(job, node) || (gpus_in(job.requested_gres) > 0 && gpus_in(node.gres) == 0)) continue;
      nodes.insert(name);
      if (!node.usable) continue;
      free += free_of(world, node);
      all += node.cpus * k_micro;
      const auto reserved = world.reserved_from.find(name);
      const bool may_last = reserved == world.reserved_from.end() || reserved->second == 0 ||
                            (limit != k_any_time && k_now + limit <= reserved->second);
      if (!may_last) continue;
      const std::int64_t of_one = room_of(node, world.least.at(id), job.exclusive, free_of(world, node));
      room += of_one;
      if (of_one > 0) ++with_room;
    }
    const bool on_enough =
        with_room >= std::max<std::int64_t>(1, job.requested_nodes) && (job.required_nodes.empty() || with_room == 3);
    RC_ASSERT(asked.room == (on_enough ? room : 0));
    RC_ASSERT(requests.free(asked.nodes) == free);
    RC_ASSERT(requests.all(asked.nodes) == all);
  }
  for (const auto& [a, in_a] : nodes_of) {
    for (const auto& [b, in_b] : nodes_of) {
      RC_ASSERT(requests.contains(a, b) == std::includes(in_a.begin(), in_a.end(), in_b.begin(), in_b.end()));
      const bool common = std::any_of(in_a.begin(), in_a.end(), [&in = in_b](const auto& n) { return in.contains(n); });
      RC_ASSERT(requests.overlap(a, b) == common);
    }
  }
}

RC_GTEST_PROP(RequestsProperty, WhatIsAskedAndFreeFollowsFromTheRecordsThatAreThere, ()) {
  World world;
  Requests requests;
  requests.note_time(k_now);
  for (int steps = *rc::gen::inRange(1, 60); steps > 0; --steps) {
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
        if (!world.nodes.empty()) {
          const std::string name = world.nodes.begin()->first;
          world.nodes.erase(name);
          requests.forget_node(name);
        }
        break;
      case 1:
        if (!world.jobs.empty()) {
          const std::uint32_t id = world.jobs.begin()->first;
          world.jobs.erase(id);
          requests.forget(id);
        }
        break;
      case 2:
        world.weights = {{"n1", *rc::gen::inRange(1, 4)}, {"n3", *rc::gen::inRange(1, 4)}};
        requests.set_rule({.charge = Charge::dominant,
                           .weights = {},
                           .node_weights = {{"n1", world.weights["n1"]}, {"n3", world.weights["n3"]}}});
        break;
      case 3:
        expect_like(world, requests);
        break;
      case 4:
      case 5: {
        const NodeRecord node = pick_node();
        world.nodes[node.name] = node;
        world.reserved_from[node.name] = *rc::gen::element<std::int64_t>(0, 0, k_now + 50, k_now + 100, k_now + 150);
        requests.note(node, {.reserved_from = world.reserved_from[node.name], .types = {}});
        break;
      }
      default: {
        const JobUpdate job = pick_job();
        world.jobs[job.job_id] = job;
        world.least[job.job_id] = pick_least();
        requests.note(job, world.least[job.job_id]);
      }
    }
  }
  expect_like(world, requests);
}

// ---- from a scan to the requests --------------------------------------------------------------------

// One whole scan with these nodes of 8 CPUs, and jobs that wait.
void scan(Scanner& scanner, const std::vector<const char*>& nodes, const std::vector<std::uint32_t>& jobs) {
  scanner.begin(1);
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    const shapley_node_t node{.name = nodes[index], .cpus = 8, .usable = true};
    if (scanner.node_changed(index, std::hash<std::string>{}(nodes[index]))) scanner.add(index, node);
  }
  for (const std::uint32_t id : jobs) {
    shapley_job_t job{};
    job.job_id = id;
    job.requested_cpus = 3;
    if (scanner.job_changed(id, 1)) scanner.add(job);
  }
  scanner.end(true);
}

TEST(RequestsOfAScan, AreWhatTheScanFoundAndNoMore) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  scan(scanner, {"n1", "n2"}, {1, 2});
  EXPECT_EQ(requests.all(k_any_node), 16 * k_micro);
  EXPECT_EQ(requests.asked(2).task, same(3));
  scan(scanner, {"n1", "n3", "n2"}, {1});
  EXPECT_EQ(requests.all(k_any_node), 24 * k_micro);
  EXPECT_EQ(requests.asked(1).task, same(3));
  EXPECT_EQ(requests.asked(2).task, same(1)) << "gone";
  scan(scanner, {"n3"}, {1});
  EXPECT_EQ(requests.all(k_any_node), 8 * k_micro);
}

TEST(RequestsOfAScan, AreForgottenWithALostScanAndComeAgainWithTheNext) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  scan(scanner, {"n1", "n2"}, {1});
  scanner.give_up();
  EXPECT_EQ(requests.all(k_any_node), 0);
  scan(scanner, {"n1", "n2"}, {1});
  EXPECT_EQ(requests.all(k_any_node), 16 * k_micro);
  EXPECT_EQ(requests.asked(1).task, same(3));
}

class RequestsOfAClient : public testing::ClientTest {};

TEST_F(RequestsOfAClient, AreChargedByTheDaemonsRule) {
  constexpr std::int64_t k_absurd = std::numeric_limits<std::int64_t>::max();
  daemon.listen();
  start();
  nodes = {"n1"};
  jobs[1] = {.id = 1, .state = SHAPLEY_JOB_RUNNING, .start_time = 100};
  connect_and_take_snapshot();
  const auto charged = [&](const protocol::ChargeRule& rule) {
    daemon.send(protocol::Rules{.rules = {}, .charge = rule});
    return scan_until([&] { return client->requests.rule() == rule; });
  };
  JobUpdate job = waiting(7, 2);
  job.partition.clear();
  EXPECT_TRUE(charged({Charge::dominant, {}, {{"n1", 5}}}));
  client->requests.note(job);
  EXPECT_EQ(client->requests.asked(7).task, (Measure{10 * k_micro, 2 * k_micro}));
  EXPECT_TRUE(charged({Charge::dominant, {}, {{"n1", k_absurd}, {"n1", k_absurd}}}));
  EXPECT_EQ(client->requests.asked(7).task.charge, request::k_max_weighted.value / 4) << "a part of the greatest worth";
  EXPECT_TRUE(charged({Charge::weights, {{"cpu", k_absurd}, {"mem", -k_absurd}}, {}}));
  client->requests.note(job);
  EXPECT_EQ(client->requests.asked(7).task.charge, request::k_max_weighted.value);
  EXPECT_TRUE(charged({})) << "a shapleyd that does not say";
  EXPECT_EQ(client->requests.asked(7).task, same(2));
}

}  // namespace
}  // namespace shapley::client
