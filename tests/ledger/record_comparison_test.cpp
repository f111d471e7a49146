#include "ledger/audit/record_comparison.hpp"

#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "base/calendar.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::CloseReason;

constexpr std::int64_t k_t = 1795244400;  // 2026-11-21T07:00:00Z

// "07:01:40" for k_t + 100; the tests' process runs in UTC.
std::string clock_of(std::int64_t t) {
  return format_instant({t}).substr(0, 19);
}

std::string sacct(const std::string& job, std::int64_t start, std::int64_t end, int cpus,
                  const std::string& suspended = "00:00:00", const std::string& state = "COMPLETED") {
  return job + "|" + clock_of(start) + "|" + (end == 0 ? "Unknown" : clock_of(end)) + "|" + state + "|" +
         std::to_string(cpus) + "|" + suspended + "\n";
}

std::string jobcomp(std::uint32_t job, std::int64_t start, std::int64_t end, int cpus,
                    const std::string& state = "COMPLETED") {
  return "JobId=" + std::to_string(job) + " UserId=a(1) GroupId=a(1) Name=x JobState=" + state +
         " Partition=p TimeLimit=1 StartTime=" + clock_of(start) + " EndTime=" + clock_of(end) +
         " NodeList=n1 NodeCnt=1 ProcCnt=" + std::to_string(cpus) + " WorkDir=/ ReservationName= \n";
}

class RecordComparison : public ::testing::Test {
 protected:
  RecordComparison() {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
  }

  void add(const accounting::Event& event) { facts_.add(event); }
  // A run of whole processors from `begin` to `end`.
  void run(std::uint32_t job, std::int64_t begin, std::int64_t end, std::int64_t processors) {
    const auto segment = opened(job, begin, "a", processors);
    add(segment);
    add(closed(segment, end));
  }
  // A later segment of the run that began at `anchor`.
  void piece(std::uint32_t job, std::int64_t anchor, std::uint32_t ordinal, std::int64_t begin, std::int64_t end,
             std::int64_t processors, CloseReason reason) {
    auto segment = opened(job, begin, "a", processors);
    segment.key.anchor = {anchor};
    segment.key.ordinal = ordinal;
    add(segment);
    if (end != 0) add(closed(segment, end, reason));
  }

