// Rows of sacct, whose they are, and what nodes have: by hand.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "base/bounded_text.hpp"
#include "history/attribution.hpp"
#include "history/row_checks.hpp"
#include "history/row_times.hpp"
#include "history/sacct_fields.hpp"
#include "history/sacct_rows.hpp"
#include "history/site_nodes.hpp"
#include "tests/support/time_zone.hpp"

namespace shapley::history {
namespace {

constexpr const char* k_header =
    "JobID|JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|TimelimitRaw|AllocCPUS|AllocTRES|"
    "NodeList\n";

Expected<SacctRows> rows_of(const std::string& lines, const std::string& header = k_header) {
  std::istringstream text(header + lines);
  return read_sacct_rows(text);
}

constexpr const char* k_remedy = "; --malformed skip leaves such rows out and lists them";

// Without the remedy that the errors of all rows end with.
std::string fault_of(const std::string& lines, const std::string& header = k_header) {
  const auto rows = rows_of(lines, header);
  if (rows) return "no fault";
  std::string what = rows.error().what;
  if (what.ends_with(k_remedy)) what.erase(what.size() - std::string_view(k_remedy).size());
  return what;
}

TEST(SacctRows, read_every_field) {
  const testing::TimeZone utc("UTC");
  const auto read = rows_of(
      "72_10|83|alice|1001|astro|CANCELLED by 1001|2026-03-09T08:00:00|2026-03-09T08:00:05|2026-03-09T08:01:00|"
      "2026-03-09T09:01:00|00:10:00|90|5|billing=5,cpu=5,mem=2.5G,node=2,gres/gpu=3,gres/gpu:a100=3|n[2,1]\n");
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->rows.size(), 1U);
  const SacctRow& row = read->rows.front();
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(row.job, 83U);
  EXPECT_EQ(row.array_job, 72U);
  EXPECT_EQ(row.array_task, 10U);
  EXPECT_EQ(row.state, "CANCELLED");
  EXPECT_EQ(row.user_id, 1001U);
  EXPECT_EQ(row.submit, Instant{1773043200});
  EXPECT_EQ(row.eligible, Instant{1773043205});
  EXPECT_EQ(row.start, Instant{1773043260});
  EXPECT_EQ(row.end, Instant{1773046860});
  EXPECT_EQ(row.suspended, Duration{600});
  EXPECT_EQ(row.requested, Duration{5400});
  EXPECT_EQ(row.memory, 2560U);
  ASSERT_EQ(row.gres.size(), 1U);
  EXPECT_EQ(row.gres.front(), (protocol::Tres{"gres/gpu", 3}));
  EXPECT_EQ(row.nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(row.ran());
}

TEST(SacctRows, leave_steps_and_pending_tasks_out_and_know_what_never_ran) {
  const testing::TimeZone utc("UTC");
  const auto read = rows_of(
      "7.batch|7.batch||||COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:00:00||1||n1\n"
      "8_[1-3]|8|bob|1|bio|PENDING|2026-03-09T08:00:00|Unknown|Unknown|Unknown|00:00:00|5|0||None assigned\n"
      "9|9|bob|1|bio|CANCELLED|2026-03-09T08:00:00|Unknown|None|2026-03-09T08:00:09|00:00:00|UNLIMITED|0||None "
      "assigned\n");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->steps, 1);
  EXPECT_EQ(read->pending_arrays, 1);
  ASSERT_EQ(read->rows.size(), 1U);
  EXPECT_FALSE(read->rows.front().ran());
  EXPECT_FALSE(read->rows.front().requested);
}

TEST(SacctRows, a_bad_row_is_an_error_with_line_field_and_remedy) {
  const testing::TimeZone utc("UTC");
  const std::string good =
      "1|1|a|1|x|COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:00:00|1|1||n1\n";
  EXPECT_EQ(fault_of(good), "no fault");
  EXPECT_EQ(fault_of(good + "2|2|a\n"),
            "line 3: 3 fields where the header has 15; export without columns that users fill, such as JobName");
  EXPECT_EQ(fault_of(good + "2|2|a|1|x|COMPLETED|yesterday||2026-03-09T08:00:00|Unknown|00:00:00|1|1||n1\n"),
            "line 3: Submit: 'yesterday' is no time of this time zone; export and read with the same TZ, or with "
            "SLURM_TIME_FORMAT=%s");
  EXPECT_EQ(
      fault_of("2|2|a|1|x|COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T07:00:00|00:00:00|1|1||n1\n"),
      "line 2: End: '2026-03-09T07:00:00' lies before Start; correct the row or leave it out");
  EXPECT_EQ(
      fault_of("2|2|a|1|x|COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:01:01|1|1||n1\n"),
      "line 2: Suspended: '00:01:01' is more than the time from Start to End; correct the row or leave it out");
  EXPECT_EQ(
      fault_of("2|2|a|1|x|COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:00:00|1|1K||n1\n"),
      "line 2: AllocCPUS: '1K' is no number; export with sacct -P, and without --units");
  EXPECT_EQ(
      fault_of("2|2|a|1|x|COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:00:00|1|1||n[1\n")
          .substr(0, 45),
      "line 2: NodeList: 'n[1' is no list of nodes: ");
  EXPECT_EQ(fault_of("", "JobIDRaw|User|State|Submit|Start|End|AllocCPUS\n").substr(0, 36),
            "line 1: column Account is missing; e");
  EXPECT_EQ(fault_of("72_1|a|x|COMPLETED|2026-03-09T08:00:00|Unknown|Unknown|1\n",
                     "JobID|User|Account|State|Submit|Start|End|AllocCPUS\n"),
            "line 2: JobID: '72_1' tells an array's task, but not its job's number; export JobIDRaw, too");
}

// A row of twenty bytes that would take 60 MB, and a line that would take what a compressed file holds.
TEST(SacctRows, that_name_more_nodes_than_a_job_has_or_are_too_long_are_bad) {
  const testing::TimeZone utc("UTC");
  const std::string row =
      "1|1|a|1|x|COMPLETED|2026-03-09T08:00:00|2026-03-09T08:00:00|2026-03-09T08:00:00|2026-03-09T09:00:00|00:00:00|60|"
      "1|cpu=1|";
  EXPECT_EQ(fault_of(row + "n[1-1000000]\n"),
            "line 2: NodeList: 'n[1-1000000]' is no list of nodes: character 1: more than 65536 nodes");
  EXPECT_EQ(
      fault_of(row + std::string(k_max_line, 'n') + "\n"),
      "line 2: longer than 1048576 bytes, which is the most that a line may have; is it the right file? Else leave "
      "the line out");
  EXPECT_EQ(rows_of(row + "n[1-65536]\n").value().rows.front().nodes.size(), 65'536U);
}

TEST(SacctRows, times_are_local_or_seconds) {
  const testing::TimeZone berlin(testing::k_berlin);
  EXPECT_EQ(parse_slurm_time("2026-03-09T09:00:00")->instant, Instant{1773043200});
  EXPECT_EQ(parse_slurm_time("1773043200")->instant, Instant{1773043200});
  EXPECT_FALSE(parse_slurm_time("2026-03-29T02:30:00")) << "summer time skips it";
  EXPECT_FALSE(parse_slurm_time("Unknown")->instant);
}

// The row's times, in Berlin's hours after the midnight on which its clocks go back (22:00 UTC): "02:30" is shown
// at 2.5 and at 3.5.
std::vector<double> settled(const std::string& submit, const std::string& eligible, const std::string& start,
                            const std::string& end, const std::string& suspended, const std::string& elapsed,
                            bool is_certain) {
  const testing::TimeZone berlin(testing::k_berlin);
  const auto at = [](const std::string& clock) { return clock.size() == 5 ? "2026-10-25T" + clock + ":00" : clock; };
  const auto read = rows_of("1|1|a|1|x|COMPLETED|" + at(submit) + "|" + at(eligible) + "|" + at(start) + "|" + at(end) +
                                "|" + suspended + "|1|" + elapsed + "|n1\n",
                            "JobID|JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|AllocCPUS|"
                            "ElapsedRaw|NodeList\n");
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  if (!read) return {};
  EXPECT_EQ(read->twice.empty(), is_certain);
  const SacctRow& row = read->rows.front();
  std::vector<double> hours;
  for (const Instant t : {row.submit, row.eligible.value_or(row.submit), *row.start, *row.end})
    hours.push_back(static_cast<double>(t.value - 1792879200) / 3600);
  return hours;
}

TEST(SacctRows, of_an_hour_that_clocks_show_twice_the_other_times_say_which) {
  using Hours = std::vector<double>;
  constexpr bool k_certain = true;
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "00:00:00", "3600", k_certain), (Hours{1, 1, 1.5, 2.5}));
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "00:00:00", "7200", k_certain), (Hours{1, 1, 1.5, 3.5}));
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "01:00:00", "3600", k_certain), (Hours{1, 1, 1.5, 3.5}));
  // Submitted at the second 02:50 or at the first; the start at 02:10 can only be the second one, so 02:50 is the
  // first.
  EXPECT_EQ(settled("02:50", "02:50", "02:10", "03:10", "00:00:00", "3600", k_certain),
            (Hours{2 + 5. / 6, 2 + 5. / 6, 3 + 1. / 6, 4 + 1. / 6}));
  // Eligible says it alone: it begins to wait at the first 02:40.
  EXPECT_EQ(settled("01:00", "02:40", "02:20", "05:00", "00:00:00", "", k_certain),
            (Hours{1, 2 + 2. / 3, 3 + 1. / 3, 6}));
}

