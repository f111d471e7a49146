// The loop on the jobs of an organization; the expected fractions are worked out by hand.
#include "workflow/tracker.hpp"

#include <gtest/gtest.h>

namespace shapley::workflow {
namespace {

constexpr Instant k_now{10'000};

Job pending(std::uint32_t id, const std::string& name, std::int64_t submit = 1000) {
  Job job;
  job.id = id;
  job.state = Job::State::eligible;
  job.submit = Instant{submit};
  job.name = name;
  return job;
}

Job running(std::uint32_t id, const std::string& name, std::int64_t since) {
  Job job = pending(id, name);
  job.state = Job::State::running;
  job.run_since = Instant{since};
  return job;
}

FinishedRun run_of(std::uint32_t job, std::int64_t end, std::int64_t length) {
  return {job, Instant{end - length}, Instant{end}, Duration{length}};
}

const WorkflowView* find(const Cycle& cycle, const std::string& name) {
  for (const WorkflowView& view : cycle.workflows)
    if (view.name == name) return &view;
  ADD_FAILURE() << "no workflow " << name;
  return nullptr;
}

// a-*: one runs, one waits; b-*: four wait.
Tracker two_workflows() {
  Tracker tracker({});
  tracker.observe(running(1, "a-1", 9'900));
  tracker.observe(pending(2, "a-2"));
  for (std::uint32_t id = 11; id <= 14; ++id) tracker.observe(pending(id, "b-" + std::to_string(id)));
  return tracker;
}

TEST(Tracker, TheWorkflowThatIsBehindIsRaised) {
  Tracker tracker = two_workflows();
  const Cycle cycle = tracker.cycle(k_now);
  // W(a) = 1 / 2, W(b) = 1, eta = 1/2 > 1/5. Delta of b: 4 - floor((1/2 + 1/5) 4) = 2.
  EXPECT_EQ(cycle.degree, Fraction(1, 2));
  EXPECT_TRUE(cycle.unfair);
  EXPECT_TRUE(find(cycle, "name a")->raised.empty());
  const WorkflowView* b = find(cycle, "name b");
  EXPECT_EQ(b->activities.at(0).delta, 2);
  // Bands of 0.3 / 15 above 0.7: the first task leaves w = 1, the second 3/4, which is 2.5 bands.
  EXPECT_EQ(b->raised, (std::vector<RaisedJob>{{11, 15}, {12, 3}}));
}

TEST(Tracker, WithinTheThresholdNoneIsRaised) {
  Tracker tracker({.threshold_ppm = 500'000});
  tracker.observe(running(1, "a-1", 9'900));
  tracker.observe(pending(2, "a-2"));
  tracker.observe(pending(11, "b-1"));
  const Cycle cycle = tracker.cycle(k_now);
  EXPECT_EQ(cycle.degree, Fraction(1, 2));
  EXPECT_FALSE(cycle.unfair);
  EXPECT_TRUE(find(cycle, "name b")->raised.empty());
}

TEST(Tracker, OnlyEligibleJobsCountAndAreRaised) {
  Tracker tracker = two_workflows();
  for (std::uint32_t id = 11; id <= 13; ++id) {
    Job held = pending(id, "b-" + std::to_string(id));
    held.state = Job::State::blocked;
    tracker.observe(held);
  }
  const Cycle cycle = tracker.cycle(k_now);
  const WorkflowView* b = find(cycle, "name b");
  EXPECT_EQ(b->activities.at(0).waiting, 1);
  EXPECT_EQ(b->jobs.blocked, 3U);
  EXPECT_EQ(b->raised, (std::vector<RaisedJob>{{14, 15}}));
}

TEST(Tracker, TheOldestGoFirstAndTheIdBreaksTies) {
  Tracker tracker({});
  tracker.observe(running(1, "a-1", 9'900));
  tracker.observe(pending(11, "b-1", 300));
  tracker.observe(pending(12, "b-2", 200));
  tracker.observe(pending(10, "b-3", 300));
  const Cycle cycle = tracker.cycle(k_now);
  // W_min = 0: Delta = 3 - floor(3/5) = 3; w = 1, 2/3, 1/3 in bands of 0.8 / 15 above 0.2: 15, 8.75, 2.5.
  EXPECT_EQ(find(cycle, "name b")->raised, (std::vector<RaisedJob>{{12, 15}, {10, 9}, {11, 3}}));
}

TEST(Tracker, TasksCountInProcessorsAndAnArraysRestIsRaisedAsAWhole) {
  Tracker tracker({});
  tracker.observe(running(1, "a-1", 9'900));
  Job wide = pending(11, "b-1", 100);
  wide.processors = 6;
  tracker.observe(wide);
  Job narrow = pending(12, "b-2", 200);
  narrow.processors = 2;
  tracker.observe(narrow);
  const Cycle cycle = tracker.cycle(k_now);
  // Delta = 8 - floor(0.2 8) = 7 processors: the wide job is 6 of them, so the narrow one goes as well.
  EXPECT_EQ(find(cycle, "name b")->activities.at(0).delta, 7);
  EXPECT_EQ(find(cycle, "name b")->raised.size(), 2U);
}

TEST(Tracker, RunsTeachTheMedianAndALongRunLowersP) {
  Tracker tracker = two_workflows();
  tracker.remember(pending(5, "a-5"), run_of(5, 9'000, 50));
  tracker.remember(pending(6, "a-6"), run_of(6, 9'100, 10));
  tracker.remember(pending(6, "a-6"), run_of(6, 9'100, 10));  // the same run twice
  const Cycle cycle = tracker.cycle(k_now);
  const ActivityView& a = find(cycle, "name a")->activities.at(0);
  EXPECT_EQ(a.jobs.finished, 2U);
  EXPECT_EQ(a.median, Fraction(50));  // the upper one
  // It runs for 100 s: P = 2 (1 - 100 / 150) = 2/3, w = 1 / (1 + 2/3) = 3/5.
  EXPECT_EQ(a.performance, Fraction(2, 3));
  EXPECT_EQ(a.pending, Fraction(3, 5));
}

TEST(Tracker, ASuspendedRunDoesNotAge) {
  Tracker tracker = two_workflows();
  Job suspended = running(1, "a-1", 0);
  suspended.run_since = std::nullopt;
  suspended.run_before = Duration{100};
  tracker.observe(suspended);
  tracker.remember(pending(5, "a-5"), run_of(5, 9'000, 50));
  tracker.remember(pending(6, "a-6"), run_of(6, 9'100, 10));
  EXPECT_EQ(find(tracker.cycle(k_now), "name a")->activities.at(0).performance, Fraction(2, 3));
  EXPECT_EQ(find(tracker.cycle(k_now + Duration{1000}), "name a")->activities.at(0).performance, Fraction(2, 3));
}

TEST(Tracker, AForgottenJobIsGone) {
  Tracker tracker = two_workflows();
  for (const std::uint32_t id : tracker.jobs()) tracker.forget(id);
  tracker.forget(99);
  EXPECT_TRUE(tracker.jobs().empty());
  EXPECT_TRUE(tracker.cycle(k_now).workflows.empty());
}

TEST(Tracker, JobsTiedByDependenciesAreAWorkflowAndKeepWhatTheirRunsTaught) {
  Tracker tracker({.workflow_key = {KeyRule::dependency}, .activity_key = {}});
  tracker.observe(running(20, "x", 9'000));
  Job next = pending(30, "x");
  next.state = Job::State::blocked;
  next.depends_on = {20};
  tracker.observe(next);
  tracker.remember(pending(20, "x"), run_of(20, 9'500, 40));
  tracker.forget(20);
  next.state = Job::State::eligible;
  next.depends_on = {};
  tracker.observe(next);
  // A job that ties itself to both of two workflows makes them one, with one history.
  tracker.observe(pending(10, "x"));
  Job both = pending(40, "x");
  both.depends_on = {10, 30};
  tracker.observe(both);
  const Cycle cycle = tracker.cycle(k_now);
  ASSERT_EQ(cycle.workflows.size(), 1U);
  EXPECT_EQ(cycle.workflows[0].name, "job 10");
  EXPECT_EQ(cycle.workflows[0].jobs.finished, 1U);
  EXPECT_EQ(cycle.workflows[0].jobs.eligible, 3U);
}

TEST(Tracker, TasksOfAnArrayAreTiedThroughTheArray) {
  Tracker tracker({.workflow_key = {KeyRule::dependency}, .activity_key = {}});
  Job task = running(51, "x", 9'000);
  task.array_job = 50;
  tracker.observe(task);
  Job rest = pending(50, "x");
  rest.array_job = 50;
  tracker.observe(rest);
  Job after = pending(60, "y");
  after.depends_on = {50};
  tracker.observe(after);
  ASSERT_EQ(tracker.cycle(k_now).workflows.size(), 1U);
  tracker.forget(51);
  tracker.forget(50);
  EXPECT_EQ(tracker.cycle(k_now).workflows.at(0).name, "job 50");
}

TEST(Tracker, WhatIsRememberedIsBounded) {
  Tracker tracker({});
  for (std::uint32_t i = 1; i <= 3 * Tracker::k_max_runs; ++i)
    tracker.remember(pending(i, "a-1"), run_of(i, 1000 + i, 5));
  tracker.observe(pending(9999, "a-2"));
  EXPECT_EQ(find(tracker.cycle(k_now), "name a")->jobs.finished, Tracker::k_max_runs);
  // Jobs by themselves teach nothing that a later job could use.
  tracker.remember(pending(7, "alone"), run_of(7, 2000, 5));
  tracker.observe(pending(7, "alone"));
  EXPECT_EQ(find(tracker.cycle(k_now), "job 7")->jobs.finished, 0U);
}

TEST(Tracker, AnActivityWithoutAJobIsForgottenAfterADay) {
  Tracker tracker({});
  tracker.remember(pending(1, "a-1"), run_of(1, 9'000, 5));
  const Instant later = Instant{9'000} + Tracker::k_keep_idle;
  (void)tracker.cycle(later - Duration{1});
  tracker.observe(pending(2, "a-2"));
  EXPECT_EQ(find(tracker.cycle(later), "name a")->jobs.finished, 1U);  // it has a job again
  tracker.forget(2);
  (void)tracker.cycle(later + Duration{61});
  tracker.observe(pending(2, "a-2"));
  EXPECT_EQ(find(tracker.cycle(later + Duration{62}), "name a")->jobs.finished, 0U);
}

}  // namespace
}  // namespace shapley::workflow