  AuditReport against_sacct(const std::string& rows) {
    return against("JobIDRaw|Start|End|State|AllocCPUS|Suspended\n" + rows);
  }
  AuditReport against(const std::string& text) {
    std::istringstream in(text);
    const auto records = must(read_slurm_records(in, [](auto, auto) { return std::nullopt; }));
    AuditReport report;
    compare_with_records(facts_, {{k_t - 1000}, {k_t + 100'000}}, records, report);
    return report;
  }

  Facts facts_;
};

::testing::AssertionResult clean(const AuditReport& report) {
  if (report.clean()) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  for (const Finding& finding : report.findings) result << finding.check << ": " << finding.what << "\n";
  return result;
}

::testing::AssertionResult finds_only(const AuditReport& report, const std::string& what) {
  if (report.findings.size() == 1 && report.findings[0].what == what) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << clean(report).message();
}

::testing::AssertionResult notes(const AuditReport& report, const std::string& what) {
  for (const std::string& note : report.notes) {
    if (note.find(what) != std::string::npos) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << ::testing::PrintToString(report.notes);
}

TEST_F(RecordComparison, equal_runs_are_clean) {
  run(17, k_t, k_t + 100, 4);
  run(18, k_t + 5, k_t + 7, 1);
  for (const auto& report : {against_sacct(sacct("17", k_t, k_t + 100, 4) + sacct("17.batch", k_t, k_t + 90, 2) +
                                           sacct("18", k_t + 5, k_t + 7, 1)),
                             against(jobcomp(18, k_t + 5, k_t + 7, 1) + jobcomp(17, k_t, k_t + 100, 4))}) {
    EXPECT_TRUE(clean(report));
    EXPECT_EQ(report.runs_compared, 2);
    EXPECT_EQ(report.records, 2);
  }
}

TEST_F(RecordComparison, an_end_off_by_a_second_is_found) {
  run(17, k_t, k_t + 100, 4);
  EXPECT_TRUE(finds_only(
      against(jobcomp(17, k_t, k_t + 101, 4)),
      "job 17, run from 2026-11-21T07:00:00Z (line 1, COMPLETED): ends at 2026-11-21T07:01:40Z in the ledger, "
      "at 2026-11-21T07:01:41Z in the record"));
}

TEST_F(RecordComparison, a_start_off_by_a_second_is_found) {
  run(17, k_t, k_t + 100, 4);
  EXPECT_TRUE(
      finds_only(against(jobcomp(17, k_t + 1, k_t + 100, 4)),
                 "job 17, run from 2026-11-21T07:00:00Z (line 1, COMPLETED): begins at 2026-11-21T07:00:00Z in the "
                 "ledger, at 2026-11-21T07:00:01Z in the record"));
}

TEST_F(RecordComparison, another_number_of_processors_is_found) {
  run(17, k_t, k_t + 100, 4);
  EXPECT_TRUE(finds_only(
      against(jobcomp(17, k_t, k_t + 100, 5)),
      "job 17, run from 2026-11-21T07:00:00Z (line 1, COMPLETED): holds 4 processors in the ledger, 5 CPUs in "
      "the record"));
}

TEST_F(RecordComparison, weighted_processors_are_not_compared_with_cpus) {
  add(accounting::ConfigurationLoaded{{k_t - 50}, "weights: {cpu: 1, gres/gpu: 32}\n"});
  add(accounting::ConfigurationLoaded{{k_t + 50}, "period: none\n"});
  run(17, k_t, k_t + 100, 36);
  run(18, k_t + 60, k_t + 100, 36);
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(18, k_t + 60, k_t + 100, 4));
  EXPECT_TRUE(notes(report, "1 size not compared: the configuration weighs processors"));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_NE(report.findings[0].what.find("job 18"), std::string::npos);
}

TEST_F(RecordComparison, runs_of_one_side_only_are_found) {
  run(17, k_t, k_t + 100, 4);
  run(18, k_t, k_t + 200, 4);
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(19, k_t, k_t + 50, 2, "FAILED"));
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(
      report.findings[0].what,
      "job 19 (line 2, FAILED): the record has a run from 2026-11-21T07:00:00Z to 2026-11-21T07:00:50Z that the ledger "
      "does not have");
  EXPECT_EQ(report.findings[1].what,
            "job 18, run from 2026-11-21T07:00:00Z to 2026-11-21T07:03:20Z: the ledger has a run that the records do "
            "not have");
}

TEST_F(RecordComparison, a_retracted_run_is_no_run) {
  const auto segment = opened(17, k_t, "a", 4);
  add(segment);
  add(accounting::SegmentRetracted{segment.key, {k_t + 10}});
  run(18, k_t, k_t + 100, 1);
  EXPECT_TRUE(clean(against(jobcomp(18, k_t, k_t + 100, 1))));
  EXPECT_FALSE(clean(against(jobcomp(18, k_t, k_t + 100, 1) + jobcomp(17, k_t, k_t + 100, 4))));
}

TEST_F(RecordComparison, an_open_run_without_record_is_a_note_with_record_a_finding) {
  add(opened(17, k_t, "a", 4));
  run(18, k_t, k_t + 100, 1);
  const auto unknown = against(jobcomp(18, k_t, k_t + 100, 1));
  EXPECT_TRUE(clean(unknown));
  EXPECT_TRUE(notes(unknown, "1 run is open in the ledger"));
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, 0, 4, "00:00:00", "RUNNING") + sacct("18", k_t, k_t + 100, 1))));
  EXPECT_TRUE(
      finds_only(against(jobcomp(17, k_t, k_t + 300, 4) + jobcomp(18, k_t, k_t + 100, 1)),
                 "job 17, run from 2026-11-21T07:00:00Z (line 1, COMPLETED): is still open in the ledger, ended at "
                 "2026-11-21T07:05:00Z in the record"));
}

