// When the nodes that waiting jobs may use are looked up, and that they reach the ledger.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/observer/usable_nodes.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using Lines = std::vector<std::string>;

protocol::NodeRecord node_in(const std::string& name, std::vector<std::string> partitions) {
  protocol::NodeRecord node = node_record(name);
  node.partitions = std::move(partitions);
  return node;
}

accounting::SegmentOpened wait_of(std::uint32_t job, const std::string& placement) {
  return {.key = {accounting::SegmentKind::wait, JobId{job}, Instant{k_begin}, 0},
          .organization = "physics",
          .begin = Instant{k_begin},
          .processors = ProcessorMillionths{k_micro},
          .nodes = {},
          .placement = placement};
}

class PlacementsTest : public testing::Test {
 protected:
  void book(const accounting::Event& event) {
    ASSERT_TRUE(books.apply(event));
    placements.note(event);
  }
  Observation resolve() {
    Observation seen = placements.resolve(books, Instant{k_begin + 10});
    for (const accounting::Event& event : seen.events) book(event);
    EXPECT_FALSE(placements.due(books));
    return seen;
  }

  accounting::State books{{.memory_horizon = Duration{100}}};
  SessionNodes placements;
};

TEST_F(PlacementsTest, AreDueOnlyWhenTheBooksMayLackSomething) {
  placements.note(node_in("n1", {"batch"}));
  book(wait_of(1, "partition=batch"));
  EXPECT_FALSE(placements.due(books)) << "not all nodes are known";
  placements.complete();
  EXPECT_TRUE(placements.due(books));
  EXPECT_EQ(resolve().events.size(), 1U);

  book(wait_of(2, "partition=batch"));
  book(wait_of(3, ""));
  EXPECT_FALSE(placements.due(books));
  book(wait_of(4, "partition=batch nodes=n1"));
  EXPECT_TRUE(placements.due(books));
  EXPECT_EQ(resolve().events.size(), 1U);

  protocol::NodeRecord node = node_in("n1", {"batch"});
  node.usable = false;
  placements.note(node);
  placements.note_gone("n2");
  EXPECT_FALSE(placements.due(books));
  placements.note(node_in("n2", {"batch"}));
  EXPECT_TRUE(placements.due(books));
  EXPECT_EQ(resolve().events.size(), 1U);
  placements.note_gone("n1");
  EXPECT_TRUE(placements.due(books));
  EXPECT_EQ(resolve().events.size(), 2U);

  books.advance(Instant{k_begin + 200});
  books.compact();
  EXPECT_TRUE(placements.due(books)) << "waits may have been forgotten";
  resolve();
  placements.forget();
  placements.note(node_in("n1", {"gpu"}));
  EXPECT_FALSE(placements.due(books));
}

TEST_F(PlacementsTest, AreDueWhenAJobBeginsOrEndsWhileThereAreTooMany) {
  placements.note(node_in("n1", {"batch"}));
  placements.complete();
  const auto number = [](std::uint32_t i) { return "partition=batch,p" + std::to_string(1000 + i); };
  for (std::uint32_t i = 0; i <= k_max_placements; ++i) book(wait_of(i, number(i)));
  resolve();
  const std::string last = number(k_max_placements);
  ASSERT_TRUE(books.last_placement(last)->nodes.empty());
  book(accounting::SegmentClosed{wait_of(3, "").key, Instant{k_begin + 5}, accounting::CloseReason::started, ""});
  EXPECT_TRUE(placements.due(books));
  resolve();
  EXPECT_EQ(books.last_placement(last)->nodes, "n1");
  book(accounting::SegmentClosed{wait_of(4, "").key, Instant{k_begin + 6}, accounting::CloseReason::started, ""});
  EXPECT_FALSE(placements.due(books));
  // One that made room is asked for again.
  book(wait_of(5000, number(3)));
  EXPECT_TRUE(placements.due(books));
  resolve();
  EXPECT_EQ(books.last_placement(number(3))->nodes, "n1");
}

TEST_F(PlacementsTest, ANodeThatEventsCannotNameIsLeftOut) {
  placements.note(node_in("n1", {"batch"}));
  placements.note(node_in("17", {"batch"}));
  placements.note(node_in("n[2-3]", {"batch"}));
  placements.complete();
  book(wait_of(1, "partition=batch"));
  const Observation seen = resolve();
  ASSERT_EQ(seen.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::PlacementResolved>(seen.events[0]).nodes, "n1");
}

TEST_F(PlacementsTest, AWarningIsRepeatedOnlyAfterItWasGone) {
  placements.note(node_in("n1", {"batch"}));
  for (std::uint32_t i = 0; i <= k_max_placements; ++i) book(wait_of(i, "partition=batch,p" + std::to_string(i)));
  placements.complete();
  EXPECT_EQ(resolve().warnings.size(), 1U);
  placements.note(node_in("n2", {"batch"}));
  EXPECT_EQ(resolve().warnings.size(), 0U);
  placements.note(node_in("n1", {}));
  placements.note(node_in("n2", {"gpu"}));
  EXPECT_EQ(resolve().warnings.size(), 0U) << "none has nodes";
  placements.note(node_in("n1", {"batch"}));
  EXPECT_EQ(resolve().warnings.size(), 1U);
}

