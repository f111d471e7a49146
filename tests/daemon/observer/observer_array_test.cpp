// Waiting of job arrays: one record for the tasks that wait, one for each that started.
#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobRecord;
using protocol::JobState;
using protocol::WaitReason;

// The pending tasks of array 7, two processors each.
JobRecord rest_of(std::uint32_t tasks) {
  JobRecord r = waiting();
  r.array_job_id = 7;
  r.pending_tasks = tasks;
  r.requested_cpus = 2;
  return r;
}

JobRecord task(std::uint32_t number, std::int64_t start) {
  JobRecord r = running(start);
  r.job_id = 7 + number;
  r.array_job_id = 7;
  r.array_task_id = number;
  r.requested_cpus = 2;
  r.nodes = {{"n1", 2}};
  return r;
}

TEST(ObserverArray, ItsRestAsksForItsTasks) {
  Bench bench;
  bench.see(rest_of(10), 104);
  EXPECT_EQ(bench.waits(), "[100,...) 20");
}

TEST(ObserverArray, TasksThatStartWereNotWithdrawn) {
  Bench bench;
  bench.see(rest_of(10), 104);
  // The record of the array first: the runs that explain it come later.
  const Observation shrunk = bench.see(rest_of(7), 110);
  EXPECT_TRUE(shrunk.unsettled);
  for (std::uint32_t i = 1; i <= 3; ++i) bench.see(task(i, 109), 110);
  EXPECT_TRUE(bench.see(rest_of(7), 111).events.empty());
  EXPECT_EQ(bench.waits(), "[100,110) 20; [110,...) 14");
}

TEST(ObserverArray, TasksThatWereCancelledAreTakenBackOneObservationLater) {
  Bench bench;
  bench.see(rest_of(10), 104);
  bench.see(task(1, 109), 110);
  EXPECT_TRUE(bench.see(rest_of(4), 110).unsettled);
  EXPECT_EQ(bench.waits(), "[100,110) 20; [110,...) 8");
  EXPECT_FALSE(bench.see(rest_of(4), 111).unsettled);
  EXPECT_EQ(bench.waits(), "[100,110) 10; [110,...) 8");
}

TEST(ObserverArray, ACancelledRestKeepsWhatStarted) {
  Bench bench;
  bench.see(rest_of(10), 104);
  bench.see(task(1, 109), 110);
  bench.see(rest_of(9), 110);
  bench.see(task(2, 119), 120);
  JobRecord cancelled = rest_of(9);
  cancelled.state = JobState::ended;
  cancelled.end_time = 119;
  EXPECT_TRUE(bench.see(cancelled, 120).unsettled);
  EXPECT_FALSE(bench.see(cancelled, 121).unsettled);
  EXPECT_EQ(bench.waits(), "[100,110) 4; [110,119) 2");
  EXPECT_TRUE(bench.see(cancelled, 122).events.empty());
}

TEST(ObserverArray, AHeldRestKeepsWhatStarted) {
  Bench bench;
  bench.see(rest_of(3), 104);
  bench.see(task(1, 109), 110);
  JobRecord aside = rest_of(2);
  aside.wait = WaitReason::held;
  EXPECT_TRUE(bench.see(aside, 110).unsettled);
  bench.see(aside, 111);
  EXPECT_EQ(bench.waits(), "[100,110) 2");
}

TEST(ObserverArray, ItsLastTaskIsTheRecordOfTheArray) {
  Bench bench;
  bench.see(rest_of(10), 104);
  bench.see(task(1, 109), 110);
  JobRecord last = task(2, 109);
  last.job_id = 7;
  EXPECT_TRUE(bench.see(last, 110).unsettled);
  EXPECT_EQ(bench.waits(), "[100,109) 20");
  bench.see(last, 111);
  EXPECT_EQ(bench.waits(), "[100,109) 4") << "eight of ten never started";
  EXPECT_TRUE(bench.see(last, 112).events.empty());
}

TEST(ObserverArray, ATaskThatWaitsByItselfHasLeftTheRest) {
  Bench bench;
  bench.see(rest_of(2), 104);
  JobRecord split = waiting();
  split.job_id = 8;
  split.array_job_id = 7;
  split.array_task_id = 1;
  split.requested_cpus = 2;
  bench.see(rest_of(1), 110);
  bench.see(split, 110);
  EXPECT_EQ(bench.state.find_segment({accounting::SegmentKind::wait, JobId{8}, Instant{100}, 0})->opened.processors,
            MicroProcessors{2 * k_micro});
  bench.see(rest_of(1), 112);
  EXPECT_EQ(bench.waits(), "[100,110) 2; [110,...) 2");
  bench.see(task(1, 119), 120);
  JobRecord cancelled = rest_of(1);
  cancelled.state = JobState::ended;
  cancelled.end_time = 130;
  bench.see(cancelled, 131);
  bench.see(cancelled, 132);
  EXPECT_EQ(bench.waits(), "");
}

TEST(ObserverArray, ALimitOfItsOwnIsNoWithdrawal) {
  Bench bench;
  // Four may run at once. One starts, ends, and another starts.
  bench.see(rest_of(4), 104);
  bench.see(task(1, 109), 110);
  bench.see(rest_of(3), 110);
  JobRecord over = task(1, 109);
  over.state = JobState::ended;
  over.end_time = 119;
  bench.see(over, 120);
  bench.see(rest_of(4), 120);
  bench.see(task(2, 129), 130);
  bench.see(rest_of(3), 130);
  EXPECT_TRUE(bench.see(rest_of(3), 131).events.empty());
  EXPECT_EQ(bench.waits(), "[100,110) 8; [110,120) 6; [120,130) 8; [130,...) 6");
}

TEST(ObserverArray, OneThatIsGoneKeepsTheWaitsAfterWhichTasksStarted) {
  Bench bench;
  bench.see(rest_of(3), 104);
  bench.see(task(1, 109), 110);
  bench.see(rest_of(2), 110);
  bench.see_gone(7, 120);
  EXPECT_EQ(bench.waits(), "[100,110) 6");
}

}  // namespace
}  // namespace shapley::daemon