TEST_F(RecordComparison, what_lies_outside_the_ledger_or_the_records_is_left_out) {
  run(17, k_t, k_t + 100, 4);
  run(18, k_t, k_t + 50, 4);  // ended before the first record did
  const auto report = against(jobcomp(3, k_t - 5000, k_t - 1000, 1) + jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_FALSE(clean(report));  // the first record ended long ago, so 18 should be there
  const auto rotated = against(jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(clean(rotated));
  EXPECT_TRUE(notes(rotated, "1 run of the ledger ended before the records begin"));
  const auto older =
      against(jobcomp(3, k_t - 5000, k_t - 1000, 1) + jobcomp(18, k_t, k_t + 50, 4) + jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(clean(older));
  EXPECT_TRUE(notes(older, "1 recorded run ended before the ledger began"));
}

// The ledger's last event was received at k_t + 100,000.
TEST_F(RecordComparison, what_a_copy_of_the_ledger_is_too_old_for_is_a_note) {
  run(17, k_t, k_t + 100, 4);
  const auto later = against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(18, k_t + 200'000, k_t + 200'100, 4));
  EXPECT_TRUE(clean(later));
  EXPECT_TRUE(notes(later, "1 recorded run began after the ledger's last event was received, at 2026-11-22T10:46:40Z"));
  add(opened(18, k_t + 99'000, "a", 4));
  const auto ended = [&](std::int64_t end) {
    return against_sacct(sacct("17", k_t, k_t + 100, 4) + sacct("18", k_t + 99'000, end, 4) +
                         sacct("19", k_t + 99'999, k_t + 100'001, 1));
  };
  EXPECT_TRUE(clean(ended(k_t + 100'001)));
  EXPECT_TRUE(notes(ended(k_t + 100'001), "1 run ended after the ledger's last event was received"));
  EXPECT_FALSE(clean(ended(k_t + 99'900)));  // the ledger went on, and still has it open
  EXPECT_FALSE(clean(against_sacct(sacct("17", k_t, k_t + 100, 4) + sacct("18", k_t + 99'000, 0, 4) +
                                   sacct("19", k_t + 99'000, k_t + 100'001, 1))));
}

TEST_F(RecordComparison, what_the_records_are_too_old_for_is_a_note) {
  run(17, k_t, k_t + 100, 4);
  run(18, k_t + 500, k_t + 600, 4);
  const auto running =
      against_sacct(sacct("16", k_t - 5'000, k_t - 4'000, 1) + sacct("17", k_t, 0, 4, "00:00:00", "RUNNING"));
  EXPECT_TRUE(clean(running));
  EXPECT_TRUE(notes(running, "1 run of the ledger began after the records were made"));
  EXPECT_TRUE(notes(running, "1 run had not ended when the records were made"));
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 100, 4))));
}

// A month from k_t + 10,000 to k_t + 20,000, and what crosses its edges.
class MonthOfRecords : public RecordComparison {
 protected:
  MonthOfRecords() {
    run(1, k_t, k_t + 100, 1);              // before
    run(2, k_t + 9'000, k_t + 10'000, 1);   // ended as it began
    run(3, k_t + 9'000, k_t + 11'000, 2);   // across the first edge
    run(4, k_t + 12'000, k_t + 13'000, 3);  // within
    run(5, k_t + 19'000, k_t + 30'000, 4);  // across the second
    run(6, k_t + 20'000, k_t + 21'000, 1);  // began as it ended
    run(7, k_t + 50'000, k_t + 51'000, 1);  // after
    add(opened(8, k_t + 15'000, "a", 2));   // goes on
    run(9, k_t + 9'000, k_t + 40'000, 1);   // longer than all of it
  }
  // What sacct -S -E shows of it, some day later.
  [[nodiscard]] static std::string shown() {
    return sacct("3", k_t + 9'000, k_t + 11'000, 2) + sacct("4", k_t + 12'000, k_t + 13'000, 3) +
           sacct("5", k_t + 19'000, k_t + 30'000, 4) + sacct("8", k_t + 15'000, 0, 2, "00:00:00", "RUNNING") +
           sacct("9", k_t + 9'000, k_t + 40'000, 1) + "11|Unknown|Unknown|PENDING|0|00:00:00\n";
  }
  AuditReport of_month(const std::string& rows) {
    std::istringstream in("JobIDRaw|Start|End|State|AllocCPUS|Suspended\n" + rows);
    const auto records = must(read_slurm_records(in, [](auto, auto) { return std::nullopt; }));
    const ComparedInterval month{.since = Instant{k_t + 10'000}, .until = Instant{k_t + 20'000}};
    AuditReport report;
    compare_with_records(facts_, {{k_t - 1000}, {k_t + 100'000}}, records, report, month);
    return report;
  }
};

TEST_F(MonthOfRecords, what_lies_outside_is_no_finding) {
  const auto report = of_month(shown());
  EXPECT_TRUE(clean(report));
  EXPECT_EQ(report.runs_compared, 5);
  EXPECT_TRUE(notes(report, "2 runs of the ledger ended before the records begin"));
  EXPECT_TRUE(notes(report, "2 runs of the ledger began after the records were made"));
  EXPECT_FALSE(clean(against_sacct(shown())));  // nobody said of which time they are
  // Nor are rows that sacct shows beyond it, whether the ledger has them or not.
  const auto more = of_month(shown() + sacct("7", k_t + 50'000, k_t + 51'007, 1) + sacct("12", k_t + 60'000, 0, 1) +
                             sacct("1", k_t, k_t + 100, 9));
  EXPECT_TRUE(clean(more));
  EXPECT_TRUE(notes(more, "3 runs that both sides or the records alone have lie outside of the interval"));
}

TEST_F(MonthOfRecords, a_defect_within_is_found) {
  const auto without = [](const std::string& row) {
    std::string rows = shown();
    return rows.erase(rows.find(row), row.size());
  };
  const auto findings = [&](const std::string& rows) { return of_month(rows).findings.size(); };
  EXPECT_EQ(findings(without(sacct("3", k_t + 9'000, k_t + 11'000, 2))), 1U);
  EXPECT_EQ(findings(without(sacct("4", k_t + 12'000, k_t + 13'000, 3))), 1U);
  EXPECT_EQ(findings(without(sacct("5", k_t + 19'000, k_t + 30'000, 4))), 1U);
  EXPECT_EQ(findings(without(sacct("8", k_t + 15'000, 0, 2, "00:00:00", "RUNNING"))), 1U);
  EXPECT_EQ(findings(without(sacct("9", k_t + 9'000, k_t + 40'000, 1))), 1U);
  EXPECT_EQ(findings(shown() + sacct("12", k_t + 12'345, k_t + 12'346, 1)), 1U);
  EXPECT_EQ(findings(shown() + sacct("12", k_t + 9'000, k_t + 12'346, 1)), 1U);
  // Other times, and so another length, or other sizes, at either edge, too.
  EXPECT_EQ(findings(without(sacct("4", k_t + 12'000, k_t + 13'000, 3)) + sacct("4", k_t + 12'000, k_t + 13'001, 3)),
            2U);
  EXPECT_EQ(findings(without(sacct("3", k_t + 9'000, k_t + 11'000, 2)) + sacct("3", k_t + 9'001, k_t + 11'000, 2)), 2U);
  EXPECT_EQ(findings(without(sacct("5", k_t + 19'000, k_t + 30'000, 4)) + sacct("5", k_t + 19'000, k_t + 30'000, 5)),
            1U);
  // A run that the ledger has outside of the interval, and Slurm within.
  EXPECT_EQ(findings(shown() + sacct("7", k_t + 15'000, k_t + 51'000, 1)), 2U);
  EXPECT_EQ(of_month("").findings.size(), 5U);
}

TEST_F(RecordComparison, jobs_that_never_ran_do_not_matter) {
  run(17, k_t, k_t + 100, 4);
  EXPECT_TRUE(clean(against(jobcomp(18, k_t, k_t, 0, "CANCELLED") + jobcomp(17, k_t, k_t + 100, 4))));
  EXPECT_TRUE(clean(against_sacct("18|Unknown|" + clock_of(k_t) + "|CANCELLED by 0|0|00:00:00\n" +
                                  sacct("17", k_t, k_t + 100, 4) + "19|Unknown|Unknown|PENDING|4|00:00:00\n")));
  run(20, k_t, k_t, 4);  // ended within the second in which it began
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(20, k_t, k_t, 4))));
  // It was requeued in that second and cancelled while it waited; of a run that held its processors that is no excuse.
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(20, k_t, k_t, 0, "CANCELLED"))));
  EXPECT_FALSE(clean(against(jobcomp(17, k_t, k_t + 100, 0, "CANCELLED") + jobcomp(20, k_t, k_t, 4))));
}

TEST_F(RecordComparison, each_run_of_a_requeued_job_has_its_own_record) {
  run(17, k_t, k_t + 100, 4);
  run(17, k_t + 300, k_t + 400, 2);
  // jobcomp/filetxt calls a requeued run PENDING, and writes it twice when it was completing.
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 100, 4) + jobcomp(17, k_t, k_t + 100, 4, "PENDING") +
                            jobcomp(17, k_t, k_t + 100, 0, "PENDING") + jobcomp(17, k_t + 300, k_t + 400, 2))));
  EXPECT_TRUE(clean(
      against_sacct(sacct("17", k_t + 300, k_t + 400, 2) + sacct("17", k_t, k_t + 100, 4, "00:00:00", "REQUEUED"))));
  // Without -D sacct shows the last run only.
  const auto hidden = against_sacct(sacct("16", k_t - 2000, k_t - 1500, 1) + sacct("17", k_t + 300, k_t + 400, 2));
  ASSERT_EQ(hidden.findings.size(), 1U);
  EXPECT_NE(hidden.findings[0].what.find("sacct without -D"), std::string::npos);
}

TEST_F(RecordComparison, a_run_that_slurm_recorded_twice_must_fit_once) {
  run(17, k_t, k_t + 100, 4);
  for (const std::int64_t other : {90, 110}) {
    const auto report = against(jobcomp(17, k_t, k_t + other, 4) + jobcomp(17, k_t, k_t + 100, 4));
    EXPECT_TRUE(clean(report));
    EXPECT_TRUE(notes(report, "1 record names a run again"));
  }
  EXPECT_EQ(against(jobcomp(17, k_t, k_t + 90, 4) + jobcomp(17, k_t, k_t + 110, 4)).findings.size(), 2U);
}

TEST_F(RecordComparison, suspended_time_counts_where_the_record_has_it) {
  piece(17, k_t, 0, k_t, k_t + 30, 4, CloseReason::suspended);
  piece(17, k_t, 1, k_t + 50, k_t + 100, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, k_t + 100, 4, "00:00:20"))));
  EXPECT_TRUE(finds_only(
      against_sacct(sacct("17", k_t, k_t + 100, 4, "00:00:19")),
      "job 17, run from 2026-11-21T07:00:00Z (line 2, COMPLETED): holds its processors for 80 s in the ledger, "
      "81 s in the record (of which 19 s suspended are left out)"));
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(notes(report, "1 run was suspended and the records do not say for how long"));
}

TEST_F(RecordComparison, a_run_cancelled_while_suspended_ends_for_us_when_it_was_suspended) {
  piece(17, k_t, 0, k_t, k_t + 30, 4, CloseReason::suspended);
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 30, 4, "CANCELLED"))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, k_t + 90, 4, "00:01:00", "CANCELLED by 0"))));
  EXPECT_FALSE(clean(against(jobcomp(17, k_t, k_t + 29, 4, "CANCELLED"))));
}

TEST_F(RecordComparison, a_run_suspended_in_the_second_it_began_holds_nothing_before_it_is_resumed) {
  piece(17, k_t, 0, k_t + 20, k_t + 100, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, k_t + 100, 4, "00:00:20"))));
  EXPECT_TRUE(finds_only(
      against_sacct(sacct("17", k_t, k_t + 100, 4, "00:00:19")),
      "job 17, run from 2026-11-21T07:00:00Z (line 2, COMPLETED): holds its processors for 80 s in the ledger, "
      "81 s in the record (of which 19 s suspended are left out)"));
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(notes(report, "1 run was suspended and the records do not say for how long"));
}

