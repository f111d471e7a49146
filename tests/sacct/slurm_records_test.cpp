#include "sacct/slurm_records.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/time_zone.hpp"
namespace shapley::sacct {
namespace {

std::optional<JobId> no_arrays(std::uint32_t, std::uint32_t) {
  return std::nullopt;
}

SlurmRecords read(const std::string& text, const FindArrayTask& find_task = no_arrays) {
  std::istringstream in(text);
  auto records = read_slurm_records(in, find_task);
  EXPECT_TRUE(records) << (records ? "" : records.error().what);
  return records ? *records : SlurmRecords{};
}

std::string refusal(const std::string& text) {
  std::istringstream in(text);
  const auto records = read_slurm_records(in, no_arrays);
  EXPECT_FALSE(records);
  return records ? "" : records.error().what;
}

// A record as slurmctld 22.05.8 writes it.
std::string jobcomp(const std::string& name, const std::string& times, const std::string& directory = "/home/ann") {
  return "JobId=17 UserId=ann(1001) GroupId=users(100) Name=" + name +
         " JobState=COMPLETED Partition=main TimeLimit=60 " + times +
         " NodeList=n[1-2] NodeCnt=2 ProcCnt=6 WorkDir=" + directory +
         " ReservationName= Tres=cpu=6,mem=1M Account=physics QOS=normal WcKey= Cluster=c "
         "SubmitTime=2026-11-21T06:59:00 EligibleTime=2026-11-21T06:59:00 DerivedExitCode=0:0 ExitCode=0:0 \n";
}
constexpr const char* k_times = "StartTime=2026-11-21T07:00:00 EndTime=2026-11-21T07:01:40";
constexpr std::int64_t k_seven = 1795244400;  // 2026-11-21T07:00:00Z

TEST(Jobcomp, reads_a_record) {
  const shapley::testing::TimeZone utc("UTC0");
  const auto records = read(jobcomp("test", k_times));
  EXPECT_EQ(records.format, RecordFormat::jobcomp);
  EXPECT_TRUE(records.unreadable.empty());
  ASSERT_EQ(records.records.size(), 1U);
  const SlurmRecord& record = records.records[0];
  EXPECT_EQ(record.line, 1);
  EXPECT_EQ(record.job, JobId{17});
  EXPECT_EQ(record.state, "COMPLETED");
  EXPECT_EQ(record.start->instant, Instant{k_seven});
  EXPECT_EQ(record.end->instant, Instant{k_seven + 100});
  EXPECT_EQ(record.cpus, 6);
  EXPECT_FALSE(record.suspended);
}

TEST(Jobcomp, takes_times_as_local) {
  const shapley::testing::TimeZone berlin(shapley::testing::k_berlin);
  EXPECT_EQ(read(jobcomp("test", k_times)).records.at(0).start->instant, Instant{k_seven - 3600});
}

TEST(Jobcomp, takes_times_in_seconds) {
  const shapley::testing::TimeZone berlin(shapley::testing::k_berlin);
  const auto records = read(jobcomp("test", "StartTime=1795244400 EndTime=1795244500"));
  ASSERT_EQ(records.records.size(), 1U);
  EXPECT_EQ(records.records[0].start->instant, Instant{k_seven});
  EXPECT_FALSE(records.records[0].start->twin);
  EXPECT_EQ(records.records[0].end->instant, Instant{k_seven + 100});
  EXPECT_FALSE(read(jobcomp("test", "StartTime=0 EndTime=1795244500")).records.at(0).start);
  EXPECT_EQ(read(jobcomp("test", "StartTime=1795244400000000 EndTime=1795244500")).unreadable.size(), 1U);
}

TEST(Jobcomp, a_job_that_never_started_has_no_start) {
  const shapley::testing::TimeZone utc("UTC0");
  const auto records = read(jobcomp("test", "StartTime=Unknown EndTime=2026-11-21T07:01:40"));
  EXPECT_FALSE(records.records.at(0).start);
}

TEST(Jobcomp, job_names_may_hold_anything_that_is_not_a_record) {
  const shapley::testing::TimeZone utc("UTC0");
  for (const std::string name :
       {"two words", " JobState=COMPLETED ", "JobId=99 UserId=root(0)", "a=b", "", "\xff\x01", "ProcCnt=9"}) {
    const auto records = read(jobcomp(name, k_times, "/tmp/ StartTime=x " + name));
    ASSERT_EQ(records.records.size(), 1U) << name;
    EXPECT_EQ(records.records[0].cpus, 6);
  }
}

// A user who tries to make the auditor read another run than Slurm recorded.
TEST(Jobcomp, a_name_that_imitates_a_record_is_set_aside_not_believed) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string forged =
      "x JobState=FAILED Partition=p TimeLimit=1 StartTime=2026-11-21T07:00:00 EndTime=2026-11-21T07:00:01 NodeList=n1 "
      "NodeCnt=1 ProcCnt=1 WorkDir=/";
  for (const auto& text : {jobcomp(forged, k_times), jobcomp("x", k_times, forged)}) {
    const auto records = read(jobcomp("honest", k_times) + text);
    EXPECT_EQ(records.records.size(), 1U);
    ASSERT_EQ(records.unreadable.size(), 1U);
    EXPECT_EQ(records.unreadable[0].line, 2);
    EXPECT_NE(records.unreadable[0].why.find("looks like a record itself"), std::string::npos);
  }
}

TEST(Jobcomp, names_and_directories_may_hold_line_feeds) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string job = "JobId=5 UserId=x";  // as a record begins, without its group and name
  for (const std::string& text : {std::string("one\ntwo"), std::string("\n"), std::string("a\n\n") + job,
                                  "\n" + job + "\n", std::string("a ExitCode=0:0 \nb")}) {
    for (const std::string& record : {jobcomp(text, k_times), jobcomp("x", k_times, "/tmp/" + text)}) {
      const auto records = read(jobcomp("before", k_times) + record + jobcomp("after", k_times));
      EXPECT_TRUE(records.unreadable.empty()) << record << records.unreadable.front().why;
      ASSERT_EQ(records.records.size(), 3U) << record;
      EXPECT_EQ(records.records[1].line, 2);
      EXPECT_EQ(records.records[1].job, JobId{17});
      EXPECT_EQ(records.records[1].cpus, 6);
    }
  }
}

