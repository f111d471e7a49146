#include "ledger/audit/record_comparison.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "base/calendar.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/text.hpp"
#include "tests/support/time_zone.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::CloseReason;

constexpr std::int64_t k_t = 1795244400;  // 2026-11-21T07:00:00Z; rows and runs have their times in seconds after it

// "2026-11-21T07:01:40" for 100; the tests' process runs in UTC.
std::string clock_of(std::int64_t t) {
  return format_instant({k_t + t}).substr(0, 19);
}

std::string sacct(const std::string& job, std::int64_t start, std::optional<std::int64_t> end, int cpus,
                  const std::string& state = "COMPLETED", const std::string& suspended = "00:00:00") {
  return job + "|" + clock_of(start) + "|" + (end ? clock_of(*end) : "Unknown") + "|" + state + "|" +
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
  void add(const accounting::Event& event) { facts_.add(event); }
  // A run of whole processors from `begin` to `end`.
  void run(std::uint32_t job, std::int64_t begin, std::int64_t end, std::int64_t processors) {
    const auto segment = opened(job, k_t + begin, "a", processors);
    add(segment);
    add(closed(segment, k_t + end));
  }
  // A segment of the run that began at `anchor`.
  void piece(std::uint32_t job, std::int64_t anchor, std::uint32_t ordinal, std::int64_t begin,
             std::optional<std::int64_t> end, std::int64_t processors, CloseReason reason) {
    auto segment = opened(job, k_t + begin, "a", processors);
    segment.key.anchor = {k_t + anchor};
    segment.key.ordinal = ordinal;
    add(segment);
    if (end) add(closed(segment, k_t + *end, reason));
  }
  // A run that slurmctld forgot.
  void retracted_run(std::uint32_t job, std::int64_t processors, std::int64_t at) {
    const auto segment = opened(job, k_t, "a", processors);
    add(segment);
    add(accounting::SegmentRetracted{segment.key, {k_t + at}});
  }

  AuditReport against_sacct(const std::string& rows, const ComparedInterval& interval = {}) {
    return against("JobIDRaw|Start|End|State|AllocCPUS|Suspended\n" + rows, interval);
  }
  AuditReport against(const std::string& text, const ComparedInterval& interval = {}) {
    std::istringstream in(text);
    const auto records = must(sacct::read_slurm_records(in, [](auto, auto) { return std::nullopt; }));
    AuditReport report;
    compare_with_records(facts_, {{k_t - 1000}, {k_t + 100'000}}, records, report, interval);
    return report;
  }

  const shapley::testing::TimeZone utc_{"UTC0"};
  Facts facts_;
  const std::string same_17 = jobcomp(17, 0, 100, 4);  // the record of run(17, 0, 100, 4)
};

::testing::AssertionResult notes(const AuditReport& report, const std::string& what) {
  for (const std::string& note : report.notes) {
    if (note.find(what) != std::string::npos) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "no note '" << what << "' among " << ::testing::PrintToString(report.notes);
}

// Their texts, one a line.
std::string findings_of(const AuditReport& report) {
  std::string texts;
  for (const Finding& finding : report.findings) texts += (texts.empty() ? "" : "\n") + finding.what;
  return texts;
}

// Without a finding, and with these notes among others.
::testing::AssertionResult clean(const AuditReport& report, std::initializer_list<const char*> with_notes = {}) {
  auto result = (report.clean() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << findings_of(report);
  for (const char* note : with_notes) {
    if (const auto noted = notes(report, note); result && !noted) result = noted;
  }
  return result;
}

// A finding about the run of job 17 at k_t.
std::string run_17(int line, const std::string& fault, const std::string& state = "COMPLETED") {
  return "job 17, run from 2026-11-21T07:00:00Z (line " + std::to_string(line) + ", " + state + "): " + fault;
}

TEST_F(RecordComparison, equal_runs_are_clean) {
  run(17, 0, 100, 4);
  run(18, 5, 7, 1);
  for (const auto& report : {against_sacct(sacct("17", 0, 100, 4) + sacct("17.batch", 0, 90, 2) + sacct("18", 5, 7, 1)),
                             against(jobcomp(18, 5, 7, 1) + same_17)}) {
    EXPECT_TRUE(clean(report));
    EXPECT_EQ(report.runs_compared, 2);
    EXPECT_EQ(report.records, 2);
  }
}

TEST_F(RecordComparison, an_end_a_start_or_a_size_that_differs_is_found) {
  run(17, 0, 100, 4);
  EXPECT_EQ(findings_of(against(jobcomp(17, 0, 101, 4))),
            run_17(1, "ends at 2026-11-21T07:01:40Z in the ledger, at 2026-11-21T07:01:41Z in the record"));
  EXPECT_EQ(findings_of(against(jobcomp(17, 1, 100, 4))),
            run_17(1, "begins at 2026-11-21T07:00:00Z in the ledger, at 2026-11-21T07:00:01Z in the record"));
  EXPECT_EQ(findings_of(against(jobcomp(17, 0, 100, 5))),
            run_17(1, "holds 4 processors in the ledger, 5 CPUs in the record"));
}

TEST_F(RecordComparison, weighted_processors_are_not_compared_with_cpus) {
  add(accounting::ConfigurationLoaded{{k_t - 50}, "weights: {cpu: 1, gres/gpu: 32}\n"});
  add(accounting::ConfigurationLoaded{{k_t + 50}, "period: none\n"});
  run(17, 0, 100, 36);
  run(18, 60, 100, 36);
  const auto report = against(same_17 + jobcomp(18, 60, 100, 4));
  EXPECT_TRUE(notes(report, "1 size not compared: the configuration weighs processors"));
  EXPECT_PRED2(contains, findings_of(report), "job 18");
  EXPECT_EQ(report.findings.size(), 1U);
  // By their text, configurations are known to weigh them.
  for (const char* plain :
       {"", "period: none\n", "weights: {cpu: 1}\n", "weights: { \"cpu\": 1 }  # cores\nmode: observe\n",
        "weights:\n  cpu: 1\norganizations:\n  - name: weights\n", "# weights: {gres/gpu: 3}\n"})
    EXPECT_TRUE(counts_cpus_only(plain)) << plain;
  for (const char* weighted : {"weights: {cpu: 2}", "weights: {cpu: 1, gres/gpu: 32}", "weights:\n  gres/gpu: 1\n",
                               "weights:\n  cpu: 1\n\n  mem: 1\n", "weights: {cpu: 10}"})
    EXPECT_FALSE(counts_cpus_only(weighted)) << weighted;
}

TEST_F(RecordComparison, runs_of_one_side_only_are_found) {
  run(17, 0, 100, 4);
  run(18, 0, 200, 4);
  EXPECT_EQ(findings_of(against(same_17 + jobcomp(19, 0, 50, 2, "FAILED"))),
            "job 19 (line 2, FAILED): the record has a run from 2026-11-21T07:00:00Z to 2026-11-21T07:00:50Z that the "
            "ledger does not have\n"
            "job 18, run from 2026-11-21T07:00:00Z to 2026-11-21T07:03:20Z: the ledger has a run that the records do "
            "not have");
}

TEST_F(RecordComparison, a_retracted_run_is_no_run_and_a_record_of_it_is_named_with_the_way_to_have_it_again) {
  retracted_run(17, 4, 10);
  run(18, 0, 100, 1);
  EXPECT_TRUE(clean(against(jobcomp(18, 0, 100, 1))));
  for (const auto& report :
       {against(jobcomp(18, 0, 100, 1) + same_17), against_sacct(sacct("17", 0, 8, 4) + sacct("18", -500, -400, 1))})
    EXPECT_PRED2(contains, findings_of(report), "retracted, because slurmctld forgot it; shapleyctl import --into");
}

// A federated job ran here, was requeued, and waited here again until it started on another cluster: sacct has this row
// for that, and the run's under no number.
TEST_F(RecordComparison, a_run_that_is_recorded_without_its_jobs_number_is_compared_by_its_start) {
  run(17, 0, 100, 4);
  run(18, 0, 50, 1);
  const std::string others = sacct("18", 0, 50, 1) + "17|None|" + clock_of(150) + "|REVOKED|4|00:00:00\n";
  const auto without_number = [](std::int64_t start, std::optional<std::int64_t> end, int cpus) {
    return sacct("4294967294", start, end, cpus, "CANCELLED");
  };
  const std::string absent =
      "job 17, run from 2026-11-21T07:00:00Z to 2026-11-21T07:01:40Z: the ledger has a run that the records do not "
      "have (sacct without -D hides runs that were requeued)";
  const auto report = against_sacct(others + without_number(0, {}, 4));
  EXPECT_TRUE(clean(report, {"1 run is recorded without the number of its job, and compared by its start (line 4)",
                             "1 record says that a run has ended, and not when"}));
  EXPECT_EQ(report.runs_compared, 2);
  EXPECT_EQ(findings_of(against_sacct(others)), absent);
  EXPECT_EQ(findings_of(against_sacct(others + without_number(1, {}, 4))), absent);
  EXPECT_EQ(findings_of(against_sacct(others + without_number(0, {}, 5))),
            run_17(4, "holds 4 processors in the ledger, 5 CPUs in the record", "CANCELLED"));
  EXPECT_PRED2(
      contains, findings_of(against_sacct(others + without_number(0, 101, 4))),
      run_17(4, "ends at 2026-11-21T07:01:40Z in the ledger, at 2026-11-21T07:01:41Z in the record", "CANCELLED"));
}

TEST_F(RecordComparison, a_record_without_number_is_of_one_run_and_of_none_that_has_a_record) {
  const std::string without_number = sacct("4294967294", 0, {}, 4, "CANCELLED");
  run(17, 0, 100, 4);
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 100, 4) + without_number)));
  run(18, 0, 100, 4);
  EXPECT_EQ(against_sacct(sacct("19", -5, 7, 1) + without_number).findings.size(), 2U);  // of 17 or 18, and of 19
  EXPECT_TRUE(clean(against_sacct(without_number + without_number + sacct("20", -5'000, -4'000, 1)),
                    {"2 runs are recorded without the number of their job"}));
}

TEST_F(RecordComparison, an_open_run_without_record_is_a_note_with_record_a_finding) {
  add(opened(17, k_t, "a", 4));
  run(18, 0, 100, 1);
  EXPECT_TRUE(clean(against(jobcomp(18, 0, 100, 1)), {"1 run is open in the ledger"}));
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, {}, 4, "RUNNING") + sacct("18", 0, 100, 1))));
  EXPECT_EQ(findings_of(against(jobcomp(17, 0, 300, 4) + jobcomp(18, 0, 100, 1))),
            run_17(1, "is still open in the ledger, ended at 2026-11-21T07:05:00Z in the record"));
}