TEST_F(RecordComparison, a_run_whose_first_segment_was_retracted_starts_at_its_anchor_all_the_same) {
  piece(17, k_t, 0, k_t, k_t + 10, 4, CloseReason::suspended);
  add(accounting::SegmentRetracted{{accounting::SegmentKind::run, {17}, {k_t}, 0}, {k_t + 30}});
  piece(17, k_t, 1, k_t + 20, k_t + 100, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, k_t + 100, 4, "00:00:20"))));
}

TEST_F(RecordComparison, a_run_suspended_from_its_first_second_to_its_last_is_told_by_start_and_end) {
  piece(17, k_t, 0, k_t, k_t, 4, CloseReason::suspended);
  piece(17, k_t, 1, k_t + 10, k_t + 10, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 10, 4))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", k_t, k_t + 10, 4, "00:00:10"))));
}

TEST_F(RecordComparison, an_unexplained_gap_is_found) {
  piece(17, k_t, 0, k_t, k_t + 30, 4, CloseReason::ended);
  piece(17, k_t, 1, k_t + 50, k_t + 100, 4, CloseReason::ended);
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4));
  EXPECT_TRUE(
      finds_only(report,
                 "job 17, run from 2026-11-21T07:00:00Z: in the ledger it has a gap from 2026-11-21T07:00:30Z to "
                 "2026-11-21T07:00:50Z that no suspension explains"));
}