class PlacementServiceTest : public ServiceTest {
 protected:
  void begin_snapshot(std::vector<protocol::JobUpdate> jobs, std::vector<protocol::NodeRecord> nodes) {
    service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
    tell(std::move(jobs), std::move(nodes));
  }
  void end_snapshot() {
    service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
    service->process(Instant{now});
  }
  void tell(std::vector<protocol::JobUpdate> jobs, std::vector<protocol::NodeRecord> nodes) {
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.nodes = std::move(nodes);
    service->receive(std::move(o), Instant{now});
    service->process(Instant{now});
  }
  void connect_to_two_nodes(std::vector<protocol::JobUpdate> jobs) {
    connect(++instance);
    begin_snapshot(std::move(jobs), {node_in("n1", {"batch"}), node_in("n2", {"batch"})});
    end_snapshot();
  }
  static protocol::JobUpdate pinned(const Job& job, const std::string& nodes) {
    protocol::JobUpdate record = waiting(job);
    record.required_nodes = nodes;
    return record;
  }
  [[nodiscard]] Lines resolved() const {
    return rows("SELECT json_extract(payload, '$.placement'), at - " + std::to_string(k_begin) +
                ", json_extract(payload, '$.nodes') FROM events WHERE kind = 'placement_resolved' ORDER BY seq");
  }

  std::uint64_t instance = 0;
};

TEST_F(PlacementServiceTest, PinnedWaitsAreResolvedWhenTheSnapshotIsComplete) {
  connect(1);
  begin_snapshot({pinned({.id = 1, .start = now - 5}, "n1"), waiting({.id = 2, .start = now - 3})},
                 {node_in("n1", {"batch"})});
  EXPECT_EQ(resolved(), Lines{});
  tell({}, {node_in("n2", {"batch"})});
  EXPECT_EQ(resolved(), Lines{});
  end_snapshot();
  EXPECT_EQ(resolved(), (Lines{"partition=batch|-3|n[1-2]", "partition=batch nodes=n1|-5|n1"}));
  EXPECT_EQ(acknowledged(), sequence);
}

TEST_F(PlacementServiceTest, WhatIsSeenBeforeASnapshotWaitsForIt) {
  connect(1);
  see({pinned({.id = 1, .start = now - 5}, "n1")});
  EXPECT_EQ(resolved(), Lines{});
  now += 5;
  connect_to_two_nodes({pinned({.id = 1, .start = k_begin - 5}, "n1")});
  EXPECT_EQ(resolved(), Lines{"partition=batch nodes=n1|-5|n1"});
}

TEST_F(PlacementServiceTest, ANewWaitIsResolvedWithItsFrame) {
  connect_to_two_nodes({});
  now += 10;
  see({pinned({.id = 1, .start = now - 2}, "n2")});
  EXPECT_EQ(resolved(), Lines{"partition=batch nodes=n2|8|n2"});
  now += 10;
  see({pinned({.id = 2, .start = now - 2}, "n2")});
  EXPECT_EQ(resolved().size(), 1U);
}

TEST_F(PlacementServiceTest, NodesThatChangeAreResolvedWithTheirFrame) {
  connect_to_two_nodes({waiting({.id = 1, .start = now})});
  now += 10;
  protocol::NodeRecord reserved = node_in("n1", {"batch"});
  reserved.reservations = {"maint"};
  tell({}, {reserved});
  now += 10;
  tell({}, {node_in("n1", {"batch"})});
  now += 10;
  protocol::Observations gone;
  gone.sequence = ++sequence;
  gone.observed_at = now;
  gone.gone_nodes = {"n2"};
  service->receive(std::move(gone), Instant{now});
  service->process(Instant{now});
  EXPECT_EQ(resolved(), (Lines{"partition=batch|0|n[1-2]", "partition=batch|10|n2", "partition=batch|20|n[1-2]",
                               "partition=batch|30|n1"}));
}

TEST_F(PlacementServiceTest, ANodeThatTheNextSnapshotLacksServesNoJob) {
  connect_to_two_nodes({waiting({.id = 1, .start = now})});
  now += 10;
  begin_snapshot({waiting({.id = 1, .start = k_begin})}, {node_in("n2", {"batch"})});
  end_snapshot();
  EXPECT_EQ(resolved(), (Lines{"partition=batch|0|n[1-2]", "partition=batch|10|n2"}));
}

TEST_F(PlacementServiceTest, TheSameSnapshotAfterARestartAddsNothing) {
  connect_to_two_nodes({pinned({.id = 1, .start = now - 5}, "n1")});
  const std::int64_t events = service->books().last_sequence();
  now += 10;
  restart();
  connect_to_two_nodes({pinned({.id = 1, .start = k_begin - 5}, "n1")});
  EXPECT_EQ(service->books().last_sequence(), events);
}

TEST_F(PlacementServiceTest, AChangeThatIsSettledLaterIsResolvedThen) {
  connect_to_two_nodes({pinned({.id = 1, .start = now}, "n1")});
  see({pinned({.id = 1, .start = now}, "n2")});  // in the same second
  EXPECT_EQ(resolved(), Lines{"partition=batch nodes=n1|0|n1"});
  now += 5;
  service->tick(Instant{now});
  EXPECT_EQ(resolved(), (Lines{"partition=batch nodes=n1|0|n1", "partition=batch nodes=n2|1|n2"}));
}

}  // namespace
}  // namespace shapley::daemon