TEST_F(RecordComparison, what_lies_outside_the_ledger_or_the_records_is_left_out) {
  run(17, 0, 100, 4);
  run(18, 0, 50, 4);  // ended before the first record did
  EXPECT_FALSE(clean(against(jobcomp(3, -5000, -1000, 1) + same_17))) << "it should be there: the first record is old";
  EXPECT_TRUE(clean(against(same_17), {"1 run of the ledger ended before the records begin"}));
  EXPECT_TRUE(clean(against(jobcomp(3, -5000, -1000, 1) + jobcomp(18, 0, 50, 4) + same_17),
                    {"1 recorded run ended before the ledger began"}));
}

// The ledger's last event was received at k_t + 100,000.
TEST_F(RecordComparison, what_a_copy_of_the_ledger_is_too_old_for_is_a_note) {
  run(17, 0, 100, 4);
  EXPECT_TRUE(clean(against(same_17 + jobcomp(18, 200'000, 200'100, 4)),
                    {"1 recorded run began after the ledger's last event was received, at 2026-11-22T10:46:40Z"}));
  add(opened(18, k_t + 99'000, "a", 4));
  const auto ended = [&](std::optional<std::int64_t> end, std::int64_t last_start = 99'999) {
    return against_sacct(sacct("17", 0, 100, 4) + sacct("18", 99'000, end, 4) + sacct("19", last_start, 100'001, 1));
  };
  EXPECT_TRUE(clean(ended(100'001), {"1 run ended after the ledger's last event was received"}));
  EXPECT_FALSE(clean(ended(99'900)));  // the ledger went on, and still has it open
  EXPECT_FALSE(clean(ended({}, 99'000)));
}

TEST_F(RecordComparison, what_the_records_are_too_old_for_is_a_note) {
  run(17, 0, 100, 4);
  run(18, 500, 600, 4);
  EXPECT_TRUE(clean(
      against_sacct(sacct("16", -5'000, -4'000, 1) + sacct("17", 0, {}, 4, "RUNNING")),
      {"1 run of the ledger began after the records were made", "1 run had not ended when the records were made"}));
  EXPECT_TRUE(clean(against(same_17)));
}

// A month from k_t + 10,000 to k_t + 20,000, and what crosses its edges.
class MonthOfRecords : public RecordComparison {
 protected:
  MonthOfRecords() {
    run(1, 0, 100, 1);                     // before
    run(2, 9'000, 10'000, 1);              // ended as it began
    run(3, 9'000, 11'000, 2);              // across the first edge
    run(4, 12'000, 13'000, 3);             // within
    run(5, 19'000, 30'000, 4);             // across the second
    run(6, 20'000, 21'000, 1);             // began as it ended
    run(7, 50'000, 51'000, 1);             // after
    add(opened(8, k_t + 15'000, "a", 2));  // goes on
    run(9, 9'000, 40'000, 1);              // longer than all of it
  }
  // What sacct -S -E shows of it, some day later; without one of its rows.
  [[nodiscard]] static std::string shown(std::size_t without = ~std::size_t{0}) {
    const std::vector rows{sacct("3", 9'000, 11'000, 2), sacct("4", 12'000, 13'000, 3), sacct("5", 19'000, 30'000, 4),
                           sacct("8", 15'000, {}, 2, "RUNNING"), sacct("9", 9'000, 40'000, 1)};
    std::string text = "11|Unknown|Unknown|PENDING|0|00:00:00\n";
    for (std::size_t i = 0; i < rows.size(); ++i) text += i == without ? "" : rows.at(i);
    return text;
  }
  AuditReport of_month(const std::string& rows) {
    return against_sacct(rows, {.since = Instant{k_t + 10'000}, .until = Instant{k_t + 20'000}});
  }
};

TEST_F(MonthOfRecords, what_lies_outside_is_no_finding) {
  const auto report = of_month(shown());
  EXPECT_TRUE(clean(report, {"2 runs of the ledger ended before the records begin",
                             "2 runs of the ledger began after the records were made"}));
  EXPECT_EQ(report.runs_compared, 5);
  EXPECT_FALSE(clean(against_sacct(shown())));  // of which time they are was not given
  // Nor are rows that sacct shows beyond it, whether the ledger has them or not.
  EXPECT_TRUE(
      clean(of_month(shown() + sacct("7", 50'000, 51'007, 1) + sacct("12", 60'000, {}, 1) + sacct("1", 0, 100, 9)),
            {"3 runs that both sides or the records alone have lie outside of the interval"}));
}

TEST_F(MonthOfRecords, a_defect_within_is_found) {
  const auto count = [&](const std::string& rows) { return of_month(rows).findings.size(); };
  for (std::size_t row = 0; row < 5; ++row) EXPECT_EQ(count(shown(row)), 1U) << row;
  for (const std::int64_t start : {12'345, 9'000}) EXPECT_EQ(count(shown() + sacct("12", start, 12'346, 1)), 1U);
  // Other times, and so another length, or other sizes, at either edge, too.
  EXPECT_EQ(count(shown(1) + sacct("4", 12'000, 13'001, 3)), 2U);
  EXPECT_EQ(count(shown(0) + sacct("3", 9'001, 11'000, 2)), 2U);
  EXPECT_EQ(count(shown(2) + sacct("5", 19'000, 30'000, 5)), 1U);
  // A run that the ledger has outside of the interval, and Slurm within.
  EXPECT_EQ(count(shown() + sacct("7", 15'000, 51'000, 1)), 2U);
  EXPECT_EQ(count(""), 5U);
}

TEST_F(RecordComparison, jobs_that_never_ran_do_not_matter) {
  run(17, 0, 100, 4);
  EXPECT_TRUE(clean(against(jobcomp(18, 0, 0, 0, "CANCELLED") + same_17)));
  EXPECT_TRUE(clean(against_sacct("18|Unknown|" + clock_of(0) + "|CANCELLED by 0|0|00:00:00\n" +
                                  sacct("17", 0, 100, 4) + "19|Unknown|Unknown|PENDING|4|00:00:00\n")));
  run(20, 0, 0, 4);  // ended within the second in which it began
  EXPECT_TRUE(clean(against(same_17)));
  EXPECT_TRUE(clean(against(same_17 + jobcomp(20, 0, 0, 4))));
  // It was requeued in that second and cancelled while it waited; of a run that held its processors that is no excuse.
  EXPECT_TRUE(clean(against(same_17 + jobcomp(20, 0, 0, 0, "CANCELLED"))));
  EXPECT_FALSE(clean(against(jobcomp(17, 0, 100, 0, "CANCELLED") + jobcomp(20, 0, 0, 4))));
}

TEST_F(RecordComparison, each_run_of_a_requeued_job_has_its_own_record) {
  run(17, 0, 100, 4);
  run(17, 300, 400, 2);
  // jobcomp/filetxt calls a requeued run PENDING, and writes it twice when it was completing.
  EXPECT_TRUE(clean(against(same_17 + jobcomp(17, 0, 100, 4, "PENDING") + jobcomp(17, 0, 100, 0, "PENDING") +
                            jobcomp(17, 300, 400, 2))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", 300, 400, 2) + sacct("17", 0, 100, 4, "REQUEUED"))));
  // Without -D sacct shows the last run only.
  const auto hidden = findings_of(against_sacct(sacct("16", -2000, -1500, 1) + sacct("17", 300, 400, 2)));
  EXPECT_PRED2(contains, hidden, "sacct without -D");
  EXPECT_PRED2(lacks, hidden, "\n");
}

// `scontrol requeue` of a job that had ended at 100: Slurm has the requeue, at 130, as the end. An end by a requeue
// that the ledger saw is no such thing.
TEST_F(RecordComparison, a_run_that_had_ended_before_the_requeue_is_compared_without_its_end) {
  run(17, 0, 100, 4);
  EXPECT_TRUE(
      clean(against_sacct(sacct("17", 0, 130, 4, "REQUEUED")), {"1 run had ended when the job was queued again"}));
  EXPECT_FALSE(against_sacct(sacct("17", 0, 130, 2, "REQUEUED")).clean()) << "another size";
  EXPECT_FALSE(against_sacct(sacct("17", 0, 90, 4, "REQUEUED")).clean()) << "it held them until 100";
  EXPECT_FALSE(against_sacct(sacct("17", 0, 130, 4, "COMPLETED")).clean());
  piece(18, 0, 0, 0, 100, 4, CloseReason::requeued);
  EXPECT_FALSE(against_sacct(sacct("17", 0, 130, 4, "REQUEUED") + sacct("18", 0, 130, 4, "REQUEUED")).clean());
}

// Cancelled at 100 while it waited, queued again at 130.
TEST_F(RecordComparison, a_wait_that_was_cancelled_and_queued_again_is_no_run) {
  run(16, 0, 100, 4);
  auto wait = opened(17, k_t, "a", 1);
  wait.key.kind = accounting::SegmentKind::wait;
  wait.nodes.clear();
  add(wait);
  add(closed(wait, k_t + 100));
  const std::string ran = sacct("16", 0, 100, 4);
  EXPECT_TRUE(
      clean(against_sacct(ran + sacct("17", 100, 130, 1, "REQUEUED")), {"1 record is of a job that was cancelled"}));
  EXPECT_FALSE(against_sacct(ran + sacct("17", 99, 130, 1, "REQUEUED")).clean());
  EXPECT_FALSE(against_sacct(ran + sacct("17", 100, 130, 1, "COMPLETED")).clean());
}

TEST_F(RecordComparison, a_run_that_slurm_recorded_twice_must_fit_once) {
  run(17, 0, 100, 4);
  for (const std::int64_t other : {90, 110})
    EXPECT_TRUE(clean(against(jobcomp(17, 0, other, 4) + same_17), {"1 record names a run again"}));
  EXPECT_EQ(against(jobcomp(17, 0, 90, 4) + jobcomp(17, 0, 110, 4)).findings.size(), 2U);
}

// Suspended on the way, or in the second in which it began, so that it holds nothing before it is resumed.
TEST_F(RecordComparison, suspended_time_counts_where_the_record_has_it) {
  for (const bool from_its_begin : {false, true}) {
    facts_ = {};
    if (!from_its_begin) piece(17, 0, 0, 0, 30, 4, CloseReason::suspended);
    piece(17, 0, from_its_begin ? 0 : 1, from_its_begin ? 20 : 50, 100, 4, CloseReason::ended);
    EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 100, 4, "COMPLETED", "00:00:20"))));
    EXPECT_EQ(findings_of(against_sacct(sacct("17", 0, 100, 4, "COMPLETED", "00:00:19"))),
              run_17(2,
                     "holds its processors for 80 s in the ledger, 81 s in the record (of which 19 s suspended are "
                     "left out)"));
    EXPECT_TRUE(clean(against(same_17), {"1 run was suspended and the records do not say for how long"}));
  }
  // Cancelled while it is suspended, a run ends when it was suspended.
  facts_ = {};
  piece(17, 0, 0, 0, 30, 4, CloseReason::suspended);
  EXPECT_TRUE(clean(against(jobcomp(17, 0, 30, 4, "CANCELLED"))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 90, 4, "CANCELLED by 0", "00:01:00"))));
  EXPECT_FALSE(clean(against(jobcomp(17, 0, 29, 4, "CANCELLED"))));
}

// What the ledger has of job 17: retracted, suspended in the first second and in the last, and known late.
TEST_F(RecordComparison, a_run_of_several_segments_starts_at_its_anchor) {
  piece(17, 0, 0, 0, 10, 4, CloseReason::suspended);
  add(accounting::SegmentRetracted{{accounting::SegmentKind::run, {17}, {k_t}, 0}, {k_t + 30}});
  piece(17, 0, 1, 20, 100, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 100, 4, "COMPLETED", "00:00:20"))));
  facts_ = {};
  piece(17, 0, 0, 0, 0, 4, CloseReason::suspended);
  piece(17, 0, 1, 10, 10, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, 0, 10, 4))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 10, 4, "COMPLETED", "00:00:10"))));
  facts_ = {};
  piece(17, 0, 0, 0, 0, 4, CloseReason::suspended);
  piece(17, 0, 1, 5, 19, 4, CloseReason::ended);
  piece(17, 0, 2, 0, 5, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, 0, 19, 4)))) << "no gap";
}

TEST_F(RecordComparison, an_unexplained_gap_is_found) {
  piece(17, 0, 0, 0, 30, 4, CloseReason::ended);
  piece(17, 0, 1, 50, 100, 4, CloseReason::ended);
  EXPECT_EQ(findings_of(against(same_17)),
            "job 17, run from 2026-11-21T07:00:00Z: in the ledger it has a gap from 2026-11-21T07:00:30Z to "
            "2026-11-21T07:00:50Z that no suspension explains");
}

TEST_F(RecordComparison, resized_runs_are_compared_piece_by_piece) {
  piece(17, 0, 0, 0, 30, 8, CloseReason::resized);
  piece(17, 0, 1, 30, 60, 4, CloseReason::resized);
  piece(17, 0, 2, 60, 100, 2, CloseReason::ended);
  // jobcomp/filetxt: the moment of the resize is start and end of its row, and the start of the last row.
  EXPECT_TRUE(clean(
      against(jobcomp(17, 30, 30, 8, "RESIZING") + jobcomp(17, 60, 61, 4, "RESIZING") + jobcomp(17, 60, 100, 2))));
  // sacct -D: every row has the original start.
  EXPECT_TRUE(clean(
      against_sacct(sacct("17", 0, 30, 8, "RESIZING") + sacct("17", 0, 60, 4, "RESIZING") + sacct("17", 0, 100, 2))));
  EXPECT_TRUE(
      clean(against_sacct(sacct("17", 0, 100, 2)), {"1 run was resized and the records show its last size only"}));
  EXPECT_EQ(findings_of(against(jobcomp(17, 30, 30, 8, "RESIZING") + jobcomp(17, 60, 60, 5, "RESIZING") +
                                jobcomp(17, 60, 100, 2))),
            run_17(3, "holds 4 processors in the ledger, 5 CPUs in the record"));
  EXPECT_EQ(findings_of(against(jobcomp(17, 30, 30, 8, "RESIZING") + jobcomp(17, 61, 61, 4, "RESIZING") +
                                jobcomp(17, 61, 100, 2))),
            run_17(3, "is resized at 2026-11-21T07:01:00Z in the ledger, at 2026-11-21T07:01:01Z in the record"));
  EXPECT_FALSE(clean(against(jobcomp(17, 30, 30, 8, "RESIZING") + jobcomp(17, 30, 100, 2))));
  // One that goes on has no end yet.
  facts_ = {};
  piece(17, 0, 0, 0, 30, 8, CloseReason::resized);
  piece(17, 0, 1, 30, {}, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, 30, 30, 8, "RESIZING"))));
}

// The record has a size that held for no second, and the ledger's books do not.
TEST_F(RecordComparison, a_run_that_was_resized_as_it_began_has_its_later_sizes) {
  piece(17, 0, 0, 0, 0, 8, CloseReason::resized);
  piece(17, 0, 1, 0, 100, 4, CloseReason::ended);
  EXPECT_TRUE(clean(against(jobcomp(17, 0, 0, 8, "RESIZING") + jobcomp(17, 0, 100, 4))));
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 0, 8, "RESIZING") + sacct("17", 0, 100, 4))));
  EXPECT_EQ(findings_of(against(jobcomp(17, 30, 30, 8, "RESIZING") + jobcomp(17, 30, 100, 4))),
            run_17(2, "sizes: 1 in the ledger, 2 in the record"));
}

