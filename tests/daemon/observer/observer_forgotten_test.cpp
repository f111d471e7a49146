// slurmctld was killed and went back to a state from before something that the books had seen.
#include <utility>

#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobRecord;
using protocol::JobState;

JobRecord on(decltype(JobRecord::nodes) nodes, JobRecord r) {
  r.nodes = std::move(nodes);
  return r;
}

TEST(ObserverForgotten, AResumeThatSlurmctldForgotIsTakenBackWhenTheRunEnds) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 133);
  bench.see(flipped(running(120), 150, 10), 151);
  const Observation seen = bench.see(flipped(ended(120, 130), 130, 10), 155);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 1U);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1");
  EXPECT_FALSE(bench.anything_open());
}

// slurmctld forgot the end, too: the job is back and runs on. The key of what was retracted is not used again.
TEST(ObserverForgotten, WhatRunsAfterAResumeWasTakenBackIsCounted) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 133);
  bench.see(flipped(running(120), 150, 10), 151);
  bench.see(flipped(ended(120, 130), 130, 10), 155);
  bench.see(flipped(ended(120, 170), 160, 10), 171);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [160,170) n1:1");
  EXPECT_EQ(bench.closed_run_seconds(), 20);
}

// Seen: ran to 140, suspended. Saved: suspended at 130. It is cancelled in that suspension.
TEST(ObserverForgotten, SecondsThatSlurmctldForgotAreTakenBack) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 140, 20), 141);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1");
  bench.see(suspended(120, 130, 10), 145);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1");
  EXPECT_TRUE(bench.see(flipped(ended(120, 130), 130, 10), 150).events.empty());
}

// Seen: suspended from 130 to 135 and again at 150. Saved: before the first resume; resumed at 145 anew.
TEST(ObserverForgotten, AResumeThatSlurmctldForgotIsTakenBackWhenTheJobIsResumedAnew) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 131);
  bench.see(flipped(running(120), 135, 10), 136);
  bench.see(suspended(120, 140, 15), 141);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [135,140) n1:1");
  bench.see(flipped(running(120), 145, 10), 146);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [145,...) n1:1");
  bench.see(flipped(ended(120, 160), 145, 10), 161);
  EXPECT_EQ(bench.closed_run_seconds(), 25);
}

// slurmctld, killed and back within a second, started the job anew in the second of the start that it forgot.
TEST(ObserverForgotten, ARunThatStartedAnewInTheSameSecondHoldsItsOwnNodes) {
  const JobRecord elsewhere = on({{"n2", 1}}, running(120));
  Bench bench;
  bench.see(running(120), 121);
  bench.see(elsewhere, 122);
  EXPECT_EQ(bench.runs(), "[120,...) n2:1");
  EXPECT_TRUE(bench.see(running(120), 121).events.empty()) << "an older record is no news";

  Bench late;
  late.see(running(120), 121);
  late.see(on(elsewhere.nodes, ended(120, 130)), 131);
  EXPECT_EQ(late.runs(), "[120,130) n2:1");
  EXPECT_FALSE(late.anything_open());
}

TEST(ObserverForgotten, ARunThatStartedAnewInTheSameSecondOnSomeOfTheSameNodesHoldsMoreOfThem) {
  const JobRecord anew = on({{"n3", 6}}, running(120));
  const JobRecord over = on(anew.nodes, ended(120, 126));
  for (const JobRecord& next : {anew, over}) {
    Bench bench;
    bench.see(on({{"n2", 2}, {"n3", 4}}, running(120)), 120);
    bench.see(next, 127);
    bench.see(over, 128);
    EXPECT_EQ(bench.runs(), "[120,126) n3:6");
  }
}

// Slurm may not know any more which CPUs of a finished run were on which node, once a node is gone from slurm.conf.
TEST(ObserverForgotten, AFinishedRunWhoseNodesHaveChangedPlacesIsStillTheSame) {
  Bench bench;
  bench.see(on({{"n2", 2}, {"n3", 4}}, running(120)), 121);
  bench.see(on({{"n2", 4}, {"n3", 2}}, ended(120, 126)), 127);
  EXPECT_EQ(bench.runs(), "[120,126) n2:2 n3:4");
}

TEST(ObserverForgotten, ARunThatLosesANodeWithoutAResizeIsStillTheSame) {
  Bench bench;
  bench.see(on({{"n1", 1}, {"n2", 1}}, running(120)), 121);
  const Observation seen = bench.see(running(120), 130);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 0U);
  EXPECT_EQ(bench.runs(), "[120,...) n1:1 n2:1");
}