TEST(Jobcomp, a_line_feed_and_then_a_whole_record_is_set_aside_not_believed) {
  const shapley::testing::TimeZone utc("UTC0");
  std::string forged = jobcomp("x", k_times);
  forged.replace(forged.find("17"), 2, "99");
  for (const auto& text : {jobcomp("a\n" + forged + "b", k_times), jobcomp("a\n" + forged, k_times)}) {
    const auto records = read(jobcomp("honest", k_times) + text + jobcomp("honest", k_times));
    EXPECT_FALSE(records.unreadable.empty());
    for (const SlurmRecord& record : records.records) EXPECT_EQ(record.job, JobId{17});
  }
}

// slurmctld 22.05 cuts a record at 1,023 bytes and loses its line feed.
TEST(Jobcomp, a_record_cut_off_by_slurm_does_not_take_the_next_one_with_it) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string cut = jobcomp("long", k_times, "/home/" + std::string(2000, 'd')).substr(0, 1023);
  const auto records = read(cut + cut + jobcomp("next", k_times));
  EXPECT_TRUE(records.unreadable.empty());
  ASSERT_EQ(records.records.size(), 3U);
  EXPECT_EQ(records.records[2].line, 1);
}

TEST(Jobcomp, a_record_cut_off_too_early_is_set_aside) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string cut = jobcomp(std::string(1000, 'n'), k_times).substr(0, 1023);
  const auto records = read(cut + jobcomp("next", k_times));
  EXPECT_EQ(records.records.size(), 1U);
  EXPECT_EQ(records.unreadable.size(), 1U);
}

constexpr const char* k_audit_header = "JobIDRaw|Start|End|State|AllocCPUS|Suspended\n";

TEST(Sacct, reads_rows_by_their_header) {
  const shapley::testing::TimeZone utc("UTC0");
  const auto records = read(std::string(k_audit_header) +
                            "17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:10\n"
                            "17.batch|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00\n"
                            "17.extern|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00\n"
                            "18|Unknown|Unknown|PENDING|0|00:00:00\n"
                            "19|2026-11-21T07:00:00|2026-11-21T07:01:40|CANCELLED by 1001|1|1-02:03:04\n");
  EXPECT_EQ(records.format, RecordFormat::sacct);
  EXPECT_TRUE(records.unreadable.empty());
  EXPECT_EQ(records.steps, 2);
  ASSERT_EQ(records.records.size(), 3U);
  EXPECT_EQ(records.records[0].line, 2);
  EXPECT_EQ(records.records[0].suspended, Duration{10});
  EXPECT_FALSE(records.records[1].start);
  EXPECT_EQ(records.records[2].state, "CANCELLED");
  EXPECT_EQ(records.records[2].suspended, Duration{93784});
}