TEST_F(RecordComparison, a_part_of_a_run_that_became_known_late_is_no_gap) {
  piece(17, k_t, 0, k_t, k_t, 4, CloseReason::suspended);
  piece(17, k_t, 1, k_t + 5, k_t + 19, 4, CloseReason::ended);
  piece(17, k_t, 2, k_t, k_t + 5, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, k_t, k_t + 19, 4))));
}

TEST_F(RecordComparison, resized_runs_are_compared_piece_by_piece) {
  piece(17, k_t, 0, k_t, k_t + 30, 8, CloseReason::resized);
  piece(17, k_t, 1, k_t + 30, k_t + 60, 4, CloseReason::resized);
  piece(17, k_t, 2, k_t + 60, k_t + 100, 2, CloseReason::ended);
  // jobcomp/filetxt: the moment of the resize is start and end of its row, and the start of the last row.
  EXPECT_TRUE(clean(against(jobcomp(17, k_t + 30, k_t + 30, 8, "RESIZING") +
                            jobcomp(17, k_t + 60, k_t + 61, 4, "RESIZING") + jobcomp(17, k_t + 60, k_t + 100, 2))));
  // sacct -D: every row has the original start.
  EXPECT_TRUE(
      clean(against_sacct(sacct("17", k_t, k_t + 30, 8, "00:00:00", "RESIZING") +
                          sacct("17", k_t, k_t + 60, 4, "00:00:00", "RESIZING") + sacct("17", k_t, k_t + 100, 2))));
  const auto last_only = against_sacct(sacct("17", k_t, k_t + 100, 2));
  EXPECT_TRUE(clean(last_only));
  EXPECT_TRUE(notes(last_only, "1 run was resized and the records show its last size only"));

  EXPECT_TRUE(finds_only(
      against(jobcomp(17, k_t + 30, k_t + 30, 8, "RESIZING") + jobcomp(17, k_t + 60, k_t + 60, 5, "RESIZING") +
              jobcomp(17, k_t + 60, k_t + 100, 2)),
      "job 17, run from 2026-11-21T07:00:00Z (line 3, COMPLETED): holds 4 processors in the ledger, 5 CPUs in "
      "the record"));
  EXPECT_TRUE(
      finds_only(against(jobcomp(17, k_t + 30, k_t + 30, 8, "RESIZING") +
                         jobcomp(17, k_t + 61, k_t + 61, 4, "RESIZING") + jobcomp(17, k_t + 61, k_t + 100, 2)),
                 "job 17, run from 2026-11-21T07:00:00Z (line 3, COMPLETED): is resized at 2026-11-21T07:01:00Z in the "
                 "ledger, at 2026-11-21T07:01:01Z in the record"));
  EXPECT_FALSE(clean(against(jobcomp(17, k_t + 30, k_t + 30, 8, "RESIZING") + jobcomp(17, k_t + 30, k_t + 100, 2))));
}