TEST(SacctRows, where_nothing_says_which_hour_it_is_the_earlier_is_taken_and_the_row_named) {
  using Hours = std::vector<double>;
  EXPECT_EQ(settled("01:00", "01:00", "02:30", "05:00", "00:00:00", "", false), (Hours{1, 1, 2.5, 6}));
  EXPECT_EQ(
      note_of_twice({3, 17}),
      "2 rows have a time in the hour that clocks show twice, and nothing says which one is meant: the earlier is "
      "taken (line 3, 17; TZ=UTC for sacct says it)");
}

TEST(SacctRows, a_part_of_a_resized_run_begins_before_its_own_submission) {
  const testing::TimeZone berlin(testing::k_berlin);
  const auto read = rows_of(
      "1|1|a|1|x|RESIZING|2026-10-25T01:00:00||2026-10-25T01:30:00|2026-10-25T02:30:00|00:00:00||1||n1\n"
      "1|1|a|1|x|COMPLETED|2026-10-25T02:30:00||2026-10-25T01:30:00|2026-10-25T04:00:00|00:00:00||1||n1\n");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->rows[1].end->value - read->rows[1].start->value, 12600);
}

// A row "1|..." of one day: job, state, user, account, submit, start, end (of that day, or as they stand), CPUs, nodes.
std::string run_row(int job, const std::string& state, const std::string& user, const std::string& account,
                    const std::string& submit, const std::string& start, const std::string& end, int cpus,
                    const std::string& nodes) {
  const auto at = [](const std::string& clock) { return clock.size() == 5 ? "2025-03-01T" + clock + ":00" : clock; };
  return std::to_string(job) + "|" + std::to_string(job) + "|" + user + "||" + account + "|" + state + "|" +
         at(submit) + "||" + at(start) + "|" + at(end) + "|00:00:00|60|" + std::to_string(cpus) + "||" + nodes + "\n";
}