TEST(Sacct, takes_any_order_of_columns_and_a_trailing_delimiter) {
  const shapley::testing::TimeZone utc("UTC0");
  const auto records = read(
      "User|State|NCPUS|End|Start|JobID|\n"
      "ann|TIMEOUT|6|2026-11-21T07:01:40|2026-11-21T07:00:00|17|\n");
  ASSERT_EQ(records.records.size(), 1U);
  EXPECT_EQ(records.records[0].state, "TIMEOUT");
  EXPECT_EQ(records.records[0].cpus, 6);
  EXPECT_FALSE(records.records[0].suspended);
}

TEST(Sacct, translates_array_tasks_where_they_are_known) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string text =
      "JobID|Start|End|State|NCPUS\n"
      "17_3|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|1\n"
      "17_4|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|1\n"
      "17_[5-9%2]|Unknown|Unknown|PENDING|1\n"
      "20+x|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|1\n";
  const auto records = read(text, [](std::uint32_t array, std::uint32_t task) -> std::optional<JobId> {
    return array == 17 && task == 3 ? std::optional(JobId{21}) : std::nullopt;
  });
  ASSERT_EQ(records.records.size(), 1U);
  EXPECT_EQ(records.records[0].job, JobId{21});
  EXPECT_EQ(records.pending_arrays, 1);
  ASSERT_EQ(records.unreadable.size(), 2U);
  EXPECT_EQ(records.unreadable[0].line, 3);
  EXPECT_NE(records.unreadable[0].why.find("JobIDRaw"), std::string::npos);
}

TEST(Sacct, parts_of_heterogeneous_jobs_have_the_numbers_after_the_first) {
  const shapley::testing::TimeZone utc("UTC0");
  const auto records = read(
      "JobID|User|Account|Submit|Start|End|State|AllocCPUS|NodeList\n"
      "20+0|amy|north|2025-03-01T10:00:00|2025-03-01T10:10:00|2025-03-01T10:30:00|COMPLETED|16|n1\n"
      "20+0.batch|||2025-03-01T10:00:00|2025-03-01T10:10:00|2025-03-01T10:30:00|COMPLETED|16|n1\n"
      "20+1|amy|north|2025-03-01T10:00:00|2025-03-01T10:10:00|2025-03-01T10:30:00|COMPLETED|8|n2\n"
      "20+1.0|||2025-03-01T10:00:00|2025-03-01T10:10:00|2025-03-01T10:30:00|COMPLETED|8|n2\n");
  EXPECT_TRUE(records.unreadable.empty());
  EXPECT_EQ(records.steps, 2);
  ASSERT_EQ(records.records.size(), 2U);
  EXPECT_EQ(records.records[0].job, JobId{20});
  EXPECT_EQ(records.records[1].job, JobId{21});
}

TEST(Sacct, rows_of_two_clusters_are_refused) {
  const std::string rows =
      "Cluster|JobIDRaw|Start|End|State|AllocCPUS\n"
      "alpha|500|1740823200|1740826800|COMPLETED|16\n";
  EXPECT_EQ(read(rows + "alpha|501|1740823200|1740830400|COMPLETED|8\n").records.size(), 2U);
  EXPECT_EQ(refusal(rows + "beta|500|1740823200|1740830400|COMPLETED|8\n"),
            "line 3: Cluster: the records are of 'alpha' and 'beta', whose jobs have the same numbers; ask sacct for "
            "one cluster at a time (-M NAME)");
}

