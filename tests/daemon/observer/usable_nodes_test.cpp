// What the books get of the nodes that jobs may use.
#include "daemon/observer/usable_nodes.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "bench.hpp"
#include "tests/request/small_cluster.hpp"

namespace shapley::daemon {
namespace {

using Names = std::vector<std::string>;
using protocol::JobState;
using protocol::JobUpdate;
using protocol::NodeRecord;
using request::node_of;
using request::small_cluster;

// A pending job of the partition batch that asks for one CPU of these nodes (none: any).
JobUpdate asking(std::uint32_t id, const std::string& nodes = "", const std::string& reservation = "") {
  JobUpdate record = record_of(JobState::pending);
  record.job_id = id;
  record.partition = "batch";
  record.required_nodes = nodes;
  record.reservation = reservation;
  return record;
}

JobUpdate cancelled(JobUpdate record, std::int64_t at) {
  record.state = JobState::ended;
  record.slurm_state = "CANCELLED";
  record.end_time = at;
  return record;
}

class Resolving : public testing::Test {
 protected:
  // What was missing in the books, which have it now: "placement @at.ordinal nodes".
  Names resolve(std::int64_t at) {
    Observation seen = resolve_placements(bench.state, nodes, known, Instant{at});
    warnings = seen.warnings;
    Names told;
    for (const accounting::Event& event : seen.events) {
      const auto& e = std::get<accounting::PlacementResolved>(event);
      told.push_back(e.placement + " @" + std::to_string(e.at.value) + "." + std::to_string(e.ordinal) + " " + e.nodes);
      const auto applied = bench.state.apply(event);
      EXPECT_TRUE(applied && *applied == accounting::Applied::changed) << told.back();
    }
    EXPECT_TRUE(resolve_placements(bench.state, nodes, known, Instant{at}).events.empty()) << "nothing is said twice";
    return told;
  }
  void put(const NodeRecord& node) {
    nodes.insert_or_assign(node.name, node);
    known.clear();
  }

