// The nodes that a job may use, in its segments.
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

// The runs of a job by key: anchor and ordinal, placement.
std::vector<std::string> runs_of(const Bench& bench, std::uint32_t job = 7) {
  std::vector<std::string> runs;
  for (const accounting::SegmentKey& key : bench.state.find_job(JobId{job})->segments) {
    if (key.kind != accounting::SegmentKind::run) continue;
    runs.push_back(std::to_string(key.anchor.value) + "/" + std::to_string(key.ordinal) + " " +
                   bench.state.find_segment(key)->opened.placement);
  }
  return runs;
}

using Runs = std::vector<std::string>;

JobRecord running_for(const std::string& nodes, std::int64_t start) {
  JobRecord r = running(start);
  r.partition = "batch";
  r.required_nodes = nodes;
  return r;
}

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

// Three tasks that wait for n1 from 104 on, and for n2 from 110 on.
JobRecord see_an_array_that_asks_for_other_nodes(Bench& bench) {
  JobRecord rest = waiting_for("n1");
  rest.array_job_id = 7;
  rest.pending_tasks = 3;
  bench.see(rest, 104);
  rest.required_nodes = "n2";
  bench.see(rest, 110);
  return rest;
}

TEST(ObserverPlacement, TasksOfAnArrayAreCountedWhateverNodesTheyMayUse) {
  Bench bench;
  JobRecord rest = see_an_array_that_asks_for_other_nodes(bench);
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

TEST(ObserverPlacement, ARunIsOfThePlacementThatItWaitedWith) {
  Bench bench;
  JobRecord r = waiting_for("n1");
  r.partition = "batch,gpu";
  bench.see(r, 104);
  r.required_nodes = "n2";
  bench.see(r, 110);
  // Of the partitions the record now names the one where it runs.
  bench.see(running_for("n2", 120), 121);
  EXPECT_EQ(runs_of(bench), Runs{"120/0 partition=batch,gpu nodes=n2"});
  EXPECT_TRUE(bench.see(running_for("n3", 120), 122).events.empty()) << "it has started: nothing changes that any more";
}

TEST(ObserverPlacement, ARunThatWasNotSeenWaitingIsOfWhatItsRecordAskedFor) {
  Bench bench;
  bench.see(running_for("n1", 120), 121);
  EXPECT_EQ(runs_of(bench), Runs{"120/0 partition=batch nodes=n1"});
  JobRecord over = running_for("n2", 120);
  over.job_id = 8;
  over.state = JobState::ended;
  over.end_time = 121;
  bench.see(over, 122);
  EXPECT_EQ(runs_of(bench, 8), Runs{"120/0 partition=batch nodes=n2"});
  JobRecord any = running(120);
  any.job_id = 9;
  bench.see(any, 122);
  EXPECT_EQ(runs_of(bench, 9), Runs{"120/0 "});
}

TEST(ObserverPlacement, ARunThatWaitedForAnyNodeIsOfNoPlacement) {
  Bench bench;
  bench.see(record_of(JobState::pending), 104);
  bench.see(running_for("n1", 120), 121);
  EXPECT_EQ(runs_of(bench), Runs{"120/0 "});
}

TEST(ObserverPlacement, ARunKeepsItsPlacementWhenItIsSuspendedAndResized) {
  Bench bench;
  bench.see(waiting_for("n[1-2]"), 104);
  JobRecord r = running_for("n[1-2]", 120);
  r.nodes = {{"n1", 1}, {"n2", 1}};
  bench.see(r, 121);
  r.required_nodes = "n1";
  r.nodes = {{"n1", 1}};
  r.resize_time = 130;
  bench.see(r, 131);
  r.state = JobState::suspended;
  r.suspend_time = 140;
  r.pre_suspend_run_s = 20;
  bench.see(r, 141);
  r.state = JobState::running;
  r.suspend_time = 150;
  r.total_suspended_s = 10;
  bench.see(r, 151);
  EXPECT_EQ(runs_of(bench), (Runs{"120/0 partition=batch nodes=n[1-2]", "120/1 partition=batch nodes=n[1-2]",
                                  "120/2 partition=batch nodes=n[1-2]"}));
}

TEST(ObserverPlacement, EveryRunOfARequeuedJobIsOfItsOwnRequest) {
  Bench bench;
  bench.see(waiting_for("n1"), 104);
  bench.see(running_for("n1", 120), 121);
  JobRecord again = pending_again(150);
  again.partition = "batch";
  again.required_nodes = "n2";
  bench.see(again, 151);
  again.wait = protocol::WaitReason::startable;
  again.eligible_time = 200;
  bench.see(again, 201);
  JobRecord second = running_for("n3", 220);
  second.submit_time = 150;
  second.restart_count = 1;
  bench.see(second, 221);
  EXPECT_EQ(runs_of(bench), (Runs{"120/0 partition=batch nodes=n1", "220/0 partition=batch nodes=n2"}));
}

TEST(ObserverPlacement, ATaskIsOfThePlacementThatItsArrayWaitedWith) {
  Bench bench;
  JobRecord rest = see_an_array_that_asks_for_other_nodes(bench);
  const auto see_task = [&](std::uint32_t id, std::int64_t start, std::int64_t at) {
    JobRecord task = running_for("n3", start);
    task.job_id = id;
    task.array_job_id = 7;
    bench.see(task, at);
    return runs_of(bench, id).at(0);
  };
  EXPECT_EQ(see_task(8, 119, 120), "119/0 partition=batch nodes=n2");
  EXPECT_EQ(see_task(9, 108, 120), "108/0 partition=batch nodes=n1") << "it had started before the change";
  EXPECT_EQ(see_task(10, 90, 120), "90/0 partition=batch nodes=n3") << "nothing waited then";
}

}  // namespace
}  // namespace shapley::daemon