std::vector<std::int64_t> bad_lines(const std::string& lines) {
  const testing::TimeZone utc("UTC");
  std::istringstream text(k_header + lines);
  const auto read = read_sacct_rows(text, Malformed::skip);
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  std::vector<std::int64_t> bad;
  for (const BadRow& row : read->bad) bad.push_back(row.line);
  return bad;
}

TEST(SacctRows, of_two_clusters_are_refused_whatever_is_malformed) {
  const testing::TimeZone utc("UTC");
  const std::string header = "Cluster|JobIDRaw|User|Account|State|Submit|Start|End|AllocCPUS\n";
  const std::string rest = "|500|amy|north|COMPLETED|1740823200|1740823200|1740826800|16\n";
  EXPECT_TRUE(rows_of("alpha" + rest + "alpha" + rest, header));
  std::istringstream text(header + "alpha" + rest + "beta" + rest);
  const auto read = read_sacct_rows(text, Malformed::skip);
  ASSERT_FALSE(read);
  EXPECT_EQ(
      read.error().what,
      "line 3: Cluster: 'beta', and line 2 is of 'alpha'; their jobs have the same numbers, so export one cluster "
      "at a time (sacct -M alpha)");
}

TEST(SacctRows, of_one_job_that_contradict_each_other_are_bad) {
  const testing::TimeZone utc("UTC");
  const auto amy = [](const char* start, const char* end, int cpus = 16, const char* nodes = "n1") {
    return run_row(500, "COMPLETED", "amy", "north", start, start, end, cpus, nodes);
  };
  EXPECT_EQ(
      fault_of(amy("10:00", "11:00") + run_row(500, "COMPLETED", "bob", "south", "10:00", "10:00", "12:00", 8, "n2")),
      "line 2: job 500 has another user, account, node list, number of CPUs and end in line 3 at the same time; are "
      "these jobs of two clusters? Export one at a time (sacct -M) (and 1 more such row)");
  EXPECT_EQ(
      bad_lines(amy("10:00", "11:00") + run_row(500, "COMPLETED", "amy", "south", "10:00", "10:00", "11:00", 16, "n1")),
      (std::vector<std::int64_t>{2, 3}))
      << "another account";
  EXPECT_EQ(bad_lines(amy("10:00", "11:00") + amy("10:00", "11:00", 16, "n2")), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(bad_lines(amy("10:00", "11:00") + amy("10:00", "11:01")), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(bad_lines(amy("10:00", "11:00") + amy("10:30", "11:30")), (std::vector<std::int64_t>{2, 3}))
      << "a job does not run twice at once";
  // The same number again later, a row that is there twice, and a resize are no contradictions.
  EXPECT_EQ(
      bad_lines(amy("10:00", "11:00") + run_row(500, "COMPLETED", "bob", "south", "11:00", "11:00", "12:00", 8, "n2")),
      (std::vector<std::int64_t>{}));
  EXPECT_EQ(bad_lines(amy("10:00", "11:00") + amy("10:00", "11:00")), (std::vector<std::int64_t>{}));
  EXPECT_EQ(bad_lines(run_row(17, "RESIZING", "amy", "north", "10:00", "10:10", "10:20", 16, "n[1-2]") +
                      run_row(17, "RESIZING", "amy", "north", "10:20", "10:10", "10:40", 8, "n1") +
                      run_row(17, "COMPLETED", "amy", "north", "10:40", "10:10", "11:10", 4, "n1")),
            (std::vector<std::int64_t>{}));
}

TEST(SacctRows, a_run_that_has_ended_has_an_end) {
  const testing::TimeZone utc("UTC");
  const auto of = [](const std::string& state, const std::string& end = "Unknown") {
    return run_row(1, state, "amy", "north", "10:00", "10:00", end, 16, "n1");
  };
  EXPECT_EQ(fault_of(of("COMPLETED")),
            "line 2: End: 'Unknown' is no end, and State is COMPLETED; correct the row or leave it out");
  for (const char* state : {"NODE_FAIL", "CANCELLED by 1001", "FAILED", "TIMEOUT", "REQUEUED", "RESIZING"})
    EXPECT_EQ(bad_lines(of(state)), (std::vector<std::int64_t>{2})) << state;
  for (const char* state : {"RUNNING", "SUSPENDED", "COMPLETING"})
    EXPECT_EQ(bad_lines(of(state)), (std::vector<std::int64_t>{})) << state;
  EXPECT_EQ(fault_of(of("RUNNING", "11:00")),
            "line 2: End: '2025-03-01T11:00:00' is given for a job that is RUNNING; export without sacct -T");
  // A job that ran again is not running since then.
  EXPECT_EQ(bad_lines(of("RUNNING") + run_row(1, "COMPLETED", "amy", "north", "11:00", "12:00", "13:00", 16, "n1")),
            (std::vector<std::int64_t>{2}));
}

TEST(SacctRows, no_run_begins_before_there_was_slurm_or_before_its_submission) {
  const testing::TimeZone utc("UTC");
  const auto from = [](const std::string& start, const std::string& submit = "10:00") {
    return run_row(1, "COMPLETED", "amy", "north", submit, start, "10:30", 4, "n1");
  };
  for (const char* start : {"1970-01-01T00:00:00", "1970-01-01T01:00:00", "1999-12-31T00:00:00"}) {
    EXPECT_EQ(fault_of(from(start)), "line 2: Start: '" + std::string(start) +
                                         "' is a time before there was Slurm; correct the row or leave it out");
  }
  EXPECT_EQ(bad_lines(from("10:00", "1970-01-01T00:00:01")), (std::vector<std::int64_t>{2})) << "nor was it submitted";
  EXPECT_EQ(fault_of(from("2004-02-29T00:00:00")).substr(0, 87),
            "line 2: Start: 2004-02-29T00:00:00Z lies before Submit, 2025-03-01T10:00:00Z, and no ro");
  EXPECT_EQ(bad_lines(from("09:00")), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(bad_lines(from("09:59")), (std::vector<std::int64_t>{})) << "a clock was set";
}

std::vector<std::int64_t> bad_on_nodes(const std::string& lines, bool oversubscribed = false) {
  const testing::TimeZone utc("UTC");
  auto read = rows_of(lines);
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  SiteNodes nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes[name].cpus = 16;
  EXPECT_TRUE(check_nodes(*read, nodes, oversubscribed, Malformed::skip));
  std::vector<std::int64_t> bad;
  for (const BadRow& row : read->bad) bad.push_back(row.line);
  EXPECT_EQ(read->rows.size() + bad.size(), static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')));
  return bad;
}

TEST(SacctRows, runs_are_on_nodes_that_are_known_and_hold_no_more_than_these_have) {
  const auto on = [](int job, const char* nodes, int cpus, const char* start = "10:00", const char* end = "11:00") {
    return run_row(job, std::string(end) == "Unknown" ? "RUNNING" : "COMPLETED", "amy", "north", start, start, end,
                   cpus, nodes);
  };
  using Lines = std::vector<std::int64_t>;
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 16) + on(2, "n[2-3]", 32)), Lines{});
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 17) + on(2, "n[2-3]", 33) + on(3, "n1", 16)), (Lines{2, 3}));
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 16) + on(2, "n4", 1) + on(3, "n[3-4]", 2)), (Lines{3, 4}));
  // Beside each other: the one that began last; after each other none.
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 8) + on(2, "n1", 8) + on(3, "n1", 1, "10:59", "11:30")), (Lines{4}));
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 8) + on(2, "n1", 8) + on(3, "n1", 1, "10:59", "11:30"), true), Lines{});
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 16) + on(2, "n1", 16, "11:00", "12:00")), Lines{});
  // What goes on cannot be where something else ran since; the last one to go on may.
  EXPECT_EQ(bad_on_nodes(on(1, "n1", 16, "08:00", "Unknown") + on(2, "n1", 16) + on(3, "n1", 16, "11:00", "Unknown")),
            (Lines{2}));
  // At least one CPU of each node, and 32 - 16 of the last: more is not certain.
  EXPECT_EQ(bad_on_nodes(on(1, "n[1-3]", 33) + on(2, "n1", 15) + on(3, "n2", 15) + on(4, "n3", 1)), Lines{});
  EXPECT_EQ(bad_on_nodes(on(1, "n[1-3]", 40) + on(2, "n1", 9)), (Lines{3}));
  // A resized run holds what each of its rows says, and is bad as a whole.
  EXPECT_EQ(bad_on_nodes(run_row(17, "RESIZING", "amy", "north", "10:00", "10:00", "10:20", 32, "n[1-2]") +
                         run_row(17, "COMPLETED", "amy", "north", "10:20", "10:00", "11:00", 16, "n1") +
                         on(2, "n2", 16, "10:20", "11:00")),
            Lines{});
  EXPECT_EQ(bad_on_nodes(on(2, "n2", 16, "09:00", "11:00") +
                         run_row(17, "RESIZING", "amy", "north", "10:00", "10:00", "10:20", 16, "n1") +
                         run_row(17, "COMPLETED", "amy", "north", "10:20", "10:00", "11:00", 32, "n[1-2]")),
            (Lines{3, 4}));
}