  Bench bench;
  NodeTable nodes = small_cluster();
  UsableNodes known;
  Names warnings;
};

TEST_F(Resolving, TheFirstStatementHoldsSinceTheFirstWaitBegan) {
  EXPECT_EQ(resolve(90), Names{});
  bench.see(asking(7), 104);
  JobUpdate later = asking(8);
  later.submit_time = later.eligible_time = 103;
  bench.see(later, 104);
  EXPECT_EQ(resolve(104), Names{"partition=batch @100.0 n[1-2]"});
  EXPECT_EQ(known, (UsableNodes{{"partition=batch", "n[1-2]"}}));
  EXPECT_EQ(resolve(110), Names{});
}

TEST_F(Resolving, ANodeThatJoinsServesFromThenOn) {
  bench.see(asking(7), 104);
  resolve(104);
  put(node_of("n5", {"batch"}));
  EXPECT_EQ(resolve(120), Names{"partition=batch @120.0 n[1-2,5]"});
  put(node_of("n6", {"batch"}));
  EXPECT_EQ(resolve(120), Names{"partition=batch @120.1 n[1-2,5-6]"});
  put(node_of("n7", {"batch"}));
  EXPECT_EQ(resolve(119), Names{"partition=batch @120.2 n[1-2,5-7]"}) << "never before what was said last";
  put(node_of("n9", {"gpu"}));
  EXPECT_EQ(resolve(130), Names{});
}

TEST_F(Resolving, AReservationTakesNodesFromOthersWhileItLasts) {
  bench.see(asking(7, "n1"), 104);
  bench.see(asking(8, "", "course"), 104);
  EXPECT_EQ(resolve(104), (Names{"partition=batch nodes=n1 @100.0 n1", "partition=batch reservation=course @100.0 "}));
  put(node_of("n1", {"batch"}, {"ib"}, {"course"}));
  EXPECT_EQ(resolve(200), (Names{"partition=batch nodes=n1 @200.0 ", "partition=batch reservation=course @200.0 n1"}));
  put(node_of("n1", {"batch"}, {"ib"}));
  EXPECT_EQ(resolve(300), (Names{"partition=batch nodes=n1 @300.0 n1", "partition=batch reservation=course @300.0 "}))
      << "not since the wait began: in between the node was not for it";
}

TEST_F(Resolving, AWaitThatBeginsDuringAReservationHasNoNodesBeforeItsEnd) {
  bench.see(asking(7, "n4"), 104);
  EXPECT_EQ(resolve(104), Names{"partition=batch nodes=n4 @100.0 "});
  bench.see(cancelled(asking(7, "n4"), 150), 150);
  EXPECT_EQ(resolve(150), Names{});
  JobUpdate next = asking(8, "n4");
  next.submit_time = next.eligible_time = 200;
  bench.see(next, 204);
  EXPECT_EQ(resolve(204), Names{"partition=batch nodes=n4 @200.0 "});
  put(node_of("n4", {"batch"}));
  EXPECT_EQ(resolve(300), Names{"partition=batch nodes=n4 @300.0 n4"});
}

TEST_F(Resolving, APlacementThatNoJobAsksForIsRetiredAndComesBack) {
  bench.see(asking(7), 104);
  resolve(104);
  bench.see(cancelled(asking(7), 150), 151);
  EXPECT_EQ(resolve(160), Names{"partition=batch @160.0 "});
  EXPECT_TRUE(known.empty());
  EXPECT_EQ(resolve(170), Names{});
  JobUpdate next = asking(8);
  next.submit_time = next.eligible_time = 200;
  bench.see(next, 204);
  EXPECT_EQ(resolve(204), Names{"partition=batch @200.0 n[1-2]"});
}

TEST_F(Resolving, NothingIsSaidOfWhatTheBooksForgot) {
  bench.state = accounting::State({.memory_horizon = Duration{50}});
  bench.see(asking(7), 104);
  bench.state.advance(Instant{200});
  bench.state.compact();
  ASSERT_EQ(bench.state.memory_horizon(), Instant{150});
  EXPECT_EQ(resolve(200), Names{"partition=batch @150.0 n[1-2]"});
}

TEST_F(Resolving, OnlySoManyPlacementsHaveNodesAtATime) {
  for (std::uint32_t i = 100; i < 100 + k_max_placements + 2; ++i) {
    const std::string name = "n" + std::to_string(i);
    put(node_of(name, {"batch"}));
    bench.see(asking(i, name), 104);
  }
  EXPECT_EQ(resolve(104).size(), k_max_placements + 2);
  EXPECT_EQ(bench.state.resolved_placements().size(), k_max_placements);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(resolve(110), Names{});
  EXPECT_EQ(warnings.size(), 1U);
  bench.see(cancelled(asking(101, "n101"), 150), 151);
  EXPECT_EQ(resolve(160), (Names{"partition=batch nodes=n101 @160.0 ", "partition=batch nodes=n356 @160.0 n356"}));
  EXPECT_EQ(bench.state.resolved_placements().size(), k_max_placements);
  // A node that leaves makes room as well.
  nodes.erase("n102");
  known.clear();
  EXPECT_EQ(resolve(170), (Names{"partition=batch nodes=n102 @170.0 ", "partition=batch nodes=n357 @170.0 n357"}));
  EXPECT_TRUE(warnings.empty());
}

JobUpdate running_in(std::uint32_t id, const std::string& nodes, std::int64_t start) {
  JobUpdate record = asking(id, nodes);
  record.state = JobState::running;
  record.slurm_state = "RUNNING";
  record.start_time = start;
  record.nodes = {{"n1", 1}};
  return record;
}

TEST_F(Resolving, ARunIsReasonEnoughForItsPlacementToHaveNodes) {
  bench.see(running_in(7, "n1", 100), 104);
  EXPECT_EQ(resolve(104), Names{"partition=batch nodes=n1 @100.0 n1"});
  bench.see(asking(8, "n2"), 104);
  resolve(104);
  bench.see(running_in(8, "n2", 110), 111);
  bench.state = [&] {
    accounting::State shorter({.memory_horizon = Duration{50}});
    for (const accounting::Event& event : bench.history) EXPECT_TRUE(shorter.apply(event));
    return shorter;
  }();
  bench.state.advance(Instant{200});
  bench.state.compact();
  EXPECT_EQ(bench.state.placements(), (Names{"partition=batch nodes=n1", "partition=batch nodes=n2"}));
}

class ManyPlacements : public Resolving {
 protected:
  // Adds `count` nodes that jobs can name, n1000 and further.
  void put_nodes(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) put(node_of(name_of(i), {"batch"}));
  }
  static std::string name_of(std::uint32_t i) { return "n" + std::to_string(1000 + i); }