TEST_F(RecordComparison, a_repeated_hour_is_read_as_the_ledger_has_it) {
  const shapley::testing::TimeZone berlin(shapley::testing::k_berlin);
  constexpr std::int64_t second_half_past_two = 1792891800 - k_t;
  run(17, second_half_past_two, second_half_past_two + 60, 4);
  EXPECT_TRUE(clean(against_sacct("17|2026-10-25T02:30:00|2026-10-25T02:31:00|COMPLETED|4|00:00:00\n")));
}

// The plugin was away from k_t + 100 to k_t + 160.
TEST_F(RecordComparison, what_ended_in_a_gap_of_observation_is_a_note) {
  add(accounting::ObservationGap{{k_t + 100}, {k_t + 160}, accounting::GapCause::unobserved});
  run(17, 0, 160, 4);  // requeued within the gap; the ledger has the new submit time
  run(18, 0, 50, 1);
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, 140, 4) + sacct("18", 0, 50, 1) + sacct("19", 110, 130, 2)),
                    {"1 recorded run is not in the ledger and ended in a gap of observation",
                     "1 run ended in a gap of observation"}));
  // What ended under observation is a finding as before.
  EXPECT_FALSE(clean(against_sacct(sacct("18", 0, 50, 1) + sacct("20", 110, 170, 2))));
  EXPECT_FALSE(clean(against_sacct(sacct("18", 0, 60, 1))));
  // While slurmctld was down no run can be missing.
  facts_ = {};
  add(accounting::ObservationGap{{k_t + 100}, {k_t + 160}, accounting::GapCause::slurmctld_down});
  EXPECT_FALSE(clean(against_sacct(sacct("19", 110, 130, 2))));
}