TEST_F(RecordComparison, a_resized_run_that_goes_on_has_no_end_yet) {
  piece(17, k_t, 0, k_t, k_t + 30, 8, CloseReason::resized);
  piece(17, k_t, 1, k_t + 30, 0, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, k_t + 30, k_t + 30, 8, "RESIZING"))));
}

TEST_F(RecordComparison, an_unreadable_line_is_a_finding) {
  run(17, k_t, k_t + 100, 4);
  const auto report = against(jobcomp(17, k_t, k_t + 100, 4) + "rubbish\n");
  EXPECT_TRUE(
      finds_only(report,
                 "line 2 of the records cannot be read: no jobcomp/filetxt record: it does not begin with JobId=... "
                 "UserId=..."));
}

TEST_F(RecordComparison, a_repeated_hour_is_read_as_the_ledger_has_it) {
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ::tzset();
  constexpr std::int64_t second_half_past_two = 1792891800;
  run(17, second_half_past_two, second_half_past_two + 60, 4);
  const std::string row = "17|2026-10-25T02:30:00|2026-10-25T02:31:00|COMPLETED|4|00:00:00\n";
  EXPECT_TRUE(clean(against_sacct(row)));
}

// The plugin was away from k_t + 100 to k_t + 160.
TEST_F(RecordComparison, what_ended_while_nobody_looked_is_a_note) {
  add(accounting::ObservationGap{{k_t + 100}, {k_t + 160}, accounting::GapCause::unobserved});
  run(17, k_t, k_t + 160, 4);  // requeued within the gap; the ledger has the new submit time
  run(18, k_t, k_t + 50, 1);
  const auto report = against_sacct(sacct("17", k_t, k_t + 140, 4) + sacct("18", k_t, k_t + 50, 1) +
                                    sacct("19", k_t + 110, k_t + 130, 2));
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(notes(report, "1 recorded run is not in the ledger and ended in a gap of observation"));
  EXPECT_TRUE(notes(report, "1 run ended in a gap of observation"));
  // What ended when somebody looked is a finding as ever.
  EXPECT_FALSE(clean(against_sacct(sacct("18", k_t, k_t + 50, 1) + sacct("20", k_t + 110, k_t + 170, 2))));
  EXPECT_FALSE(clean(against_sacct(sacct("18", k_t, k_t + 60, 1))));
}

// slurmctld came back without its state at k_t + 130; it was seen last at k_t + 100.
TEST_F(RecordComparison, runs_that_slurmctld_lost_end_where_they_were_seen_last) {
  add(accounting::StateLost{{k_t + 130}, {k_t + 100}, 2, 500, 1, 4});
  for (const std::uint32_t job : {17U, 18U}) {
    const auto lost = opened(job, k_t, "a", 4);
    add(lost);
    add(closed(lost, k_t + 100, CloseReason::vanished));
  }
  run(19, k_t, k_t + 200, 1);
  const std::string other = sacct("19", k_t, k_t + 200, 1) + sacct("20", k_t - 500, k_t - 400, 1);
  const auto report = against_sacct(sacct("17", k_t, k_t + 128, 4, "00:00:00", "CANCELLED") + other);
  ASSERT_EQ(report.findings.size(), 1U) << "of the run that the ledger lacks";
  EXPECT_TRUE(
      notes(report,
            "1 run was going on when slurmctld lost its state: in the ledger it ends when it was seen last, and "
            "in the record otherwise"));
  EXPECT_TRUE(
      notes(report,
            "1 run was going on when slurmctld lost its state: in the ledger it ends when it was seen last, and "
            "it is not recorded"));
  // A run whose end was seen, or that ended at another time, is none of these.
  EXPECT_EQ(against_sacct(sacct("17", k_t, k_t + 100, 4) + sacct("19", k_t, k_t + 190, 1)).findings.size(), 2U)
      << "end and length";
}

