#include "workload/window.hpp"

#include <gtest/gtest.h>

namespace shapley::workload {
namespace {

Trace small_trace() {
  Trace trace;
  trace.users = {"a", "b"};
  trace.groups = {"g"};
  trace.jobs = {{.id = 1, .submit = {5}, .run = {3}, .processors = 1, .user = 0, .group = 0},
                {.id = 2, .submit = {10}, .run = {4}, .processors = 3, .user = 1, .group = 0},
                {.id = 3, .submit = {19}, .run = {50}, .processors = 1, .user = 0, .group = 0},
                {.id = 4, .submit = {20}, .run = {1}, .processors = 1, .user = 1, .group = 0}};
  return trace;
}

TEST(CutWindow, TakesTheJobsOfTheStretchAsCopies) {
  const Trace trace = small_trace();
  const Assignment assignment{.organization = {1, 0}, .names = {}};
  const auto window = cut_window(trace, assignment, {2, 2}, {10}, {10});
  ASSERT_TRUE(window) << window.error().what;
  const scheduling::Instance& instance = window->instance;
  ASSERT_EQ(instance.jobs.size(), 4U);  // three copies of job 2, and job 3; job 4 comes at the end and is outside
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(instance.jobs[i].release.value, 0);
    EXPECT_EQ(instance.jobs[i].duration.value, 4);
    EXPECT_EQ(instance.jobs[i].organization, 0U);
  }
  EXPECT_EQ(instance.jobs[3].release.value, 9);
  EXPECT_EQ(instance.jobs[3].duration.value, 50);
  EXPECT_EQ(instance.jobs[3].organization, 1U);
  EXPECT_EQ(instance.end.value, 10);
  EXPECT_EQ(window->trace_job, (std::vector<std::uint32_t>{1, 1, 1, 2}));
}

TEST(CutWindow, LeavesRigidJobsWhole) {
  const Assignment assignment{.organization = {1, 0}, .names = {}};
  const auto window = cut_window(small_trace(), assignment, {2, 2}, {10}, {10}, ParallelJobs::rigid);
  ASSERT_TRUE(window) << window.error().what;
  ASSERT_EQ(window->instance.jobs.size(), 2U);
  EXPECT_EQ(window->instance.jobs[0].processors, 3U);
  EXPECT_EQ(window->instance.jobs[1].processors, 1U);
  EXPECT_EQ(window->trace_job, (std::vector<std::uint32_t>{1, 2}));
  const auto narrow = cut_window(small_trace(), assignment, {1, 1}, {10}, {10}, ParallelJobs::rigid);
  ASSERT_FALSE(narrow);
  EXPECT_NE(narrow.error().what.find("take parallel jobs as copies"), std::string::npos) << narrow.error().what;
}

TEST(CutWindow, RefusesAnInstanceThatTheEngineCannotHold) {
  const Assignment assignment{.organization = {0, 0}, .names = {}};
  const auto window = cut_window(small_trace(), assignment, {10'000'000}, {0}, {std::int64_t{1} << 30U});
  ASSERT_FALSE(window);
  EXPECT_EQ(window.error().code, Errc::limit);
}

TEST(LastWindowBegin, StaysInsideTheSubmissions) {
  EXPECT_EQ(last_window_begin(small_trace(), {10}).value, 10);
  EXPECT_EQ(last_window_begin(small_trace(), {1000}).value, 5);
}

}  // namespace
}  // namespace shapley::workload