TEST(ObserverForgotten, AStartThatSlurmctldForgotIsTakenBack) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord again = record_of(JobState::pending);
  again.wait = protocol::WaitReason::other;
  const Observation same_second = bench.see(again, 120);
  EXPECT_TRUE(same_second.unsettled);
  const Observation seen = bench.see(again, 130);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 1U);
  EXPECT_EQ(seen.warnings.size(), 1U);
  EXPECT_FALSE(bench.anything_open());
  EXPECT_EQ(bench.closed_run_seconds(), 0);
}

TEST(ObserverForgotten, ARunOfAJobThatSlurmctldForgotIsTakenBack) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(pending_again(150), 152);
  bench.see(running(280), 281);
  const Observation seen = bench.see_gone(7, 290, Departure::forgotten);
  EXPECT_EQ(bench.runs(), "[120,150) n1:1");  // an earlier run, which Slurm recorded, stays
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 1U);
  EXPECT_EQ(seen.warnings.size(), 1U);
  EXPECT_FALSE(bench.anything_open());
}

// slurmctld lost the state that it had saved. What began a few saves before it was seen last was in it.
TEST(ObserverForgotten, ARunThatSlurmctldHadSavedIsCountedUntilItWasSeenLast) {
  Bench bench;
  bench.see(running(120), 121);
  const Observation seen = bench.see_gone(7, 290, Departure::forgotten);
  EXPECT_EQ(bench.runs(), "[120,290) n1:1");
  EXPECT_EQ(seen.lost.closed, 1);
  EXPECT_EQ(seen.lost.retracted, 0);
  EXPECT_TRUE(seen.lost.closed_work == Int128{170 * k_micro});
  EXPECT_EQ(seen.warnings.size(), 1U);

  for (const std::int64_t age : {k_few_saves.value, k_few_saves.value + 1}) {
    Bench young;
    young.see(running(120), 121);
    const LostRuns lost = young.see_gone(7, 120 + age, Departure::forgotten).lost;
    EXPECT_EQ(lost.closed, age > k_few_saves.value ? 1 : 0) << age;
    EXPECT_EQ(lost.retracted, 1 - lost.closed) << age;
    EXPECT_TRUE(lost.closed_work + lost.retracted_work == Int128{age * k_micro}) << age;
  }
}

TEST(ObserverForgotten, ARunThatWasSavedCountsAlsoWhereItWasResumedRightBeforeTheLoss) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 131);
  bench.see(flipped(running(120), 285, 10), 286);
  const Observation seen = bench.see_gone(7, 290, Departure::forgotten);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [285,290) n1:1");
  EXPECT_TRUE(seen.lost.closed_work == Int128{15 * k_micro});
}

TEST(ObserverForgotten, AnotherJobWithTheNumberOfALostOneLeavesTheLostRunWhatWasSeenOfIt) {
  for (const bool waits : {true, false}) {
    JobRecord other = waits ? record_of(JobState::pending) : running(310);
    other.submit_time = 305;
    other.wait = protocol::WaitReason::other;
    Bench bench;
    bench.see(running(120), 121);
    const Observation seen = bench.see_back(other, 320, 290);
    EXPECT_EQ(bench.runs(), waits ? "[120,290) n1:1" : "[120,290) n1:1; [310,...) n1:1");
    EXPECT_EQ(seen.lost.closed, 1);
    Bench young;
    young.see(running(280), 281);
    EXPECT_EQ(young.see_back(other, 320, 290).lost.retracted, 1);
    EXPECT_EQ(young.runs(), waits ? "" : "[310,...) n1:1");
  }
}

// An old state was restored, in which the job still waited.
TEST(ObserverForgotten, ARunOfAJobThatWaitsAgainInAnOldStateIsCountedUntilItWasSeenLast) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord again = record_of(JobState::pending);
  again.wait = protocol::WaitReason::other;
  bench.see_back(again, 320, 290);
  EXPECT_EQ(bench.runs(), "[120,290) n1:1");
}

// Nodes that had to boot give the same job a later start: no loss, though shapleyd may just have begun.
TEST(ObserverForgotten, ALaterStartOfTheSameJobReplacesTheFirstOne) {
  Bench bench;
  bench.see(running(120), 121);
  const Observation seen = bench.see_back(running(300), 320, 290);
  EXPECT_EQ(bench.runs(), "[300,...) n1:1");
  EXPECT_FALSE(seen.lost.any());
}

TEST(ObserverForgotten, AnotherJobWithTheNumberOfAForgottenOneTakesItsRunBack) {
  for (const bool waits : {true, false}) {
    Bench bench;
    bench.see(running(120), 121);
    JobRecord other = waits ? record_of(JobState::pending) : running(160);
    other.submit_time = 150;
    other.wait = protocol::WaitReason::other;
    bench.see(other, 170);
    EXPECT_EQ(bench.runs(), waits ? "" : "[160,...) n1:1");
  }
}

}  // namespace
}  // namespace shapley::daemon