TEST(Sacct, rows_of_one_run_that_contradict_each_other_are_set_aside) {
  const std::string header = "JobIDRaw|Account|Start|End|State|AllocCPUS|NodeList\n";
  const std::string first = "500|north|1740823200|1740826800|COMPLETED|16|n1\n";
  for (const char* second : {"500|north|1740823200|1740826801|COMPLETED|16|n1\n",    // another end
                             "500|south|1740823200|1740826800|COMPLETED|16|n1\n",    // account
                             "500|north|1740823200|1740826800|COMPLETED|16|n2\n",    // nodes
                             "500|north|1740823200|1740826800|COMPLETED|8|n1\n"}) {  // CPUs
    const auto records = read(header + first + second + "501|north|1740823200|1740826800|COMPLETED|1|n1\n");
    EXPECT_EQ(records.records.size(), 1U) << second;
    ASSERT_EQ(records.unreadable.size(), 2U) << second;
    EXPECT_EQ(records.unreadable[0].line, 2);
    EXPECT_EQ(records.unreadable[1].why,
              "job 500 started then in line 2, too, and that line says otherwise; are these jobs of two clusters? Ask "
              "sacct for one at a time (-M)");
  }
  for (const char* second : {"500|north|1740823200|1740826800|COMPLETED|16|n1\n",     // the same again
                             "500|north|1740823200|1740826800|COMPLETED|0|\n",        // without its CPUs
                             "500|north|1740830000|1740830001|COMPLETED|16|n1\n"}) {  // it ran again
    EXPECT_TRUE(read(header + first + second).unreadable.empty()) << second;
  }
}

TEST(Sacct, a_run_from_before_there_was_slurm_or_long_before_its_submission_is_impossible) {
  const shapley::testing::TimeZone utc("UTC0");
  const std::string header = "JobIDRaw|Submit|Start|End|State|AllocCPUS\n";
  for (const char* start : {"1970-01-01T00:00:00", "1970-01-01T01:00:00", "2004-01-01T00:00:00"}) {
    const auto records = read(header + "1|2025-03-01T10:00:00|" + start + "|2025-03-01T10:30:00|COMPLETED|4\n");
    EXPECT_TRUE(records.records.empty()) << start;
    EXPECT_TRUE(records.unreadable.empty()) << start;
    ASSERT_EQ(records.impossible.size(), 1U) << start;
    EXPECT_EQ(records.impossible[0].job, JobId{1});
  }
  // A resized run's later rows have the moment of the resize for their submission.
  EXPECT_EQ(read(header + "1|2025-03-01T10:00:00|2025-01-01T10:00:00|2025-03-01T10:30:00|COMPLETED|4\n").records.size(),
            1U);
}

TEST(Sacct, rows_that_cannot_be_read_are_named) {
  const shapley::testing::TimeZone utc("UTC0");
  for (const char* row : {"17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6",                   // too few fields
                          "17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00|x",        // too many
                          "x|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00",           // no job
                          "4294967296|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00",  // no job id
                          "17|yesterday|2026-11-21T07:01:40|COMPLETED|6|00:00:00",                    // no time
                          "17|2026-02-30T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00",          // no date
                          "17|2026-11-21T07:01:40|2026-11-21T07:00:00|COMPLETED|6|00:00:00",    // ends before it starts
                          "17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED||00:00:00",     // no CPUs
                          "17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|-6|00:00:00",   // negative
                          "17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|INVALID"}) {  // no duration
    const auto records =
        read(std::string(k_audit_header) + row + "\n17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6|00:00:00\n");
    EXPECT_EQ(records.records.size(), 1U) << row;
    ASSERT_EQ(records.unreadable.size(), 1U) << row;
    EXPECT_EQ(records.unreadable[0].line, 2) << row;
  }
}

TEST(SlurmRecords, says_what_is_needed_when_the_first_line_is_neither) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("JobID|State\n").find("sacct -a -D -P -o"), std::string::npos);
  EXPECT_NE(refusal("17|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|6\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal(std::string(3, '\0')).find("line 1"), std::string::npos);
}

// Whatever the bytes, reading ends with records, lines set aside, or an error; the sanitizers watch.
RC_GTEST_PROP(SlurmRecords, survive_any_bytes, (const std::string& bytes)) {
  const std::string first =
      *rc::gen::element<std::string>("", k_audit_header, "JobId=1 UserId=a", jobcomp("x", k_times));
  std::string text = first + bytes;
  if (!text.empty() && *rc::gen::arbitrary<bool>()) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  }
  std::istringstream in(text);
  const auto records = read_slurm_records(in, no_arrays);
  // RC_ASSERT evaluates both sides of a ||, and there is no error() where there is a value.
  if (!records) RC_ASSERT_FALSE(records.error().what.empty());
}

}  // namespace
}  // namespace shapley::sacct