// slurmctld was killed before it saved the start of 17; slurmdbd never heard of the end of 18.
TEST_F(RecordComparison, runaway_jobs_of_slurmdbd_are_named_as_what_they_are) {
  const auto forgotten = opened(17, k_t, "a", 4);
  add(forgotten);
  add(accounting::SegmentRetracted{forgotten.key, {k_t + 5}});
  run(18, k_t, k_t + 50, 4);
  run(19, k_t, k_t + 200, 1);
  const std::string other = sacct("19", k_t, k_t + 200, 1);
  const auto report =
      against_sacct(sacct("17", k_t, 0, 4, "00:00:00", "RUNNING") + sacct("18", k_t, 0, 4, "00:00:00", "RUNNING") +
                    sacct("20", k_t + 10, 0, 1, "00:00:00", "SUSPENDED") + other);
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(
      notes(report, "3 recorded runs have no end, and by the ledger, which goes on, slurmctld knows nothing of them"));
  EXPECT_TRUE(notes(report, "sacctmgr show runawayjobs lists and ends them), not compared: jobs 17, 18, 20"));
  // One that ended only just may still be on its way to slurmdbd, and one that ended without an end is no such job.
  run(21, k_t, k_t + 195, 1);
  const auto young =
      against_sacct(sacct("21", k_t, 0, 1, "00:00:00", "RUNNING") + sacct("18", k_t, k_t + 50, 4) + other);
  EXPECT_TRUE(clean(young));
  EXPECT_TRUE(notes(young, "1 run had not ended when the records were made"));
  const auto ended = against_sacct(sacct("20", k_t + 10, 0, 1, "00:00:00", "COMPLETED") + other);
  EXPECT_TRUE(notes(ended, "1 record says that a run has ended, and not when"));
  EXPECT_FALSE(notes(ended, "runaway"));
}

TEST_F(RecordComparison, a_recorded_run_that_was_retracted_is_named_with_the_way_to_have_it_again) {
  const auto lost = opened(17, k_t, "a", 4);
  add(lost);
  add(accounting::SegmentRetracted{lost.key, {k_t + 5}});
  const auto report = against_sacct(sacct("17", k_t, k_t + 8, 4) + sacct("18", k_t - 500, k_t - 400, 1));
  ASSERT_FALSE(report.clean());
  EXPECT_NE(report.findings.front().what.find("retracted, because slurmctld forgot it; shapleyctl import --into"),
            std::string::npos)
      << report.findings.front().what;
}

TEST_F(RecordComparison, while_slurmctld_was_down_no_run_can_be_missing) {
  add(accounting::ObservationGap{{k_t + 100}, {k_t + 160}, accounting::GapCause::slurmctld_down});
  EXPECT_FALSE(clean(against_sacct(sacct("19", k_t + 110, k_t + 130, 2))));
}

TEST(Weights, are_found_in_a_configurations_text) {
  for (const char* plain :
       {"", "period: none\n", "weights: {cpu: 1}\n", "weights: { \"cpu\": 1 }  # cores\nmode: observe\n",
        "weights:\n  cpu: 1\norganizations:\n  - name: weights\n", "# weights: {gres/gpu: 3}\n"}) {
    EXPECT_TRUE(counts_cpus_only(plain)) << plain;
  }
  for (const char* weighted : {"weights: {cpu: 2}", "weights: {cpu: 1, gres/gpu: 32}", "weights:\n  gres/gpu: 1\n",
                               "weights:\n  cpu: 1\n\n  mem: 1\n", "weights: {cpu: 10}"}) {
    EXPECT_FALSE(counts_cpus_only(weighted)) << weighted;
  }
}

