#include "workload/assignment.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "workload/endowment.hpp"

namespace shapley::workload {
namespace {

Trace trace_of(std::size_t users) {
  Trace trace;
  for (std::size_t i = 0; i < users; ++i) {
    trace.users.push_back("u" + std::to_string(i));
    trace.jobs.push_back(
        {.submit = {0}, .run = {1}, .processors = 1, .user = static_cast<std::uint32_t>(i), .group = 0});
  }
  trace.groups = {"g"};
  return trace;
}

TEST(DealUsers, GivesEveryOrganizationAsManyUsers) {
  const Trace trace = trace_of(56);
  const Assignment assignment = deal_users(trace, 5, 7);
  std::vector<int> users(5, 0);
  for (const std::uint32_t u : assignment.organization) ++users.at(u);
  EXPECT_EQ(users, (std::vector<int>{12, 11, 11, 11, 11}));
  EXPECT_EQ(deal_users(trace, 5, 7).organization, assignment.organization);
  EXPECT_NE(deal_users(trace, 5, 8).organization, assignment.organization);
}

TEST(AssignGroups, LargestGroupsStandAlone) {
  Trace trace;
  trace.groups = {"small", "large", "middle", "tiny"};
  const std::int64_t work[] = {10, 1000, 100, 1};
  for (std::uint32_t g = 0; g < 4; ++g)
    trace.jobs.push_back({.submit = {0}, .run = {work[g]}, .processors = 1, .user = 0, .group = g});
  const Assignment assignment = assign_groups(trace, 3);
  EXPECT_EQ(assignment.organization, (std::vector<std::uint32_t>{2, 0, 1, 2}));
  EXPECT_EQ(assignment.names, (std::vector<std::string>{"large", "middle", "others"}));
  EXPECT_EQ(assignment.of(trace.jobs[2]), 1U);
}

Expected<Assignment> read(const std::string& text, std::size_t organizations = 0) {
  std::istringstream stream(text);
  return read_assignment(stream, trace_of(3), organizations);
}

TEST(ReadAssignment, TakesUsersAndEverybodyElse) {
  const auto assignment = read("# who is who\nu2 astro\n\n* bio # the rest\n");
  ASSERT_TRUE(assignment) << assignment.error().what;
  EXPECT_EQ(assignment->organization, (std::vector<std::uint32_t>{1, 1, 0}));
  EXPECT_EQ(assignment->names, (std::vector<std::string>{"astro", "bio"}));
}

TEST(ReadAssignment, NamesWhatIsWrong) {
  EXPECT_EQ(read("u0\n").error().what, "line 1: expected \"USER ORGANIZATION\"");
  EXPECT_EQ(read("u0 a b\n").error().what, "line 1: expected \"USER ORGANIZATION\"");
  EXPECT_EQ(read("u0 a\nu0 b\n").error().what, "line 2: user u0 was named before");
  EXPECT_EQ(read("u0 a\nu1 a\n").error().what.rfind("user u2 has no organization", 0), 0U);
  EXPECT_EQ(read("* a\n", 2).error().what.rfind("names 1 organizations, not 2", 0), 0U);
}

TEST(Endow, SumsToTheTotal) {
  EXPECT_EQ(endow(Endowment::uniform, 3, 70).value(), (std::vector<std::uint32_t>{24, 23, 23}));
  // 70 / (1 + 1/2 + 1/3 + 1/4 + 1/5) = 30.66: 30.66, 15.33, 10.22, 7.66, 6.13
  EXPECT_EQ(endow(Endowment::zipf, 5, 70).value(), (std::vector<std::uint32_t>{31, 15, 10, 8, 6}));
  for (std::size_t k = 1; k <= 40; ++k) {
    for (const std::int64_t total : {1, 7, 240, 8192}) {
      const auto m = endow(Endowment::zipf, k, total).value();
      EXPECT_EQ(std::accumulate(m.begin(), m.end(), std::int64_t{0}), total);
      EXPECT_TRUE(std::is_sorted(m.rbegin(), m.rend()));
    }
  }
  EXPECT_FALSE(endow(Endowment::zipf, 0, 5));
  EXPECT_FALSE(endow(Endowment::zipf, 5, 0));
}

}  // namespace
}  // namespace shapley::workload
