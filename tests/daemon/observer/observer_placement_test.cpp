// The nodes that a waiting job may use, in its wait segments.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobRecord;
using protocol::JobState;

JobRecord waiting_for(const std::string& nodes) {
  JobRecord r = record_of(JobState::pending);
  r.partition = "batch";
  r.required_nodes = nodes;
  return r;
}

// The waits of job 7 by key: anchor and ordinal, begin, end, processors, placement.
std::vector<std::string> waits_of(const Bench& bench) {
  std::vector<std::string> waits;
  for (const accounting::SegmentKey& key : bench.state.find_job(JobId{7})->segments) {
    if (key.kind != accounting::SegmentKind::wait) continue;
    const accounting::LiveSegment* live = bench.state.find_segment(key);
    waits.push_back(std::to_string(key.anchor.value) + "/" + std::to_string(key.ordinal) + " [" +
                    std::to_string(live->opened.begin.value) + "," +
                    (live->end ? std::to_string(live->end->value) : "...") + ") " +
                    std::to_string(live->opened.processors.value / k_micro) + " " + live->opened.placement);
  }
  return waits;
}

using Waits = std::vector<std::string>;

TEST(ObserverPlacement, AWaitSaysWhatTheJobAsksFor) {
  Bench bench;
  bench.see(waiting_for("n1"), 104);
  EXPECT_EQ(waits_of(bench), Waits{"100/0 [100,...) 1 partition=batch nodes=n1"});
  EXPECT_TRUE(bench.see(waiting_for("n1"), 105).events.empty());
}

TEST(ObserverPlacement, AChangeOpensTheNextSegmentOfTheStretch) {
  Bench bench;
  bench.see(waiting_for("n1"), 104);
  bench.see(waiting_for("n2"), 110);
  EXPECT_EQ(waits_of(bench),
            (Waits{"100/0 [100,110) 1 partition=batch nodes=n1", "100/1 [110,...) 1 partition=batch nodes=n2"}));
  EXPECT_EQ(last_reason(bench), accounting::CloseReason::changed);
  EXPECT_TRUE(bench.see(waiting_for("n2"), 111).events.empty());
  EXPECT_TRUE(bench.see(waiting_for("n1"), 104).events.empty()) << "an older record";
  bench.see(running(120), 121);
  EXPECT_EQ(waits_of(bench).back(), "100/1 [110,120) 1 partition=batch nodes=n2");
}

TEST(ObserverPlacement, AChangeWithinTheSecondIsSettledInTheNext) {
  Bench bench;
  bench.see(waiting_for("n1"), 100);
  EXPECT_TRUE(bench.see(waiting_for("n2"), 100).unsettled);
  bench.see(waiting_for("n2"), 101);
  EXPECT_EQ(waits_of(bench).back(), "100/1 [101,...) 1 partition=batch nodes=n2");
}

TEST(ObserverPlacement, WhatStaysOfAReducedRequestKeepsItsPlacement) {
  Bench bench;
  JobRecord r = waiting_for("n1");
  r.requested_cpus = 8;
  bench.see(r, 104);
  r.requested_cpus = 2;
  bench.see(r, 110);
  EXPECT_EQ(waits_of(bench), Waits{"100/1 [100,...) 2 partition=batch nodes=n1"});
  r = waiting_for("n2");
  bench.see(r, 120);
  EXPECT_EQ(waits_of(bench),
            (Waits{"100/2 [100,120) 1 partition=batch nodes=n1", "100/3 [120,...) 1 partition=batch nodes=n2"}));
  // Of both waits no more stays than started.
  bench.see(running(130), 131);
  EXPECT_EQ(waits_of(bench),
            (Waits{"100/2 [100,120) 1 partition=batch nodes=n1", "100/3 [120,130) 1 partition=batch nodes=n2"}));
}

TEST(ObserverPlacement, WhatIsCutAtTheHorizonKeepsItsPlacement) {
  Bench bench;
  bench.state = accounting::State({.horizon = Duration{50}});
  JobRecord r = waiting_for("n1");
  r.requested_cpus = 8;
  bench.see(r, 104);
  bench.state.advance(Instant{200});
  bench.state.compact();
  r.requested_cpus = 2;
  bench.see(r, 210);
  EXPECT_EQ(waits_of(bench),
            (Waits{"100/0 [100,150) 8 partition=batch nodes=n1", "100/1 [150,...) 2 partition=batch nodes=n1"}));
}

TEST(ObserverPlacement, TasksOfAnArrayAreCountedWhateverNodesTheyMayUse) {
  Bench bench;
  JobRecord rest = waiting_for("n1");
  rest.array_job_id = 7;
  rest.pending_tasks = 3;
  bench.see(rest, 104);
  rest.required_nodes = "n2";
  bench.see(rest, 110);
  JobRecord task = running(119);
  task.job_id = 8;
  task.array_job_id = 7;
  bench.see(task, 120);
  rest.pending_tasks = 1;
  bench.see(rest, 120);
  bench.see(rest, 121);
  EXPECT_EQ(waits_of(bench),
            (Waits{"100/2 [120,...) 1 partition=batch nodes=n2", "100/3 [100,110) 2 partition=batch nodes=n1",
                   "100/4 [110,120) 2 partition=batch nodes=n2"}));
}

TEST(ObserverPlacement, AJobThatAsksForNoneMayUseAnyNode) {
  Bench bench;
  bench.see(record_of(JobState::pending), 104);
  EXPECT_EQ(waits_of(bench), Waits{"100/0 [100,...) 1 "});
  EXPECT_TRUE(bench.state.placements().empty());
}

}  // namespace
}  // namespace shapley::daemon