// The clock was wrong from k_t + 100 to k_t + 160; the records were put right.
TEST_F(RecordComparison, what_began_under_a_wrong_clock_is_a_note) {
  add(accounting::ObservationGap{{k_t + 100}, {k_t + 160}, accounting::GapCause::wrong_clock});
  run(18, 0, 50, 1);
  EXPECT_TRUE(clean(against_sacct(sacct("18", 0, 50, 1) + sacct("19", 110, 130, 2) + sacct("20", 110, 400, 2)),
                    {"1 recorded run is not in the ledger and ended in a gap of observation",
                     "1 recorded run is not in the ledger and began in a gap of observation"}));
  EXPECT_FALSE(clean(against_sacct(sacct("18", 0, 50, 1) + sacct("20", 170, 400, 2))));
}

// slurmctld came back without its state at k_t + 130; it was seen last at k_t + 100.
TEST_F(RecordComparison, runs_that_slurmctld_lost_end_where_they_were_seen_last) {
  add(accounting::StateLost{{k_t + 130}, {k_t + 100}, 2, 500, 1, 4});
  for (const std::uint32_t job : {17U, 18U}) piece(job, 0, 0, 0, 100, 4, CloseReason::vanished);
  run(19, 0, 200, 1);
  const std::string other = sacct("19", 0, 200, 1) + sacct("20", -500, -400, 1);
  const auto report = against_sacct(sacct("17", 0, 128, 4, "CANCELLED") + other);
  ASSERT_EQ(report.findings.size(), 1U) << "of the run that the ledger lacks";
  const std::string lost =
      "1 run was going on when slurmctld lost its state: in the ledger it ends when it was seen last, and ";
  EXPECT_TRUE(notes(report, lost + "in the record otherwise"));
  EXPECT_TRUE(notes(report, lost + "it is not recorded"));
  // A run whose end was seen, or that ended at another time, is none of these.
  EXPECT_EQ(against_sacct(sacct("17", 0, 100, 4) + sacct("19", 0, 190, 1)).findings.size(), 2U) << "end and length";
}

