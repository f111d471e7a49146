// When the nodes that waiting jobs may use are looked up.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/observer/usable_nodes.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {
namespace {

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

}  // namespace
}  // namespace shapley::daemon
