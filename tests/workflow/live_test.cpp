// The loop on an organization's live jobs; the expected fractions are worked out by hand.
#include "workflow/live.hpp"

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
Live two_workflows() {
  Live live({});
  live.observe(running(1, "a-1", 9'900));
  live.observe(pending(2, "a-2"));
  for (std::uint32_t id = 11; id <= 14; ++id) live.observe(pending(id, "b-" + std::to_string(id)));
  return live;
}

TEST(Live, TheWorkflowThatIsBehindIsRaised) {
  Live live = two_workflows();
  const Cycle cycle = live.cycle(k_now);
  // W(a) = 1 / 2, W(b) = 1, eta = 1/2 > 1/5. Delta of b: 4 - floor((1/2 + 1/5) 4) = 2.
  EXPECT_EQ(cycle.degree, Fraction(1, 2));
  EXPECT_TRUE(cycle.unfair);
  EXPECT_TRUE(find(cycle, "name a")->raised.empty());
  const WorkflowView* b = find(cycle, "name b");
  EXPECT_EQ(b->activities.at(0).delta, 2);
  // Bands of 0.3 / 15 above 0.7: the first task leaves w = 1, the second 3/4, which is 2.5 bands.
  EXPECT_EQ(b->raised, (std::vector<JobLevel>{{11, 15}, {12, 3}}));
}

TEST(Live, WithinTheThresholdNobodyIsRaised) {
  Live live({.threshold_ppm = 500'000});
  live.observe(running(1, "a-1", 9'900));
  live.observe(pending(2, "a-2"));
  live.observe(pending(11, "b-1"));
  const Cycle cycle = live.cycle(k_now);
  EXPECT_EQ(cycle.degree, Fraction(1, 2));
  EXPECT_FALSE(cycle.unfair);
  EXPECT_TRUE(find(cycle, "name b")->raised.empty());
}

TEST(Live, OnlyEligibleJobsCountAndAreRaised) {
  Live live = two_workflows();
  for (std::uint32_t id = 11; id <= 13; ++id) {
    Job held = pending(id, "b-" + std::to_string(id));
    held.state = Job::State::blocked;
    live.observe(held);
  }
  const Cycle cycle = live.cycle(k_now);
  const WorkflowView* b = find(cycle, "name b");
  EXPECT_EQ(b->activities.at(0).waiting, 1);
  EXPECT_EQ(b->jobs.blocked, 3U);
  EXPECT_EQ(b->raised, (std::vector<JobLevel>{{14, 15}}));
}

TEST(Live, TheOldestGoFirstAndTheIdBreaksTies) {
  Live live({});
  live.observe(running(1, "a-1", 9'900));
  live.observe(pending(11, "b-1", 300));
  live.observe(pending(12, "b-2", 200));
  live.observe(pending(10, "b-3", 300));
  const Cycle cycle = live.cycle(k_now);
  // W_min = 0: Delta = 3 - floor(3/5) = 3; w = 1, 2/3, 1/3 in bands of 0.8 / 15 above 0.2: 15, 8.75, 2.5.
  EXPECT_EQ(find(cycle, "name b")->raised, (std::vector<JobLevel>{{12, 15}, {10, 9}, {11, 3}}));
}

TEST(Live, TasksCountInProcessorsAndAnArraysRestIsRaisedAsAWhole) {
  Live live({});
  live.observe(running(1, "a-1", 9'900));
  Job wide = pending(11, "b-1", 100);
  wide.processors = 6;
  live.observe(wide);
  Job narrow = pending(12, "b-2", 200);
  narrow.processors = 2;
  live.observe(narrow);
  const Cycle cycle = live.cycle(k_now);
  // Delta = 8 - floor(0.2 8) = 7 processors: the wide job is 6 of them, so the narrow one goes as well.
  EXPECT_EQ(find(cycle, "name b")->activities.at(0).delta, 7);
  EXPECT_EQ(find(cycle, "name b")->raised.size(), 2U);
}

TEST(Live, RunsTeachTheMedianAndALongRunLowersP) {
  Live live = two_workflows();
  live.remember(pending(5, "a-5"), run_of(5, 9'000, 50));
  live.remember(pending(6, "a-6"), run_of(6, 9'100, 10));
  live.remember(pending(6, "a-6"), run_of(6, 9'100, 10));  // told twice
  const Cycle cycle = live.cycle(k_now);
  const ActivityView& a = find(cycle, "name a")->activities.at(0);
  EXPECT_EQ(a.jobs.finished, 2U);
  EXPECT_EQ(a.median, Fraction(50));  // the upper one
  // It runs for 100 s: P = 2 (1 - 100 / 150) = 2/3, w = 1 / (1 + 2/3) = 3/5.
  EXPECT_EQ(a.performance, Fraction(2, 3));
  EXPECT_EQ(a.pending, Fraction(3, 5));
}

TEST(Live, ASuspendedRunDoesNotAge) {
  Live live = two_workflows();
  Job suspended = running(1, "a-1", 0);
  suspended.run_since = std::nullopt;
  suspended.run_before = Duration{100};
  live.observe(suspended);
  live.remember(pending(5, "a-5"), run_of(5, 9'000, 50));
  live.remember(pending(6, "a-6"), run_of(6, 9'100, 10));
  EXPECT_EQ(find(live.cycle(k_now), "name a")->activities.at(0).performance, Fraction(2, 3));
  EXPECT_EQ(find(live.cycle(k_now + Duration{1000}), "name a")->activities.at(0).performance, Fraction(2, 3));
}

TEST(Live, AForgottenJobIsGone) {
  Live live = two_workflows();
  for (const std::uint32_t id : live.jobs()) live.forget(id);
  live.forget(99);
  EXPECT_TRUE(live.jobs().empty());
  EXPECT_TRUE(live.cycle(k_now).workflows.empty());
}

TEST(Live, JobsTiedByDependenciesAreAWorkflowAndKeepWhatTheirRunsTaught) {
  Live live({.workflow_key = {KeyRule::dependency}, .activity_key = {}});
  live.observe(running(20, "x", 9'000));
  Job next = pending(30, "x");
  next.state = Job::State::blocked;
  next.depends_on = {20};
  live.observe(next);
  live.remember(pending(20, "x"), run_of(20, 9'500, 40));
  live.forget(20);
  next.state = Job::State::eligible;
  next.depends_on = {};
  live.observe(next);
  // A job that ties itself to both of two workflows makes them one, with one history.
  live.observe(pending(10, "x"));
  Job both = pending(40, "x");
  both.depends_on = {10, 30};
  live.observe(both);
  const Cycle cycle = live.cycle(k_now);
  ASSERT_EQ(cycle.workflows.size(), 1U);
  EXPECT_EQ(cycle.workflows[0].name, "job 10");
  EXPECT_EQ(cycle.workflows[0].jobs.finished, 1U);
  EXPECT_EQ(cycle.workflows[0].jobs.eligible, 3U);
}

TEST(Live, TasksOfAnArrayAreTiedThroughTheArray) {
  Live live({.workflow_key = {KeyRule::dependency}, .activity_key = {}});
  Job task = running(51, "x", 9'000);
  task.array_job = 50;
  live.observe(task);
  Job rest = pending(50, "x");
  rest.array_job = 50;
  live.observe(rest);
  Job after = pending(60, "y");
  after.depends_on = {50};
  live.observe(after);
  ASSERT_EQ(live.cycle(k_now).workflows.size(), 1U);
  live.forget(51);
  live.forget(50);
  EXPECT_EQ(live.cycle(k_now).workflows.at(0).name, "job 50");
}

TEST(Live, WhatIsRememberedIsBounded) {
  Live live({});
  for (std::uint32_t i = 1; i <= 3 * Live::k_max_runs; ++i) live.remember(pending(i, "a-1"), run_of(i, 1000 + i, 5));
  live.observe(pending(9999, "a-2"));
  EXPECT_EQ(find(live.cycle(k_now), "name a")->jobs.finished, Live::k_max_runs);
  // Jobs by themselves teach nothing that a later job could use.
  live.remember(pending(7, "alone"), run_of(7, 2000, 5));
  live.observe(pending(7, "alone"));
  EXPECT_EQ(find(live.cycle(k_now), "job 7")->jobs.finished, 0U);
}

TEST(Live, AnActivityWithoutAJobIsForgottenAfterADay) {
  Live live({});
  live.remember(pending(1, "a-1"), run_of(1, 9'000, 5));
  const Instant later = Instant{9'000} + Live::k_keep_idle;
  (void)live.cycle(later - Duration{1});
  live.observe(pending(2, "a-2"));
  EXPECT_EQ(find(live.cycle(later), "name a")->jobs.finished, 1U);  // it has a job again
  live.forget(2);
  (void)live.cycle(later + Duration{61});
  live.observe(pending(2, "a-2"));
  EXPECT_EQ(find(live.cycle(later + Duration{62}), "name a")->jobs.finished, 0U);
}

}  // namespace
}  // namespace shapley::workflow
