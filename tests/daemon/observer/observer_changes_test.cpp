// What is told of a job that somebody moved or renamed, or that became the last task of its array.
#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::JobChanged;
using protocol::JobRecord;
using protocol::JobState;

const JobChanged& only_change(const Observation& seen) {
  EXPECT_EQ(count_of<JobChanged>(seen), 1U);
  for (const accounting::Event& event : seen.events) {
    if (const auto* change = std::get_if<JobChanged>(&event)) return *change;
  }
  static const JobChanged none;
  return none;
}

TEST(ObserverChanges, AnotherAccountIsToldWithItsOrganization) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = waiting();
  moved.account = "other";
  const JobChanged change = only_change(bench.see(moved, 110));
  EXPECT_EQ(change.job.value, 7U);
  EXPECT_EQ(change.submit.value, 100);
  EXPECT_EQ(change.at.value, 110);
  EXPECT_EQ(change.account, "other");
  EXPECT_EQ(change.organization, accounting::k_guests);
  EXPECT_EQ(bench.state.find_job({7})->organization, accounting::k_guests);

  EXPECT_TRUE(bench.see(moved, 110).events.empty()) << "again";
  EXPECT_TRUE(bench.see(moved, 150).events.empty()) << "nothing new";
  const Observation old = bench.see(waiting(), 104);
  EXPECT_EQ(count_of<JobChanged>(old), 0U) << "a record from before the change";
  EXPECT_EQ(only_change(bench.see(waiting(), 160)).account, "phys") << "and back";
}

TEST(ObserverChanges, ASecondChangeWithinOneSecondIsToldLater) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = waiting();
  moved.account = "other";
  bench.see(moved, 110);
  moved.account = "third";
  const Observation seen = bench.see(moved, 110);
  EXPECT_EQ(count_of<JobChanged>(seen), 0U);
  EXPECT_TRUE(seen.unsettled);
  EXPECT_EQ(only_change(bench.see(moved, 111)).account, "third");
}

// Moved and started between two scans.
TEST(ObserverChanges, AMoveIsToldOfAJobThatRunsAlready) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = running(109);
  moved.account = "other";
  EXPECT_EQ(only_change(bench.see(moved, 110)).organization, accounting::k_guests);
  EXPECT_TRUE(bench.see(moved, 111).events.empty());
}

// Other rules by now; the run stays whose it is.
TEST(ObserverChanges, ARunKeepsItsOrganization) {
  Bench bench;
  bench.see(running(109), 110);
  JobRecord renamed = running(109);
  renamed.name = "again";
  renamed.account = "other";
  const JobChanged change = only_change(bench.see(renamed, 120));
  EXPECT_EQ(change.name, "again");
  EXPECT_EQ(change.organization, "physics");
}

TEST(ObserverChanges, TheLastTaskOfAnArrayIsNamedWhenItStarts) {
  Bench bench;
  JobRecord rest = waiting();
  rest.array_job_id = 7;
  rest.pending_tasks = 1;
  rest.partition = "batch,long";
  bench.see(rest, 104);
  JobRecord last = running(109);
  last.array_job_id = 7;
  last.array_task_id = 10;
  last.partition = "long";
  const JobChanged change = only_change(bench.see(last, 110));
  EXPECT_EQ(change.array_job, 7U);
  EXPECT_EQ(change.array_task, 10U);
  EXPECT_EQ(change.partition, "long");
  last.state = JobState::ended;
  last.end_time = 130;
  EXPECT_EQ(count_of<JobChanged>(bench.see(last, 131)), 0U);
}

TEST(ObserverChanges, AResubmissionIsDescribedAnewAndIsNoChange) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord again = pending_again(150);
  again.account = "other";
  EXPECT_EQ(count_of<JobChanged>(bench.see(again, 152)), 0U);
  JobRecord next = running(280);
  next.submit_time = 150;
  next.account = "other";
  const Observation seen = bench.see(next, 281);
  EXPECT_EQ(count_of<accounting::JobDescribed>(seen), 1U);
  EXPECT_EQ(count_of<JobChanged>(seen), 0U);
}

}  // namespace
}  // namespace shapley::daemon
