#include "workload/generate.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace shapley::workload {
namespace {

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