// slurmctld was killed before it saved the start of 17; slurmdbd never heard of the end of 18.
TEST_F(RecordComparison, runaway_jobs_of_slurmdbd_are_named_as_what_they_are) {
  retracted_run(17, 4, 5);
  run(18, 0, 50, 4);
  run(19, 0, 200, 1);
  const std::string other = sacct("19", 0, 200, 1);
  EXPECT_TRUE(clean(against_sacct(sacct("17", 0, {}, 4, "RUNNING") + sacct("18", 0, {}, 4, "RUNNING") +
                                  sacct("20", 10, {}, 1, "SUSPENDED") + other),
                    {"3 recorded runs have no end, and by the ledger, which goes on, slurmctld knows nothing of them",
                     "sacctmgr show runawayjobs lists and ends them), not compared: jobs 17, 18 and 20"}));
  // One that ended only just may still be on its way to slurmdbd, and one that ended without an end is no such job.
  run(21, 0, 195, 1);
  EXPECT_TRUE(clean(against_sacct(sacct("21", 0, {}, 1, "RUNNING") + sacct("18", 0, 50, 4) + other),
                    {"1 run had not ended when the records were made"}));
  const auto ended = against_sacct(sacct("20", 10, {}, 1, "COMPLETED") + other);
  EXPECT_TRUE(notes(ended, "1 record says that a run has ended, and not when"));
  EXPECT_FALSE(notes(ended, "runaway"));
}