TEST(SacctRows, malformed_rows_are_left_out_and_listed) {
  const testing::TimeZone utc("UTC");
  std::istringstream text(k_header + run_row(1, "COMPLETED", "amy", "north", "10:00", "10:00", "Unknown", 16, "n1") +
                          "2|2|a\n" + run_row(3, "COMPLETED", "amy", "north", "10:00", "10:00", "11:00", 16, "n1"));
  const auto read = read_sacct_rows(text, Malformed::skip);
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->rows.size(), 1U);
  EXPECT_EQ(read->rows.front().job, 3U);
  ASSERT_EQ(read->bad.size(), 2U);
  EXPECT_EQ(read->bad[1].why,
            "3 fields where the header has 15; export without columns that users fill, such as JobName");
}

TEST(SacctRows, durations_and_sizes) {
  EXPECT_EQ(parse_slurm_duration("1-02:03:04"), Duration{93784});
  EXPECT_EQ(parse_slurm_duration("05:06"), Duration{306});
  EXPECT_FALSE(parse_slurm_duration("17"));
  EXPECT_EQ(parse_mib("512M"), 512U);
  EXPECT_EQ(parse_mib("1.50G"), 1536U);
  EXPECT_EQ(parse_mib("2048K"), 2U);
  EXPECT_FALSE(parse_mib("G"));
  EXPECT_FALSE(parse_mib("12Q"));
  EXPECT_EQ(parse_tres("gres/gpu:a=1,gres/gpu:b=2")->gres.front(), (protocol::Tres{"gres/gpu", 3}));
  EXPECT_EQ(parse_tres("gres/gpumem=80G,gres/tmp=3298534883328")->gres,
            (std::vector<protocol::Tres>{{"gres/gpumem", 81920}, {"gres/tmp", 3ULL << 40U}}));
  EXPECT_FALSE(parse_tres("cpu"));
}

