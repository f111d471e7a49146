#include "workload/swf.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace shapley::workload {
namespace {

// job submit wait run procs cpu mem req_procs req_time req_mem status user group exe queue partition previous think
constexpr const char* k_header =
    ";  Computer: Toy Cluster\n; MaxProcs: 140\n;MaxNodes: 70 (dual)\n;  Acknowledge: A\n;  Acknowledge: B\n";

Expected<Trace> parse_text(const std::string& text, Malformed choice = Malformed::refuse) {
  std::istringstream stream(text);
  return parse_swf(stream, choice);
}

TEST(Swf, ReadsJobsAndHeader) {
  const auto trace = parse_text(std::string(k_header) +
                                "1 100 5 30 2 1.5 -1 4 60 -1 1 7 3 -1 -1 -1 -1 -1\n"
                                "2 90 5 10 -1 -1 -1 4 60 -1 1 8 3 -1 -1 -1 -1 -1\r\n\n");
  ASSERT_TRUE(trace) << trace.error().what;
  EXPECT_EQ(trace->processors, 140);
  EXPECT_EQ(trace->computer, "Toy Cluster");
  EXPECT_EQ(trace->acknowledge, "A; B");
  ASSERT_EQ(trace->jobs.size(), 2U);
  // In order of submission; requested processors stand in for unknown ones.
  EXPECT_EQ(trace->jobs[0].id, 2);
  EXPECT_EQ(trace->jobs[0].submit.value, 90);
  EXPECT_EQ(trace->jobs[0].processors, 4);
  EXPECT_EQ(trace->jobs[1].id, 1);
  EXPECT_EQ(trace->jobs[1].run.value, 30);
  EXPECT_EQ(trace->jobs[1].processors, 2);
  EXPECT_EQ(trace->users[trace->jobs[1].user], "7");
  EXPECT_EQ(trace->groups.size(), 1U);
}

TEST(Swf, JobsOfOneInstantKeepTheirOrder) {
  const auto trace = parse_text(
      "5 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "4 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[0].id, 5);
  EXPECT_EQ(trace->jobs[1].id, 3);
  EXPECT_EQ(trace->jobs[2].id, 4);
}

TEST(Swf, CountsRecordsWithoutAJobByReason) {
  const auto trace = parse_text(
      "1 0 0 1 1 -1 -1 1 -1 -1 5 -1 1 -1 -1 -1 -1 -1\n"
      "2 0 0 0 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 0 0 1 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "4 0 0 1 1 -1 -1 1 -1 -1 2 1 1 -1 -1 -1 -1 -1\n"
      "5 0 0 1 1 -1 -1 1 -1 -1 0 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].id, 5);  // a job that failed ran all the same
  const std::map<std::string, std::uint64_t> expected{
      {"no user", 1}, {"no run time", 1}, {"no processors", 1}, {"part of a job that is told in full elsewhere", 1}};
  EXPECT_EQ(trace->omitted.unusable, expected);
}

struct BadLine {
  const char* line;
  const char* why;
};

class SwfBadLine : public testing::TestWithParam<BadLine> {};

TEST_P(SwfBadLine, IsRefusedWithItsNumberOrSkippedAndCounted) {
  const std::string good = "1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
  const std::string text = "; MaxProcs: 4\n" + good + GetParam().line + "\n" + good;
  const auto refused = parse_text(text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_EQ(refused.error().what.rfind(std::string("line 3: ") + GetParam().why, 0), 0U) << refused.error().what;
  const auto skipped = parse_text(text, Malformed::skip);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->jobs.size(), 2U);
  EXPECT_EQ(skipped->omitted.malformed, 1U);
  ASSERT_EQ(skipped->omitted.examples.size(), 1U);
  EXPECT_EQ(skipped->omitted.examples[0], std::string("line 3: ") + GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    All, SwfBadLine,
    testing::Values(BadLine{"1 2 3", "expected 18 columns, found 3"},
                    BadLine{"1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1 9", "expected 18 columns, found 19"},
                    BadLine{"1 0 0 1 1 -1 -1 1 -1 x1 1 1 1 -1 -1 -1 -1 -1", "column 10: \"x1\" is no number"},
                    BadLine{"1 0 0 1.5.5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1", "column 4: \"1.5.5\" is no number"},
                    BadLine{"1 99999999999999999999 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "column 2: \"99999999999999999999\" is no number"},
                    BadLine{"1 -7 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "a time or processor count is out of range"},
                    BadLine{"1 0 0 4611686018427387904 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "a time or processor count is out of range"}));

TEST(Swf, KeepsOnlyTheFirstExamples) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "nonsense\n";
  const auto trace = parse_text(text, Malformed::skip);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->omitted.malformed, 25U);
  EXPECT_EQ(trace->omitted.examples.size(), Omissions::k_max_examples);
}

}  // namespace
}  // namespace shapley::workload
