#include "workload/sacct.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace shapley::workload {
namespace {

Expected<Trace> parse_lines(const std::string& text, Malformed choice = Malformed::refuse) {
  std::istringstream stream(text);
  return parse_sacct(stream, choice);
}

TEST(Sacct, ReadsJobsAndLeavesStepsOut) {
  const auto trace = parse_lines(
      "JobIDRaw|User|Account|Submit|Elapsed|AllocCPUS|State\n"
      "17|ada|astro|2026-11-21T08:59:05|1-00:00:10|4|COMPLETED\n"
      "17.batch||astro|2026-11-21T08:59:06|1-00:00:10|4|COMPLETED\n"
      "18|bob|bio|2024-02-29T00:00:00|00:10:00|1|FAILED\n"
      "19|bob|bio|2026-11-21T08:59:06|00:00:00|0|CANCELLED by 17\n");
  ASSERT_TRUE(trace) << trace.error().what;
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[0].id, 18);
  EXPECT_EQ(trace->jobs[0].submit.value, 1709164800);  // date -u -d 2024-02-29 +%s
  EXPECT_EQ(trace->jobs[0].run.value, 600);
  EXPECT_EQ(trace->jobs[1].submit.value, 1795251545);  // date -u -d 2026-11-21T08:59:05 +%s
  EXPECT_EQ(trace->jobs[1].run.value, 86410);
  EXPECT_EQ(trace->jobs[1].processors, 4);
  EXPECT_EQ(trace->users[trace->jobs[1].user], "ada");
  EXPECT_EQ(trace->groups[trace->jobs[1].group], "astro");
  EXPECT_EQ(trace->omitted.unusable.at("no run time"), 1U);
}

TEST(Sacct, ColumnsMayComeInAnyOrderAndAsSeconds) {
  const auto trace = parse_lines(
      "NCPUS|Partition|ElapsedRaw|Submit|User|JobID\n"
      "2|debug|7|1700000000|ada|17_3\n");
  ASSERT_TRUE(trace) << trace.error().what;
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].id, 17);
  EXPECT_EQ(trace->jobs[0].submit.value, 1700000000);
  EXPECT_EQ(trace->jobs[0].run.value, 7);
}

// sacct -M all: job 17 of two clusters.
TEST(Sacct, RowsOfTwoClustersAreRefusedByTheirColumn) {
  const auto two = parse_lines(
      "Cluster|JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n"
      "north|17|ada|1700000000|600|4\n"
      "south|18|bob|1700000000|600|4\n",
      Malformed::skip);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().what.rfind("line 3: Cluster: 'south', and line 2 is of 'north'; ", 0), 0U) << two.error().what;
  EXPECT_TRUE(
      parse_lines("Cluster|JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n"
                  "north|17|ada|1700000000|600|4\n"
                  "north|18|bob|1700000000|600|4\n"));
}

TEST(Sacct, RowsThatContradictEachOtherAreRefused) {
  const std::string header = "JobIDRaw|User|Account|Submit|Start|ElapsedRaw|AllocCPUS|State\n";
  const std::string first = "17|ada|astro|1700000000|1700000100|600|4|COMPLETED\n";
  for (const char* second :
       {"17|bob|astro|1700000000|1700000100|600|4|COMPLETED\n", "17|ada|bio|1700000000|1700000100|600|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|601|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|600|8|COMPLETED\n"}) {
    const auto refused = parse_lines(header + first + second);
    ASSERT_FALSE(refused) << second;
    EXPECT_EQ(refused.error().what.rfind("line 3: job 17 is another one in line 2; ", 0), 0U) << refused.error().what;
  }
  const auto without_start =
      parse_lines("JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n17|ada|1700000000|600|4\n17|bob|1700000000|600|4\n");
  ASSERT_FALSE(without_start);
  // Requeued, resized, its number used again; a task of another array; the same row twice.
  for (const char* second :
       {"17|ada|astro|1700000000|1700009100|60|8|COMPLETED\n", "17|ada|astro|1700000000|1700000100|30|2|RESIZING\n",
        "17|bob|bio|1800000000|1800000100|600|4|COMPLETED\n", "17_1|bob|bio|1700000000|1700000100|600|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|600|4|COMPLETED\n"}) {
    const auto fine = parse_lines(header + first + second);
    ASSERT_TRUE(fine) << second << fine.error().what;
    EXPECT_EQ(fine->jobs.size(), 2U);
  }
}

TEST(Sacct, SaysWhichColumnIsMissing) {
  const auto trace = parse_lines("JobIDRaw|User|Submit|AllocCPUS\n");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().what.find("line 1: column ElapsedRaw is missing"), std::string::npos) << trace.error().what;
  EXPECT_FALSE(parse_lines(""));
}

TEST(Sacct, BadLinesAreRefusedOrCounted) {
  const std::string header = "JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n";
  for (const char* line : {"1|ada|1700000000|5", "1|ada|yesterday|5|1", "1|ada|2026-13-01T00:00:00|5|1",
                           "1|ada|1700000000|-5|1", "1|ada|1700000000|5|many"}) {
    const std::string text = header + "1|ada|1700000000|5|1\n" + line + "\n";
    const auto refused = parse_lines(text);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().what.rfind("line 3: ", 0), 0U) << refused.error().what;
    const auto skipped = parse_lines(text, Malformed::skip);
    ASSERT_TRUE(skipped) << line;
    EXPECT_EQ(skipped->jobs.size(), 1U);
    EXPECT_EQ(skipped->omitted.malformed, 1U);
  }
}

}  // namespace
}  // namespace shapley::workload