config::Configuration configuration() {
  auto parsed = config::parse(
      "organizations:\n"
      "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }]\n"
      "  - name: bio\n    users: [nobody_here_knows_her, '77']\n    groups: [cells]\n    partitions: [bio]\n");
  EXPECT_TRUE(parsed) << config::format_faults(parsed ? std::vector<config::Fault>{} : parsed.error(), "yaml");
  return parsed ? *parsed : config::Configuration{};
}

SacctRow row_of(const std::string& user, const std::string& account, const std::string& partition = "",
                const std::string& group = "") {
  SacctRow row;
  row.user = user;
  row.account = account;
  row.partition = partition;
  row.group = group;
  return row;
}

TEST(Attribution, follows_the_rules_by_name_and_by_number) {
  std::vector<SacctRow> rows{row_of("alice", "astro"),  row_of("nobody_here_knows_her", "x"), row_of("eve", "x"),
                             row_of("eve", "x", "bio"), row_of("eve", "x", "", "cells"),      row_of("numbered", "x"),
                             row_of("alice", "STARS")};
  rows[5].user_id = 77;
  std::istringstream tree("root|\nstars|astro\nstars|\n");
  const Attribution attribution(configuration(), rows, *read_account_parents(tree));
  std::vector<std::string_view> organizations;
  for (const SacctRow& row : rows) organizations.push_back(attribution.organization_of(row));
  EXPECT_EQ(organizations, (std::vector<std::string_view>{"astro", "bio", "", "bio", "bio", "bio", "astro"}));
  EXPECT_NE(attribution.user_of(rows[0]), attribution.user_of(rows[2]));
}

