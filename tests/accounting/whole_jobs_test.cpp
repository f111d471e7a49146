// hindsight of whole jobs on kinds of nodes, from the events of a ledger to what coalitions would have done alone: by
// hand, and the instances whose values two other programs agree on.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/state/state.hpp"
#include "state_fixture.hpp"
#include "tests/support/must.hpp"

namespace shapley::accounting {
namespace {

HindsightDefined defined(std::int64_t t, std::vector<std::string> kinds = {}, JobsStart jobs = JobsStart::whole) {
  return {.at = at(t), .jobs = jobs, .kinds = std::move(kinds)};
}

CapacityChanged whole_node(const std::string& node, std::int64_t count) {
  CapacityChanged offers = capacity(node, 0, count);
  offers.whole = cores(count);
  return offers;
}

class WholeJobsTest : public StateTest {
 protected:
  // What these would have produced alone by t, in processors times seconds squared.
  double alone(const std::set<std::string>& members, std::int64_t t) {
    const CooperationWorth worth = state_.advance(at(t)).worth().value();
    for (const CooperationWorth::Row& row : worth.rows) {
      if (members == std::set{state_.organizations()[row.organization.value]}) return units(row.is.alone.utility);
    }
    for (const CooperationWorth::Coalition& pair : worth.pairs) {
      std::set<std::string> names;
      for (const OrgId member : pair.members) names.insert(state_.organizations()[member.value]);
      if (members == names) return units(pair.is.alone.utility);
    }
    return -1;
  }
  double phi(std::string_view name, std::int64_t t) { return units(row(name, t).phi(hindsight())); }

  void own(const std::string& name, const std::string& node, std::int64_t count) {
    apply(owned(node, 0, {{name, k_whole_node}}));
    apply(whole_node(node, count));
  }
};

// A owns 1 processor, B 3; A's job of 4 runs from 0 to 10. Neither could have run it alone.
TEST_F(WholeJobsTest, WhatNoneCouldHaveRunAloneIsSharedEqually) {
  own("a", "na", 1);
  own("b", "nb", 3);
  const SegmentOpened job = run(1, "a", 0, {{"na", cores(1)}, {"nb", cores(3)}});
  apply(job);
  apply(closed(job, 10));
  EXPECT_EQ(alone({"a"}, 20), 210);
  EXPECT_EQ(phi("a", 20), 415);
  State whole;
  for (const Event& event :
       std::vector<Event>{owned("na", 0, {{"a", k_whole_node}}), whole_node("na", 1),
                          owned("nb", 0, {{"b", k_whole_node}}), whole_node("nb", 3), defined(0), job, closed(job, 10)})
    ASSERT_TRUE(whole.apply(event));
  state_ = std::move(whole);
  EXPECT_EQ(alone({"a"}, 20), 0);
  EXPECT_EQ(phi("a", 20), 310);
  EXPECT_EQ(phi("b", 20), 310);
}

// Only what is released from the definition on starts whole; what it came before stays as it was.
TEST_F(WholeJobsTest, ADefinitionLeavesWhatWasReleasedBefore) {
  own("a", "na", 2);
  const SegmentOpened job = run(1, "a", 0, {{"na", cores(2)}});
  apply(job);
  apply(closed(job, 2));
  apply(wait(2, "a", 10, 3));
  EXPECT_EQ(alone({"a"}, 13), 2 * (13 + 12) + 2 * (3 + 2 + 1));
  apply(defined(10));
  EXPECT_EQ(alone({"a"}, 13), 2 * (13 + 12));
  apply(wait(3, "a", 9, 3));
  EXPECT_EQ(alone({"a"}, 13), 2 * (13 + 12) + 2 * (4 + 3 + 2 + 1));
}

// Its wait asked for 2, its run is charged 3: it starts where 2 are free.
TEST_F(WholeJobsTest, ARunStartsWhereWhatItAskedForIsFree) {
  apply(defined(0));
  own("a", "na", 2);
  own("b", "nb", 2);
  const SegmentOpened pending = wait(1, "a", 1, 2);
  SegmentOpened job = run(1, "a", 3, {{"na", cores(1)}, {"nb", cores(2)}});
  job.released = pending.begin;
  apply(pending);
  EXPECT_EQ(alone({"a"}, 3), 2 * (2 + 1));
  apply(SegmentClosed{pending.key, at(3), CloseReason::started, "RUNNING"});
  apply(job);
  EXPECT_EQ(alone({"a"}, 5), 3 * (4 + 3 + 2 + 1));
}

// The tasks of an array start one by one; a job that asks for as much does not.
TEST_F(WholeJobsTest, AnArraysTasksAreWholeEach) {
  apply(defined(0));
  own("a", "na", 2);
  SegmentOpened array = wait(1, "a", 1, 4);
  array.tasks = 4;
  apply(array);
  EXPECT_EQ(alone({"a"}, 3), 2 * (2 + 1));
  apply(wait(2, "a", 0, 4));
  EXPECT_EQ(alone({"a"}, 3), 2 * (2 + 1));
  apply(SegmentRetracted{array.key, at(3)});
  EXPECT_EQ(alone({"a"}, 3), 0);
}

// GPU nodes are b's. When they become a kind, jobs of that placement find only them, and what waited may use them, too.
TEST_F(WholeJobsTest, KindsAreThoseOfThePlacement) {
  apply(defined(0));
  own("a", "na", 4);
  own("b", "g", 2);
  own("c", "nc", 1);  // so that a and b are not all
  apply(PlacementResolved{"partition=gpu", at(0), 0, "g"});
  apply(wait(1, "a", 1, 5));
  apply(defined(3, {"g"}));
  SegmentOpened job = wait(2, "a", 4, 2);
  job.placement = "partition=gpu";
  apply(job);
  EXPECT_EQ(alone({"a"}, 6), 0);
  EXPECT_EQ(alone({"a", "b"}, 6), 5 * (5 + 4 + 3 + 2 + 1) + 2 * (2 + 1));
  auto loaded = must(State::load(state_.save()));
  EXPECT_EQ(loaded.save(), state_.save());
  state_ = std::move(loaded);
  EXPECT_EQ(alone({"a", "b"}, 6), 5 * (5 + 4 + 3 + 2 + 1) + 2 * (2 + 1));
}

struct Instance {
  nlohmann::json json;
  std::size_t organizations = 0;
  std::int64_t end = 0;