TEST_F(RecordComparison, records_of_another_time_zone_are_one_finding_that_names_the_difference) {
  std::string rows;
  for (std::uint32_t job = 1; job <= 5; ++job) {
    run(job, k_t + job, k_t + 100 * job, 2);
    rows += sacct(std::to_string(job), k_t + job + 3600, k_t + 100 * job + 3600, 2);
  }
  EXPECT_TRUE(finds_only(against_sacct(rows),
                         "the records have times that are 3600 s later for 5 runs than the ledger: they are of another "
                         "time zone than this audit; run both with the same TZ"));
  // In summer it is another hour, and between the two one run has both.
  for (std::uint32_t job = 11; job <= 12; ++job) {
    run(job, k_t + job, k_t + 100 * job, 2);
    rows += sacct(std::to_string(job), k_t + job + 7200, k_t + 100 * job + 7200, 2);
  }
  run(20, k_t + 7, k_t + 50'000, 2);
  rows += sacct("20", k_t + 7 + 7200, k_t + 50'000 + 3600, 2, "01:00:00");
  const auto report = against_sacct(rows);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(
      report.findings[0].what,
      "the records have times that are 3600 s later for 5 runs, and 7200 s later for 2 runs than the ledger: they "
      "are of another time zone than this audit; run both with the same TZ");
  EXPECT_EQ(report.runs_compared, 8);
}

TEST_F(RecordComparison, what_differs_beside_the_time_zone_is_found) {
  for (std::uint32_t job = 1; job <= 3; ++job) run(job, k_t + job, k_t + 100 * job, 2);
  const auto report =
      against_sacct(sacct("1", k_t + 1 - 7200, k_t + 100 - 7200, 2) + sacct("2", k_t + 2 - 7200, k_t + 200 - 7200, 4) +
                    sacct("3", k_t + 3 - 7200, k_t + 300 - 7200, 2));
  ASSERT_EQ(report.findings.size(), 2U) << clean(report).message();
  EXPECT_NE(report.findings[0].what.find("7200 s earlier for 3 runs"), std::string::npos);
  EXPECT_NE(report.findings[1].what.find("holds 2 processors in the ledger, 4 CPUs in the record"), std::string::npos);
  // A single run that is off by an hour among those that agree is its own finding.
  const auto one = against_sacct(sacct("1", k_t + 1, k_t + 100, 2) + sacct("2", k_t + 2, k_t + 200, 2) +
                                 sacct("3", k_t + 3 + 3600, k_t + 300 + 3600, 2));
  for (const Finding& finding : one.findings)
    EXPECT_EQ(finding.what.find("time zone"), std::string::npos) << finding.what;
  EXPECT_FALSE(one.clean());
}

TEST_F(RecordComparison, times_that_sacct_cut_are_one_finding) {
  run(1, k_t - 900, k_t + 100, 2);
  run(2, k_t - 500, k_t + 3600, 2);
  run(3, k_t + 10, k_t + 20, 2);
  run(4, k_t + 30, k_t + 4000, 2);
  add(opened(5, k_t + 40, "a", 2));
  const auto report =
      against_sacct(sacct("1", k_t, k_t + 100, 2) + sacct("2", k_t, k_t + 3600, 2) + sacct("3", k_t + 10, k_t + 20, 2) +
                    sacct("4", k_t + 30, k_t + 3600, 2) + sacct("5", k_t + 40, k_t + 3600, 2, "00:00:00", "RUNNING"));
  EXPECT_TRUE(
      finds_only(report,
                 "of the runs 2 begin at 2026-11-21T07:00:00Z and 2 end at 2026-11-21T08:00:00Z in the records, "
                 "where the ledger's go on beyond: sacct -T (--truncate) cut them; make the records without it"));
}

TEST_F(RecordComparison, a_record_that_has_ended_and_does_not_say_when_is_named) {
  run(17, k_t, k_t + 100, 4);
  add(opened(18, k_t + 5, "a", 2));
  const std::string rows = sacct("17", k_t, 0, 4, "00:00:00", "NODE_FAIL") + sacct("19", k_t, 0, 1) +
                           sacct("20", k_t + 1, 0, 1, "00:00:00", "RUNNING");
  run(20, k_t + 1, k_t + 50, 1);
  const auto report = against_sacct(rows);
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(notes(report, "2 records say that a run has ended, and not when"));
  EXPECT_TRUE(notes(report, "(line 2, 3)"));
  EXPECT_TRUE(notes(report, "1 run had not ended when the records were made")) << "RUNNING is another thing";
  EXPECT_TRUE(finds_only(against_sacct(rows + sacct("18", k_t + 5, 0, 2, "00:00:00", "FAILED")),
                         "job 18, run from 2026-11-21T07:00:05Z (line 5, FAILED): is still open in the ledger; the "
                         "record says that it has ended, and not when"));
}

TEST_F(RecordComparison, an_impossible_record_is_left_out_and_named) {
  run(17, k_t, k_t + 100, 4);
  run(18, k_t, k_t + 100, 1);
  const auto report = against_sacct(sacct("17", 3600, k_t + 100, 4) + sacct("18", k_t, k_t + 100, 1));
  EXPECT_TRUE(clean(report));
  EXPECT_TRUE(notes(report, "line 2, job 17: the record cannot be right, it starts before there was Slurm: left out"));
  EXPECT_TRUE(notes(report, "1 run of the ledger is of such a job: not compared"));
}

}  // namespace
}  // namespace shapley::ledger