TEST(Attribution, a_name_has_the_number_that_the_export_tells) {
  std::vector<SacctRow> rows{row_of("nobody_here_knows_her", "x"), row_of("", "x")};
  rows[0].user_id = 4711;
  rows[1].user_id = 4711;
  const Attribution attribution(configuration(), rows);
  EXPECT_EQ(attribution.organization_of(rows[1]), "bio") << "a row without the name";
}

TEST(Attribution, a_line_of_the_tree_that_is_none_is_an_error) {
  std::istringstream tree("stars|astro\nstars astro\n");
  EXPECT_EQ(read_account_parents(tree).error().what,
            "line 2: no line ACCOUNT|PARENT; export with sacctmgr -nP list associations format=Account,ParentName");
}

TEST(SiteNodes, are_read_from_scontrol_and_sinfo) {
  std::istringstream scontrol(
      "NodeName=n1 Arch=x86_64 CPUAlloc=2 CPUEfctv=62 CPUTot=64 Gres=gpu:a100:2(S:0-1),gpu:v100:1,shard:1K(x,y) "
      "RealMemory=2000 MemSpecLimit=500 State=IDLE\nNodeName=n2 CPUTot=8 Gres=(null) RealMemory=1000\n");
  const auto nodes = read_nodes(scontrol);
  ASSERT_TRUE(nodes) << nodes.error().what;
  const protocol::NodeRecord& n1 = nodes->at("n1");
  EXPECT_EQ(n1.cpus, 62U);
  EXPECT_EQ(n1.memory, 1500U);
  EXPECT_EQ(n1.gres, (std::vector<protocol::Tres>{{"gres/gpu", 3}, {"gres/shard", 1024}}));
  EXPECT_EQ(nodes->at("n2").cpus, 8U);
  // As slurmctld prints what it has: multiples of 1024 with a letter.
  std::istringstream large(
      "NodeName=n1 CPUTot=1 Gres=gpu:8,tmp:3T\nNodeName=n2 CPUTot=1 Gres=tmp:2P,raw:4294967296,kb:2KB,any,gpu:tesla\n"
      "NodeName=n3 CPUTot=1 Gres=bandwidth:no_consume:4G,shard:5\n");
  const auto more = read_nodes(large);
  ASSERT_TRUE(more) << more.error().what;
  using Gres = std::vector<protocol::Tres>;
  EXPECT_EQ(more->at("n1").gres, (Gres{{"gres/gpu", 8}, {"gres/tmp", 3ULL << 40U}}));
  EXPECT_EQ(
      more->at("n2").gres,
      (Gres{
          {"gres/any", 1}, {"gres/gpu", 1}, {"gres/kb", 2000}, {"gres/raw", 1ULL << 32U}, {"gres/tmp", 2ULL << 50U}}));
  EXPECT_EQ(more->at("n3").gres, (Gres{{"gres/shard", 5}}));
  std::istringstream sinfo("n1 4\nn2  16 \nn1 4\n");
  EXPECT_EQ(read_nodes(sinfo)->at("n2").cpus, 16U);
  std::istringstream bad("n1 4\nn2 many\n");
  EXPECT_EQ(read_nodes(bad).error().what.substr(0, 7), "line 2:");
}

