// Since when Slurm could have started a run (SegmentOpened::released), and under which job its wait is booked.
#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobRecord;
using protocol::JobState;
using protocol::WaitReason;

// Of all segments of the job's runs, in the order in which they were told: "120 since 100", "129 since 100 as 7",
// "150".
std::string releases(const Bench& bench, std::uint32_t job = 7) {
  std::string text;
  for (const accounting::Event& event : bench.history) {
    const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
    if (opened == nullptr || opened->key.kind == accounting::SegmentKind::wait || opened->key.job.value != job)
      continue;
    text += (text.empty() ? "" : "; ") + std::to_string(opened->begin.value);
    if (opened->released) text += " since " + std::to_string(opened->released->value);
    if (opened->waited_as.value != 0) text += " as " + std::to_string(opened->waited_as.value);
  }
  return text;
}

JobRecord eligible(std::int64_t at, JobRecord r) {
  r.eligible_time = at;
  return r;
}

TEST(ObserverRelease, AJobThatWaitedWasReleasedWhenItsWaitBegan) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 122);
  EXPECT_EQ(releases(bench), "120 since 100");
}

TEST(ObserverRelease, AStartThatSlurmMovedIsOfTheSameRequest) {
  // Its nodes booted from 120 to 180; two partitions were asked for, and the record of the run names one.
  Bench bench;
  JobRecord asked = waiting();
  asked.partition = "big,small";
  bench.see(asked, 104);
  JobRecord booting = running(120);
  booting.partition = "small";
  bench.see(booting, 122, 104);
  JobRecord up = running(180);
  up.partition = "small";
  const Observation seen = bench.see(up, 181, 180);
  EXPECT_EQ(releases(bench), "120 since 100; 180 since 100");
  ASSERT_EQ(count_of<accounting::SegmentOpened>(seen), 1U);
  for (const accounting::Event& event : seen.events) {
    const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
    if (opened != nullptr) {
      EXPECT_EQ(opened->placement, "partition=big,small");
    }
  }
}

TEST(ObserverRelease, TheWaitThatIsBookedSaysMoreThanSlurmsRecord) {
  Bench bench;
  JobRecord held = waiting();
  held.wait = WaitReason::held;
  bench.see(held, 104);
  // The record says eligible since 100, but the books knew it to be held at 110.
  bench.see(waiting(), 130, 110);
  bench.see(running(140), 141, 140);
  EXPECT_EQ(releases(bench), "140 since 130");
}

TEST(ObserverRelease, AWaitOfSeveralAmountsBeganWithTheFirst) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord more = waiting();
  more.requested_cpus = 3;
  bench.see(more, 110, 104);
  ASSERT_EQ(bench.waits(), "[100,110) 1; [110,...) 3");
  bench.see(running(120), 122);
  EXPECT_EQ(releases(bench), "120 since 100");
}

TEST(ObserverRelease, AJobThatStartedAtOnceHasSlurmsWord) {
  Bench bench;
  bench.see(eligible(117, running(120)), 122);
  EXPECT_EQ(releases(bench), "120 since 117");
}

TEST(ObserverRelease, AJobThatIsEligibleBeforeItIsSubmittedWasReleasedThen) {
  Bench bench;
  JobRecord r = eligible(90, running(120));
  r.submit_time = 110;
  bench.see(r, 122);
  EXPECT_EQ(releases(bench), "120 since 110");
}

TEST(ObserverRelease, AHeldJobIsReleasedWhenItBecameEligible) {
  Bench bench;
  JobRecord held = eligible(0, waiting());
  held.wait = WaitReason::held;
  bench.see(held, 104);
  bench.see(eligible(115, running(120)), 122, 104);
  EXPECT_EQ(releases(bench), "120 since 115");
}

// Slurm says nothing of limits in the time from which a job is eligible.
TEST(ObserverRelease, AJobThatCouldNotStartForALimitWasReleasedAfterTheLastScanThatSawIt) {
  Bench bench;
  JobRecord limited = eligible(100, waiting());
  limited.wait = WaitReason::account_limit;
  bench.see(limited, 104);
  bench.see(eligible(100, running(120)), 122, 118);
  EXPECT_EQ(releases(bench), "120 since 118");
}

TEST(ObserverRelease, NoRunBeginsBeforeItsRelease) {
  Bench bench;
  bench.see(eligible(150, running(120)), 122);
  EXPECT_EQ(releases(bench), "120 since 120");
}

TEST(ObserverRelease, WhatSlurmDoesNotSayIsNotSaid) {
  Bench bench;
  bench.see(eligible(0, running(120)), 122);
  EXPECT_EQ(releases(bench), "120");
}

TEST(ObserverRelease, WhatIsOlderThanTheBooksMemoryIsFromItsBeginOn) {
  Bench bench;
  constexpr std::int64_t k_now = 1'000'000;
  bench.state.advance(Instant{k_now});
  bench.state.compact();
  const Instant horizon = bench.state.horizon();
  ASSERT_GT(horizon.value, 100);
  bench.see(running(k_now - 5), k_now);
  EXPECT_EQ(releases(bench), std::to_string(k_now - 5) + " since " + std::to_string(horizon.value));
}