  // A job of its own for each of the nodes [from, to).
  void ask(std::uint32_t from, std::uint32_t to, std::int64_t at, const std::string& account = "phys",
           std::uint32_t cpus = 1) {
    for (std::uint32_t i = from; i < to; ++i) {
      JobUpdate record = asking(1000 + i, name_of(i));
      record.account = account;
      record.requested_cpus = cpus;
      record.tres = {{"cpu", cpus}};
      record.submit_time = record.eligible_time = at;
      bench.see(record, at);
    }
  }
  [[nodiscard]] bool has_nodes(std::uint32_t i) const {
    const auto* last = bench.state.last_placement("partition=batch nodes=" + name_of(i));
    return last != nullptr && !last->nodes.empty();
  }
  [[nodiscard]] std::size_t count_with_nodes(std::uint32_t from, std::uint32_t to) const {
    std::size_t count = 0;
    for (std::uint32_t i = from; i < to; ++i) count += has_nodes(i) ? 1 : 0;
    return count;
  }
  void start(std::uint32_t i, std::int64_t at) {
    JobUpdate record = running_in(1000 + i, name_of(i), at);
    bench.see(record, at + 1);
  }
  void end(std::uint32_t i, std::int64_t start, std::int64_t at) {
    JobUpdate record = running_in(1000 + i, name_of(i), start);
    record.state = JobState::ended;
    record.end_time = at;
    bench.see(record, at + 1);
  }
};

TEST_F(ManyPlacements, ThoseThatNoJobAsksForMakeRoom) {
  constexpr std::uint32_t k_most{k_max_placements};
  put_nodes(k_most + 2);
  ask(0, k_most, 100);
  EXPECT_EQ(resolve(104).size(), k_max_placements);
  start(5, 110);
  start(6, 110);
  end(5, 110, 120);
  EXPECT_EQ(resolve(121), Names{}) << "remembered, while there is room";
  ask(k_most, k_most + 1, 130);
  EXPECT_EQ(resolve(131), (Names{"partition=batch nodes=n1005 @131.0 ", "partition=batch nodes=n1256 @130.0 n1256"}));
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(known.contains("partition=batch nodes=n1005"));
  EXPECT_TRUE(has_nodes(6)) << "its job runs";
  // It comes back with the next who asks, from then on.
  end(6, 110, 140);
  JobUpdate next = asking(2000, name_of(5));
  next.submit_time = next.eligible_time = 150;
  bench.see(next, 153);
  EXPECT_EQ(resolve(153), (Names{"partition=batch nodes=n1005 @150.0 n1005", "partition=batch nodes=n1006 @153.0 "}));
  // Not with mere room.
  bench.see(cancelled(asking(1010, name_of(10)), 160), 161);
  EXPECT_EQ(resolve(161), Names{"partition=batch nodes=n1010 @161.0 "});
  EXPECT_FALSE(has_nodes(6));
}

TEST_F(ManyPlacements, OneOrganizationLeavesTheOthersTheirShare) {
  constexpr std::uint32_t k_flood{1000};
  put_nodes(k_flood + 200);
  ask(0, k_flood, 100, "phys", 8);
  resolve(104);
  EXPECT_EQ(count_with_nodes(0, k_flood), k_max_placements);
  EXPECT_EQ(warnings.size(), 1U);
  // Guests ask for less, and later.
  ask(k_flood, k_flood + 3, 110, "guests");
  resolve(111);
  EXPECT_EQ(count_with_nodes(k_flood, k_flood + 3), 3U);
  EXPECT_EQ(count_with_nodes(0, k_flood), k_max_placements - 3);
  ask(k_flood + 3, k_flood + 200, 120, "guests");
  resolve(121);
  EXPECT_EQ(count_with_nodes(0, k_flood), k_max_placements / 2);
  EXPECT_EQ(count_with_nodes(k_flood, k_flood + 200), k_max_placements / 2);
  EXPECT_EQ(bench.state.resolved_placements().size(), k_max_placements);
}

TEST_F(ManyPlacements, AnOrganizationKeepsThoseOfMostDemand) {
  constexpr std::uint32_t k_most{k_max_placements};
  put_nodes(k_most + 10);
  ask(0, k_most + 9, 100);
  ask(k_most + 9, k_most + 10, 100, "phys", 4);
  resolve(104);
  EXPECT_TRUE(has_nodes(k_most + 9));
  EXPECT_EQ(count_with_nodes(0, k_most - 1), k_max_placements - 1);
  // What waits and what runs is demand alike.
  JobUpdate wide = asking(3000, name_of(k_most));
  wide.requested_cpus = 2;
  wide.submit_time = wide.eligible_time = 110;
  bench.see(wide, 110);
  wide.state = JobState::running;
  wide.start_time = 120;
  wide.nodes = {{"n1", 2}};
  wide.tres = {{"cpu", 2}};
  bench.see(wide, 121);
  resolve(121);
  EXPECT_TRUE(has_nodes(k_most));
  EXPECT_FALSE(has_nodes(k_most - 2));
}

TEST(SessionNodes, KnowWhichNodesAreAwayAndMayComeBack) {
  using accounting::NodeNames;
  SessionNodes nodes;
  const auto note = [&](const char* name, bool usable) {
    NodeRecord record = node_of(name, {"batch"});
    record.usable = usable;
    nodes.note(record);
  };
  note("n1", true);
  EXPECT_EQ(nodes.away(), NodeNames{});
  note("n1", false);
  note("n2", false);
  note("n3", false);
  EXPECT_EQ(nodes.away(), (NodeNames{"n1", "n2", "n3"}));
  note("n1", true);
  nodes.note_gone("n2");
  EXPECT_EQ(nodes.away(), NodeNames{"n3"});
  nodes.forget();
  EXPECT_EQ(nodes.away(), NodeNames{});
}

TEST(SessionNodes, KnowTheKindsOfNodesThatAJobMayUse) {
  const auto node = [](const char* name, std::uint32_t cpus, Names partitions) {
    NodeRecord record = node_of(name, std::move(partitions));
    record.cpus = cpus;
    return record;
  };
  SessionNodes nodes;
  const Charging charging;
  const auto cpus_for = [&](std::uint32_t id, const std::string& named = "") {
    std::vector<std::uint32_t> cpus;
    for (const NodeKind& kind : nodes.kinds_for(asking(id, named), charging).usable) cpus.push_back(kind.cpus);
    return cpus;
  };
  EXPECT_TRUE(cpus_for(1).empty());
  nodes.note(node("n1", 16, {"batch"}));
  nodes.note(node("n2", 16, {"batch"}));
  nodes.note(node("n3", 8, {"gpu"}));
  EXPECT_EQ(cpus_for(1), std::vector<std::uint32_t>{16});
  NodeRecord third = node("n3", 8, {"batch", "gpu"});
  third.usable = false;
  nodes.note(third);
  EXPECT_EQ(cpus_for(1), (std::vector<std::uint32_t>{16, 8})) << "up or not";
  EXPECT_EQ(cpus_for(1, "n3"), std::vector<std::uint32_t>{8});
  third.cpus = 4;
  nodes.note(third);
  EXPECT_EQ(cpus_for(1, "n3"), std::vector<std::uint32_t>{4});
  third.reservations = {"works"};
  nodes.note(third);
  EXPECT_TRUE(cpus_for(1, "n3").empty());
  ASSERT_EQ(nodes.kinds_for(asking(1, "n3"), charging).fitting.size(), 1U) << "when the reservation is over";
  EXPECT_EQ(nodes.kinds_for(asking(1, "n3"), charging).fitting[0].cpus, 4U);
  nodes.note_gone("n3");
  EXPECT_EQ(cpus_for(1), std::vector<std::uint32_t>{16});
  nodes.forget();
  EXPECT_TRUE(cpus_for(1).empty());
}

}  // namespace
}  // namespace shapley::daemon
