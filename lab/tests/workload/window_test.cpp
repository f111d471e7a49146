#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "workload/trace.hpp"

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
  const auto window = must(cut_window(trace, assignment, {2, 2}, {10}, {10}));
  const scheduling::Instance& instance = window.instance;
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
  EXPECT_EQ(window.trace_job, (std::vector<std::uint32_t>{1, 1, 1, 2}));
}

TEST(CutWindow, LeavesRigidJobsWhole) {
  const Assignment assignment{.organization = {1, 0}, .names = {}};
  const auto window = must(cut_window(small_trace(), assignment, {2, 2}, {10}, {10}, ParallelJobs::rigid));
  ASSERT_EQ(window.instance.jobs.size(), 2U);
  EXPECT_EQ(window.instance.jobs[0].processors, 3U);
  EXPECT_EQ(window.instance.jobs[1].processors, 1U);
  EXPECT_EQ(window.trace_job, (std::vector<std::uint32_t>{1, 2}));
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

std::int64_t work_of(const Trace& trace) {
  std::int64_t work = 0;
  for (const TraceJob& job : trace.jobs) work += job.run.value * job.processors;
  return work;
}

TEST(Generate, SameSeedSameJobs) {
  const GeneratorOptions options{.length = {100'000}, .seed = 3};
  const auto a = generate(options).value();
  const auto b = generate(options).value();
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    EXPECT_EQ(a.jobs[i].submit, b.jobs[i].submit);
    EXPECT_EQ(a.jobs[i].run, b.jobs[i].run);
    EXPECT_EQ(a.jobs[i].user, b.jobs[i].user);
  }
  GeneratorOptions other = options;
  other.seed = 4;
  EXPECT_NE(work_of(generate(other).value()), work_of(a));
}

TEST(Generate, ReachesItsLoadInsideTheStretch) {
  for (const WorkloadKind kind : {WorkloadKind::bursty, WorkloadKind::unit, WorkloadKind::zipf}) {
    const GeneratorOptions options{.kind = kind, .users = 10, .processors = 4, .length = {200'000}, .load_percent = 50};
    const auto trace = generate(options);
    ASSERT_TRUE(trace);
    EXPECT_GE(work_of(*trace), 400'000);
    EXPECT_TRUE(std::is_sorted(trace->jobs.begin(), trace->jobs.end(),
                               [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; }));
    for (const TraceJob& job : trace->jobs) {
      EXPECT_GE(job.submit.value, 0);
      EXPECT_LT(job.submit.value, 200'000);
      EXPECT_LT(job.user, 10U);
      EXPECT_EQ(job.processors, 1);
      EXPECT_EQ(job.run.value == 1, kind == WorkloadKind::unit);
    }
  }
}

TEST(Generate, ZipfUsersSendLessTheHigherTheirNumber) {
  const auto trace = generate({.kind = WorkloadKind::zipf, .users = 4, .length = {20'000'000}}).value();
  std::vector<double> jobs(4, 0.0);
  for (const TraceJob& job : trace.jobs) jobs[job.user] += 1;
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(jobs[0] / jobs[i], static_cast<double>(i + 1), 0.1);
}

TEST(Generate, RefusesWhatIsOutOfRange) {
  EXPECT_FALSE(generate({.users = 0}));
  EXPECT_FALSE(generate({.processors = 0}));
  EXPECT_FALSE(generate({.length = {0}}));
  EXPECT_FALSE(generate({.load_percent = 0}));
}

}  // namespace
}  // namespace shapley::workload