  explicit Instance(const std::string& line)
      : json(nlohmann::json::parse(line)), organizations(json["k"]), end(json["T"]) {}
  static std::string name(std::size_t organization) { return "o" + std::to_string(organization); }
  static std::string node(std::size_t kind, std::size_t organization) {
    return "n" + std::to_string(kind) + "x" + std::to_string(organization);
  }
  static std::string placement(std::size_t kind) { return "partition=p" + std::to_string(kind); }

  [[nodiscard]] std::vector<Event> events() const {
    std::vector<Event> events;
    HindsightDefined kinds = defined(0);
    std::string busy;  // a node on which everything runs
    for (std::size_t kind = 0; kind < json["m"].size(); ++kind) {
      std::string nodes;
      for (std::size_t u = 0; u < organizations; ++u) {
        events.emplace_back(owned(node(kind, u), 0, {{name(u), k_whole_node}}));
        events.emplace_back(whole_node(node(kind, u), json["m"][kind][u]));
        if (json["m"][kind][u] > 0) busy = node(kind, u);
        nodes += (nodes.empty() ? "" : ",") + node(kind, u);
      }
      events.emplace_back(PlacementResolved{placement(kind), at(0), 0, nodes});
      if (kind > 0) kinds.kinds.push_back(nodes);
    }
    events.emplace_back(kinds);
    std::uint32_t number = 0;
    for (const auto& job : json["jobs"]) {
      const std::int64_t release = job[0];
      const std::int64_t ends = release + job[1].get<std::int64_t>();
      SegmentOpened opened = wait(++number, name(job[2]), release, job[3]);
      if (job[5] == 1 && ends < end) {
        opened = run(number, name(job[2]), release, {{busy, cores(job[3])}});
        events.emplace_back(closed(opened, ends));
      }
      opened.placement = placement(job[4]);
      events.emplace_back(opened);
    }
    return events;
  }

  // Whether its order is that of the books, which put organizations of one release in order: job by job in the file.
  [[nodiscard]] bool is_ordered(const std::vector<std::size_t>& members) const {
    std::pair<std::int64_t, std::size_t> last{-1, 0};
    for (const auto& job : json["jobs"]) {
      if (std::ranges::find(members, job[2].get<std::size_t>()) == members.end()) continue;
      const std::pair<std::int64_t, std::size_t> place{job[0], job[2]};
      if (place < last) return false;
      last = place;
    }
    return true;
  }
};

TEST_F(WholeJobsTest, TheBooksHaveTheValuesOfTheGoldenInstances) {
  std::ifstream lines(SHAPLEY_HINDSIGHT_KINDS);
  int compared = 0;
  for (std::string line; std::getline(lines, line);) {
    SCOPED_TRACE(line.substr(0, 60));
    const Instance instance(line);
    state_ = State();
    for (const Event& event : instance.events()) apply(event);
    const CooperationWorth worth = state_.advance(at(instance.end)).worth().value();
    const auto compare = [&](const std::vector<OrgId>& ids, const Comparison& is) {
      std::vector<std::size_t> members;
      std::size_t mask = 0;
      for (const OrgId id : ids) {
        const std::string& name = state_.organizations()[id.value];
        if (name == k_guests || name == k_commons) return;
        members.push_back(std::stoul(name.substr(1)));
        mask |= std::size_t{1} << members.back();
      }
      if (!instance.is_ordered(members)) return;
      EXPECT_EQ(is.alone.utility.value, Int128{instance.json["rigid"][mask].get<std::int64_t>()} * k_micro) << mask;
      ++compared;
    };
    for (const CooperationWorth::Row& one : worth.rows) compare({one.organization}, one.is);
    for (const CooperationWorth::Coalition& pair : worth.pairs) compare(pair.members, pair.is);
    if (worth.leaving) compare(worth.leaving->members, worth.leaving->is);
  }
  EXPECT_GT(compared, 700);
}

}  // namespace
}  // namespace shapley::accounting