TEST(ObserverRelease, AWaitThatTheBooksRememberIsNeverTooOld) {
  Bench bench;
  bench.see(waiting(), 104);
  constexpr std::int64_t k_now = 1'000'000;
  bench.state.advance(Instant{k_now});
  bench.state.compact();
  bench.see(running(k_now - 5), k_now, k_now - 6);
  EXPECT_EQ(releases(bench), std::to_string(k_now - 5) + " since 100");
}

TEST(ObserverRelease, AWaitOfAnotherOrganizationIsNotTheRuns) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = eligible(110, running(120));
  moved.account = "nobody's";
  bench.see(moved, 122);
  EXPECT_EQ(releases(bench), "120 since 110");
}

TEST(ObserverRelease, ARequeuedJobHasANewOne) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  bench.see(pending_again(150), 152);
  JobRecord again = eligible(160, running(170));
  again.submit_time = 150;
  again.restart_count = 1;
  bench.see(again, 171);
  EXPECT_EQ(releases(bench), "120 since 100; 170 since 160");
}

TEST(ObserverRelease, ARequeuedJobThatWaitedAgainHasTheNewWait) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  bench.see(pending_again(150), 152);
  JobRecord startable = eligible(160, pending_again(150));
  startable.wait = WaitReason::startable;
  bench.see(startable, 162, 152);
  ASSERT_EQ(bench.waits(), "[100,120) 1; [160,...) 1");
  JobRecord again = startable;
  again.state = JobState::running;
  again.start_time = 170;
  again.nodes = {{"n1", 1}};
  bench.see(again, 171, 162);
  EXPECT_EQ(releases(bench), "120 since 100; 170 since 160");
}

TEST(ObserverRelease, ARunThatGoesOnIsReleasedAsItGoesOn) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 122);
  bench.see(suspended(120, 140, 20), 141);
  bench.see(flipped(running(120), 160, 20), 161);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1; [160,...) n1:1");
  JobRecord resized = flipped(running(120), 160, 20);
  resized.nodes = {{"n1", 1}, {"n2", 1}};
  resized.resize_time = 180;
  bench.see(resized, 181);
  EXPECT_EQ(releases(bench), "120 since 100; 160; 180");
}

TEST(ObserverRelease, ARunWhoseSuspensionsWereNotSeenBeganWithItsFirstSegment) {
  Bench bench;
  bench.see(flipped(eligible(110, running(120)), 160, 20), 161);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1; [160,...) n1:1");
  EXPECT_EQ(releases(bench), "120 since 110; 160");
}

TEST(ObserverRelease, WhatIsStatedAgainOfARunsBeginHasItToo) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 122);
  bench.see(ended(120, 150), 151);
  // slurmctld, killed, went back to a state in which the run had ended before.
  bench.see(ended(120, 140), 160);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1");
  EXPECT_EQ(releases(bench), "120 since 100; 120 since 100");
}

TEST(ObserverRelease, TasksOfAnArrayWaitedAsItsRecord) {
  const auto rest_of = [](std::uint32_t tasks) {
    JobRecord r = waiting();
    r.array_job_id = 7;
    r.pending_tasks = tasks;
    return r;
  };
  const auto task = [](std::uint32_t number, std::int64_t start) {
    JobRecord r = running(start);
    r.job_id = 7 + number;
    r.array_job_id = 7;
    r.array_task_id = number;
    return r;
  };
  Bench bench;
  // One at once, of which nothing was seen before.
  bench.see(task(1, 101), 102);
  EXPECT_EQ(releases(bench, 8), "101 since 100 as 7");
  bench.see(rest_of(3), 104);
  bench.see(task(2, 109), 110, 104);
  bench.see(rest_of(2), 110, 104);
  // The record that shrank came first.
  bench.see(rest_of(1), 120, 110);
  bench.see(task(3, 119), 120, 110);
  JobRecord last = task(4, 129);
  last.job_id = 7;
  bench.see(last, 130, 120);
  EXPECT_EQ(releases(bench, 9), "109 since 100 as 7");
  EXPECT_EQ(releases(bench, 10), "119 since 100 as 7");
  EXPECT_EQ(releases(bench, 7), "129 since 100") << "the last task runs under the array's number";
}

TEST(ObserverRelease, ATaskThatWaitsByItselfWaitsAsItsArray) {
  Bench bench;
  JobRecord split = waiting();
  split.job_id = 8;
  split.array_job_id = 7;
  split.array_task_id = 1;
  bench.see(split, 104);
  const accounting::LiveSegment* wait =
      bench.state.find_segment({accounting::SegmentKind::wait, JobId{8}, Instant{100}, 0});
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->opened.waited_as, JobId{7});
  JobRecord started = running(120);
  started.job_id = 8;
  started.array_job_id = 7;
  started.array_task_id = 1;
  bench.see(started, 122);
  EXPECT_EQ(releases(bench, 8), "120 since 100 as 7");
}

}  // namespace
}  // namespace shapley::daemon
