#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::CloseReason;
using protocol::JobRecord;

JobRecord submitted(std::int64_t submit, JobRecord r) {
  r.submit_time = submit;
  return r;
}

// Under way: the run ended at 149, its nodes are not clean yet.
JobRecord completing_requeue(std::int64_t submit, std::int64_t start) {
  JobRecord r = pending_again(submit);
  r.completing = true;
  r.start_time = start;
  r.end_time = 149;
  if (start > 0) r.nodes = {{"n1", 1}};
  return r;
}

void expect_requeued(const Bench& bench, const char* runs) {
  EXPECT_EQ(bench.runs(), runs);
  EXPECT_EQ(last_reason(bench), CloseReason::requeued);
}

TEST(ObserverRequeue, ARequeueEndsTheRunAtTheNewSubmitTime) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(pending_again(150), 152);
  expect_requeued(bench, "[120,150) n1:1");
}

TEST(ObserverRequeue, ARequeueEndsTheRunAtEndTimeWhereTheRecordStillHasIt) {
  Bench bench;
  bench.see(running(120), 121);
  const JobRecord completing = completing_requeue(100, 120);
  bench.see(completing, 150);
  expect_requeued(bench, "[120,149) n1:1");
  EXPECT_TRUE(bench.see(pending_again(151), 152).events.empty());
}

TEST(ObserverRequeue, AnAllocationWhoseNodesNeverBootIsARun) {
  // ResumeTimeout: the requeue follows at once, and its record tells nothing but when the allocation ended.
  Bench bench;
  bench.see(waiting(), 105);
  bench.see(running(120), 121);
  JobRecord again = pending_again(180);
  again.end_time = 180;
  bench.see(again, 181);
  expect_requeued(bench, "[120,180) n1:1");
  EXPECT_EQ(bench.waits(), "[100,120) 1");
}

TEST(ObserverRequeue, BackfillMayWipeTheStartOfARequeueUnderWay) {
  Bench bench;
  bench.see(submitted(120, running(120)), 121);
  const JobRecord completing = completing_requeue(120, 0);
  bench.see(completing, 149);
  expect_requeued(bench, "[120,149) n1:1");
  EXPECT_TRUE(bench.see(pending_again(150), 152).events.empty());
}

TEST(ObserverRequeue, ARequeueThatKeepsItsSubmitTimeEndsTheRunAtItsEndTime) {
  Bench bench;
  bench.see(submitted(120, running(120)), 121);
  JobRecord again = pending_again(120);
  again.eligible_time = 120;
  again.end_time = 149;
  bench.see(again, 149);
  expect_requeued(bench, "[120,149) n1:1");
}

TEST(ObserverRequeue, ARequeueInTheSecondOfTheStartLeavesAnEmptyRun) {
  Bench bench;
  bench.see(submitted(119, running(120)), 120);
  JobRecord again = pending_again(120);
  again.eligible_time = 126;
  bench.see(again, 121);
  EXPECT_EQ(bench.runs(), "[120,120) n1:1");
}

TEST(ObserverRequeue, ACompletingRequeueOfARunThatWasNeverSeen) {
  Bench bench;
  const JobRecord completing = completing_requeue(100, 120);
  bench.see(completing, 150);
  EXPECT_EQ(bench.runs(), "[120,149) n1:1");
}

// slurmctld was killed, forgot the start at 120 and started the job anew at 144; that run is being requeued when it is
// seen.
TEST(ObserverRequeue, ARunThatSlurmctldForgotDoesNotEndWithTheNextOne) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(completing_requeue(100, 144), 150);
  EXPECT_EQ(bench.runs(), "[144,149) n1:1");
  EXPECT_FALSE(bench.anything_open());
}

// The requeue of the first run was not seen, but its submit time says when it was.
TEST(ObserverRequeue, ARequeueThatIsUnderWayEndsNoRunBeforeTheRequeueBeforeIt) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(completing_requeue(140, 144), 150);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1; [144,149) n1:1");
}

TEST(ObserverRequeue, TheNextStartEndsARunWhoseRequeueWasNotSeen) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord next = running(280);
  next.submit_time = 155;
  next.restart_count = 1;
  bench.see(next, 281);
  expect_requeued(bench, "[120,155) n1:1; [280,...) n1:1");
}

// Runs from 120 to 130, and since 140.
void requeue_and_start_again(Bench& bench) {
  bench.see(running(120), 121);
  bench.see(pending_again(130), 131);
  JobRecord again = submitted(130, running(140));
  again.restart_count = 1;
  bench.see(again, 141);
}

// Killed before it saved the requeue, slurmctld has the first run again.
TEST(ObserverRequeue, WhenSlurmctldGoesBackToAnEarlierRunTheLaterOneIsTakenBack) {
  Bench bench;
  requeue_and_start_again(bench);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [140,...) n1:1");

  EXPECT_TRUE(bench.see(running(120), 139).events.empty()) << "an older record is no news";
  const Observation same_second = bench.see(running(120), 140);
  EXPECT_TRUE(same_second.events.empty());
  EXPECT_TRUE(same_second.unsettled);

  const Observation back = bench.see(running(120), 145);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(back), 1U);
  EXPECT_EQ(back.warnings.size(), 1U);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [130,...) n1:1");
  bench.see(ended(120, 170), 171);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [130,170) n1:1");
  EXPECT_FALSE(bench.anything_open());
}

TEST(ObserverRequeue, ALaterRunIsTakenBackByTheEndOfTheEarlierOneToo) {
  Bench bench;
  requeue_and_start_again(bench);
  bench.see(ended(120, 170), 171);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [130,170) n1:1");
  EXPECT_FALSE(bench.anything_open());
}

}  // namespace
}  // namespace shapley::daemon
