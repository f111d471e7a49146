#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/comparison.hpp"
#include "sim/input/workload_source.hpp"
#include "sim/registry.hpp"
#include "sim/results.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::sim {
namespace {

PolicyResult run(const scheduling::Instance& instance, const char* name) {
  const auto policy = make_policy(name, instance, {}).value();
  PolicyResult result{.policy = name,
                      .simulation = scheduling::simulate(instance, *policy),
                      .phi = {},
                      .coalition_values = {},
                      .utilities = {}};
  result.phi = policy->contributions(instance.end.value);
  return result;
}

scheduling::Instance small() {
  return {.processors = {1, 1}, .jobs = {{{0}, {3}, 0}, {{0}, {5}, 1}, {{1}, {2}, 0}, {{1}, {9}, 1}}, .end = {8}};
}

TEST(PlaceJobs, NoTwoJobsShareAProcessor) {
  const auto trace = load_workload({.trace = std::string(k_embedded_excerpt), .generator = {}}).value();
  ComparisonSettings settings;
  settings.processors = 12;
  const auto drawn = draw_window(trace, settings, 3).value();
  const scheduling::Instance& instance = drawn.window.instance;
  const auto schedule = run(instance, "fcfs").simulation.schedule;
  const auto processors = place_jobs(instance, schedule);
  std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> busy;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    ASSERT_EQ(processors[i].size(), 1U);
    EXPECT_LT(processors[i].front(), 12U);
    const std::int64_t start = schedule[i].start.value;
    busy[processors[i].front()].emplace_back(start, start + instance.jobs[schedule[i].job].duration.value);
  }
  for (auto& [number, spans] : busy) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first);
  }
}

class ResultFiles : public testing::Test {
 protected:
  std::string written() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "out").rdbuf();
    return text.str();
  }
  TempDirectory folder_;
};

TEST_F(ResultFiles, Organizations) {
  // Jobs 0 and 1 start at 0; at 3 the only other job of organization 0 or 1 starts, at 5 the next.
  ASSERT_TRUE(write_organizations(folder_ / "out", small(), {run(small(), "fcfs")}));
  EXPECT_EQ(written(),
            "policy,organization,processors,jobs,started,completed,work,psi,phi\n"
            "fcfs,0,1,2,2,2,5,30,\n"    // 3 units begun 8, 7, 6 before the end, 2 begun 5, 4 before it
            "fcfs,1,1,2,2,1,8,36,\n");  // 8+7+6+5+4, then 3+2+1
}

TEST_F(ResultFiles, BatsimJobs) {
  ASSERT_TRUE(write_batsim_jobs(folder_ / "out", small(), run(small(), "fcfs")));
  EXPECT_EQ(written(),
            "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
            "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
            "allocated_resources,consumed_energy,metadata\n"
            "0,fcfs,organization0,0,1,3,1,COMPLETED_SUCCESSFULLY,0,3,3,0,3,1.000000,0,0,\n"
            "1,fcfs,organization1,0,1,5,1,COMPLETED_SUCCESSFULLY,0,5,5,0,5,1.000000,1,0,\n"
            "2,fcfs,organization0,1,1,2,1,COMPLETED_SUCCESSFULLY,3,2,5,2,4,2.000000,0,0,\n");
}

TEST_F(ResultFiles, ARigidJobHasAllItsProcessors) {
  // Jobs 1 and 2 wait for the end of job 0 and share the machine.
  const scheduling::Instance instance{
      .processors = {3}, .jobs = {{{0}, {2}, 0, 3}, {{1}, {2}, 0, 1}, {{1}, {3}, 0, 2}}, .end = {9}};
  const PolicyResult result = run(instance, "fcfs");
  EXPECT_EQ(place_jobs(instance, result.simulation.schedule),
            (std::vector<std::vector<std::uint32_t>>{{0, 1, 2}, {0}, {1, 2}}));
  ASSERT_TRUE(write_organizations(folder_ / "out", instance, {result}));
  EXPECT_EQ(written(),
            "policy,organization,processors,jobs,started,completed,work,psi,phi\n"
            "fcfs,0,3,3,3,3,14,100,\n");  // 3 (9 + 8) + (7 + 6) + 2 (7 + 6 + 5)
  ASSERT_TRUE(write_batsim_jobs(folder_ / "out", instance, result));
  EXPECT_NE(written().find("0,fcfs,organization0,0,3,2,1,COMPLETED_SUCCESSFULLY,0,2,2,0,2,1.000000,0-2,0,\n"),
            std::string::npos)
      << written();
}

TEST_F(ResultFiles, SaysWhatCannotBeWritten) {
  const auto done = write_organizations(folder_ / "no" / "out", small(), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::io);
}

}  // namespace
}  // namespace shapley::sim