TEST_F(RecordComparison, records_of_another_time_zone_are_one_finding_that_names_the_difference) {
  std::string rows;
  const auto record_later = [&](std::uint32_t first, std::uint32_t last, std::int64_t by) {
    for (std::uint32_t job = first; job <= last; ++job) {
      run(job, job, 100 * job, 2);
      rows += sacct(std::to_string(job), job + by, 100 * job + by, 2);
    }
  };
  record_later(1, 5, 3600);
  EXPECT_EQ(findings_of(against_sacct(rows)),
            "the records have times that are 3600 s later for 5 runs than the ledger: they are of another time zone "
            "than this audit; run both with the same TZ");
  // In summer it is another hour, and between the two one run has both.
  record_later(11, 12, 7200);
  run(20, 7, 50'000, 2);
  rows += sacct("20", 7 + 7200, 50'000 + 3600, 2, "COMPLETED", "01:00:00");
  const auto report = against_sacct(rows);
  EXPECT_PRED2(contains, findings_of(report),
               "the records have times that are 3600 s later for 5 runs, and 7200 s later for 2 runs than the ledger: "
               "they are of another time zone than this audit; run both with the same TZ\n");
  EXPECT_EQ(report.runs_compared, 8);
}

TEST_F(RecordComparison, what_differs_beside_the_time_zone_is_found) {
  for (std::uint32_t job = 1; job <= 3; ++job) run(job, job, 100 * job, 2);
  const auto found = findings_of(against_sacct(
      sacct("1", 1 - 7200, 100 - 7200, 2) + sacct("2", 2 - 7200, 200 - 7200, 4) + sacct("3", 3 - 7200, 300 - 7200, 2)));
  EXPECT_EQ(std::ranges::count(found, '\n'), 1) << found;
  EXPECT_PRED2(contains, found.substr(0, found.find('\n')), "7200 s earlier for 3 runs");
  EXPECT_PRED2(contains, found, "holds 2 processors in the ledger, 4 CPUs in the record");
  // A single run that is off by an hour among those that agree is its own finding.
  const auto one =
      findings_of(against_sacct(sacct("1", 1, 100, 2) + sacct("2", 2, 200, 2) + sacct("3", 3603, 3900, 2)));
  EXPECT_PRED2(lacks, one, "time zone");
  EXPECT_NE(one, "");
}

TEST_F(RecordComparison, times_that_sacct_cut_are_one_finding) {
  run(1, -900, 100, 2);
  run(2, -500, 3600, 2);
  run(3, 10, 20, 2);
  run(4, 30, 4000, 2);
  add(opened(5, k_t + 40, "a", 2));
  EXPECT_EQ(findings_of(against_sacct(sacct("1", 0, 100, 2) + sacct("2", 0, 3600, 2) + sacct("3", 10, 20, 2) +
                                      sacct("4", 30, 3600, 2) + sacct("5", 40, 3600, 2, "RUNNING"))),
            "of the runs 2 begin at 2026-11-21T07:00:00Z and 2 end at 2026-11-21T08:00:00Z in the records, where the "
            "ledger's go on beyond: sacct -T (--truncate) cut them; make the records without it");
}

TEST_F(RecordComparison, a_record_that_has_ended_and_does_not_say_when_is_named) {
  run(17, 0, 100, 4);
  add(opened(18, k_t + 5, "a", 2));
  const std::string rows =
      sacct("17", 0, {}, 4, "NODE_FAIL") + sacct("19", 0, {}, 1) + sacct("20", 1, {}, 1, "RUNNING");
  run(20, 1, 50, 1);
  EXPECT_TRUE(clean(against_sacct(rows), {"2 records say that a run has ended, and not when", "(lines 2 and 3)",
                                          "1 run had not ended when the records were made"}))
      << "RUNNING is another thing";
  EXPECT_EQ(findings_of(against_sacct(rows + sacct("18", 5, {}, 2, "FAILED"))),
            "job 18, run from 2026-11-21T07:00:05Z (line 5, FAILED): is still open in the ledger; the record says that "
            "it has ended, and not when");
}

TEST_F(RecordComparison, an_unreadable_line_is_a_finding_and_an_impossible_record_is_left_out_and_named) {
  run(17, 0, 100, 4);
  EXPECT_EQ(
      findings_of(against(same_17 + "rubbish\n")),
      "line 2 of the records cannot be read: no jobcomp/filetxt record: it does not begin with JobId=... UserId=...");
  run(18, 0, 100, 1);
  EXPECT_TRUE(clean(against_sacct(sacct("17", 3600 - k_t, 100, 4) + sacct("18", 0, 100, 1)),
                    {"line 2, job 17: the record cannot be right, it starts before there was Slurm: left out",
                     "1 run of the ledger is of such a job: not compared"}));
}

}  // namespace
}  // namespace shapley::ledger