SacctRow run_on(std::vector<std::string> nodes, std::uint32_t cpus, std::int64_t start, std::int64_t end,
                std::int64_t suspended = 0) {
  SacctRow row;
  row.nodes = std::move(nodes);
  row.cpus = cpus;
  row.memory = 10;
  row.start = Instant{start};
  row.end = Instant{end};
  row.suspended = {suspended};
  return row;
}

TEST(SiteNodes, are_as_large_as_they_were_used_at_once) {
  // Two runs side by side on n1, then one that begins when they end; half of the wide one on each; a suspended one.
  const auto nodes = nodes_by_use({run_on({"n1"}, 2, 0, 10), run_on({"n1"}, 1, 5, 10), run_on({"n1"}, 2, 10, 20),
                                   run_on({"n1", "n2"}, 3, 30, 40), run_on({"n2"}, 5, 32, 35, 1)});
  EXPECT_EQ(nodes.at("n1").cpus, 3U);
  EXPECT_EQ(nodes.at("n2").cpus, 5U);
}

TEST(SiteNodes, a_runs_parts_are_whole_nodes_where_they_can_be) {
  SiteNodes nodes;
  nodes["n1"].cpus = 6;
  nodes["n2"].cpus = 2;
  const auto cpus = [&](const SacctRow& row) {
    std::vector<std::uint32_t> held;
    for (const auto& h : holdings_of(row, nodes)) held.push_back(h.cpus);
    return held;
  };
  EXPECT_EQ(cpus(run_on({"n1", "n2"}, 8, 0, 1)), (std::vector<std::uint32_t>{6, 2}));
  EXPECT_EQ(cpus(run_on({"n1", "n2"}, 5, 0, 1)), (std::vector<std::uint32_t>{3, 2}));
  const auto shared = holdings_of(run_on({"n1", "n2"}, 5, 0, 1), nodes);
  EXPECT_EQ(shared[0].memory + shared[1].memory, 10U);
}

}  // namespace
}  // namespace shapley::history
