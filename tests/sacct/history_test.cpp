// Rows of sacct: what is read, and what is refused or left out. By hand.
#include <algorithm>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <malloc.h>

#include "base/files.hpp"
#include "sacct/row_checks.hpp"
#include "sacct/runs.hpp"
#include "sacct/sacct_fields.hpp"
#include "sacct/sacct_rows.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text.hpp"
#include "tests/support/time_zone.hpp"

namespace shapley::sacct {
namespace {

using Lines = std::vector<std::int64_t>;
using Hours = std::vector<double>;
using Gres = std::vector<protocol::Tres>;

class Rows : public ::testing::Test {
  const testing::TimeZone utc_{"UTC"};
};

constexpr const char* k_header =
    "JobID|JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|TimelimitRaw|AllocCPUS|AllocTRES|"
    "NodeList\n";

// In the order of the file.
std::vector<SacctRow> listed(const SacctExport& sacct) {
  std::vector<SacctRow> rows;
  must(sacct.rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    rows.insert(rows.end(), of_job.begin(), of_job.end());
    return {};
  }));
  std::ranges::sort(rows, {}, &SacctRow::line);
  return rows;
}

Expected<SacctExport> rows_of(const std::string& lines, const std::string& header = k_header,
                              Malformed malformed = Malformed::refuse) {
  std::istringstream text(header + lines);
  SHAPLEY_TRY_ASSIGN(SacctExport rows, read_sacct_rows(text, malformed));
  SHAPLEY_TRY(check_rows(rows, malformed));
  return rows;
}

// The lines of the rows that were left out.
Lines bad_of(const SacctExport& rows) {
  Lines bad;
  for (const BadRow& row : rows.bad) bad.push_back(row.line);
  return bad;
}

// A row of one day: times are of that day, or as they stand.
struct Row {
  int job = 500;
  const char* state = "COMPLETED";
  const char* user = "amy";
  const char* account = "north";
  const char* start = "10:00";
  const char* end = "11:00";
  const char* suspended = "00:00:00";
  const char* cpus = "16";
  const char* nodes = "n1";
  const char* submit = nullptr;  // as `start`
};

std::string row(const Row& is) {
  const auto at = [](const std::string& clock) { return clock.size() == 5 ? "2025-03-01T" + clock + ":00" : clock; };
  const std::string job = std::to_string(is.job);
  return job + "|" + job + "|" + is.user + "||" + is.account + "|" + is.state + "|" +
         at(is.submit == nullptr ? is.start : is.submit) + "||" + at(is.start) + "|" + at(is.end) + "|" + is.suspended +
         "|60|" + is.cpus + "||" + is.nodes + "\n";
}

// Without the remedy that the errors of all rows end with.
std::string fault_of(const std::string& lines, const std::string& header = k_header,
                     Malformed malformed = Malformed::refuse) {
  const auto rows = rows_of(lines, header, malformed);
  if (rows) return "no fault";
  const std::string& what = rows.error().what;
  return what.substr(0, what.find("; --malformed skip leaves such rows out and lists them"));
}

TEST_F(Rows, read_every_field) {
  const auto read = must(
      rows_of("72_10|83|alice|1001|astro|CANCELLED by 1001|2026-03-09T08:00:00|2026-03-09T08:00:05|2026-03-09T08:01:00|"
              "2026-03-09T09:01:00|00:10:00|90|5|billing=5,cpu=5,mem=2.5G,node=2,gres/gpu=3,gres/gpu:a100=3|n[2,1]\n"));
  ASSERT_EQ(read.rows.size(), 1);
  const SacctRow row = listed(read).front();
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
  EXPECT_EQ(row.gres, (Gres{{"gres/gpu", 3}}));
  EXPECT_EQ(row.billing, 5U);
  EXPECT_EQ(row.nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(row.ran());
}

TEST_F(Rows, leave_steps_and_pending_tasks_out_and_know_what_never_ran) {
  const auto read = must(rows_of(
      "7.batch|7.batch||||COMPLETED|2026-03-09T08:00:00||2026-03-09T08:00:00|2026-03-09T08:01:00|00:00:00||1||n1\n"
      "8_[1-3]|8|bob|1|bio|PENDING|2026-03-09T08:00:00|Unknown|Unknown|Unknown|00:00:00|5|0||None assigned\n"
      "9|9|bob|1|bio|CANCELLED|2026-03-09T08:00:00|Unknown|None|2026-03-09T08:00:09|00:00:00|UNLIMITED|0||None "
      "assigned\n"));
  EXPECT_EQ(read.steps, 1);
  EXPECT_EQ(read.pending_arrays, 1);
  ASSERT_EQ(read.rows.size(), 1);
  EXPECT_FALSE(listed(read).front().ran());
  EXPECT_FALSE(listed(read).front().requested);
}

TEST_F(Rows, a_bad_row_is_an_error_with_line_field_and_remedy) {
  EXPECT_EQ(fault_of(row({})), "no fault");
  const std::pair<std::string, std::string> faults[] = {
      {"2|2|a\n", "3 fields where the header has 15; export without columns that users fill, such as JobName"},
      {row({.end = "Unknown", .submit = "yesterday"}),
       "Submit: 'yesterday' is no time of this time zone; export and read with the same TZ, or with "
       "SLURM_TIME_FORMAT=%s"},
      {row({.end = "09:00"}), "End: '2025-03-01T09:00:00' lies before Start; correct the row or leave it out"},
      {row({.suspended = "01:00:01"}),
       "Suspended: '01:00:01' is more than the time from Start to End; correct the row or leave it out"},
      {row({.cpus = "1K"}), "AllocCPUS: '1K' is no number; export with sacct -P, and without --units"}};
  for (const auto& [bad, fault] : faults) EXPECT_EQ(fault_of(row({}) + bad), "line 3: " + fault);
  EXPECT_EQ(fault_of(row({.nodes = "n[1"})).substr(0, 45), "line 2: NodeList: 'n[1' is no list of nodes: ");
  EXPECT_EQ(fault_of("", "JobIDRaw|User|State|Submit|Start|End|AllocCPUS\n").substr(0, 36),
            "line 1: column Account is missing; e");
  EXPECT_EQ(fault_of("72_1|a|x|COMPLETED|2026-03-09T08:00:00|Unknown|Unknown|1\n",
                     "JobID|User|Account|State|Submit|Start|End|AllocCPUS\n"),
            "line 2: JobID: '72_1' names an array's task, but not its job's number; export JobIDRaw, too");
}

// A row of twenty bytes that would take 60 MB, and a line that would take what a compressed file holds.
TEST_F(Rows, that_name_more_nodes_than_a_job_has_or_are_too_long_are_bad) {
  EXPECT_EQ(fault_of(row({.nodes = "n[1-1000000]"})),
            "line 2: NodeList: 'n[1-1000000]' is no list of nodes: character 1: more than 65536 nodes");
  const std::string long_list(k_max_line, 'n');
  EXPECT_EQ(fault_of(row({.nodes = long_list.c_str()})),
            "line 2: longer than 1048576 bytes, which is the most that a line may have; is it the right file? Else "
            "leave the line out");
  EXPECT_EQ(listed(rows_of(row({.nodes = "n[1-65536]"})).value()).front().nodes.size(), 65'536U);
}

TEST_F(Rows, times_are_local_or_seconds) {
  const testing::TimeZone berlin(testing::k_berlin);
  EXPECT_EQ(parse_slurm_time("2026-03-09T09:00:00")->instant, Instant{1773043200});
  EXPECT_EQ(parse_slurm_time("1773043200")->instant, Instant{1773043200});
  EXPECT_FALSE(parse_slurm_time("2026-03-29T02:30:00")) << "summer time skips it";
  EXPECT_FALSE(parse_slurm_time("Unknown")->instant);
}

// The row's times, in Berlin's hours after the midnight on which its clocks go back (22:00 UTC): "02:30" is shown
// at 2.5 and at 3.5.
Hours settled(const std::string& submit, const std::string& eligible, const std::string& start, const std::string& end,
              const std::string& suspended, const std::string& elapsed, bool is_certain) {
  const testing::TimeZone berlin(testing::k_berlin);
  const auto at = [](const std::string& clock) { return clock.size() == 5 ? "2026-10-25T" + clock + ":00" : clock; };
  const auto read = must(rows_of("1|1|a|1|x|COMPLETED|" + at(submit) + "|" + at(eligible) + "|" + at(start) + "|" +
                                     at(end) + "|" + suspended + "|1|" + elapsed + "|n1\n",
                                 "JobID|JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|AllocCPUS|"
                                 "ElapsedRaw|NodeList\n"));
  EXPECT_EQ(read.twice.empty(), is_certain);
  const SacctRow row = listed(read).front();
  Hours hours;
  for (const Instant t : {row.submit, row.eligible.value_or(row.submit), *row.start, *row.end})
    hours.push_back(static_cast<double>(t.value - 1792879200) / 3600);
  return hours;
}

TEST_F(Rows, of_an_hour_that_clocks_show_twice_the_other_times_say_which) {
  constexpr bool k_certain = true;
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "00:00:00", "3600", k_certain), (Hours{1, 1, 1.5, 2.5}));
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "00:00:00", "7200", k_certain), (Hours{1, 1, 1.5, 3.5}));
  EXPECT_EQ(settled("01:00", "01:00", "01:30", "02:30", "01:00:00", "3600", k_certain), (Hours{1, 1, 1.5, 3.5}));
  // The start at 02:10 can only be the second one, so the submission at 02:50 is the first.
  EXPECT_EQ(settled("02:50", "02:50", "02:10", "03:10", "00:00:00", "3600", k_certain),
            (Hours{2 + 5. / 6, 2 + 5. / 6, 3 + 1. / 6, 4 + 1. / 6}));
  // Eligible says it alone: it begins to wait at the first 02:40.
  EXPECT_EQ(settled("01:00", "02:40", "02:20", "05:00", "00:00:00", "", k_certain),
            (Hours{1, 2 + 2. / 3, 3 + 1. / 3, 6}));
  // Where nothing says it, the earlier hour is taken and the row named.
  EXPECT_EQ(settled("01:00", "01:00", "02:30", "05:00", "00:00:00", "", false), (Hours{1, 1, 2.5, 6}));
  EXPECT_EQ(
      note_of_twice({3, 17}),
      "2 rows have a time in the hour that clocks show twice, and nothing says which one is meant: the earlier is "
      "taken (lines 3 and 17; TZ=UTC for sacct says it)");
  EXPECT_EQ(lines_text({3}), "line 3");
  EXPECT_EQ(lines_text({3, 5, 17}), "lines 3, 5 and 17");
  std::vector<std::int64_t> many(22);
  std::iota(many.begin(), many.end(), 1);
  EXPECT_PRED2(contains, lines_text(many), ", 19, 20 and 2 more");
}

TEST_F(Rows, a_part_of_a_resized_run_begins_before_its_own_submission) {
  const testing::TimeZone berlin(testing::k_berlin);
  const SacctExport read = must(
      rows_of("1|1|a|1|x|RESIZING|2026-10-25T01:00:00||2026-10-25T01:30:00|2026-10-25T02:30:00|00:00:00||1||n1\n"
              "1|1|a|1|x|COMPLETED|2026-10-25T02:30:00||2026-10-25T01:30:00|2026-10-25T04:00:00|00:00:00||1||n1\n"));
  const SacctRow second = listed(read)[1];
  EXPECT_EQ(second.end->value - second.start->value, 12600);
}

Lines bad_lines(const std::string& lines) {
  return bad_of(must(rows_of(lines, k_header, Malformed::skip)));
}

TEST_F(Rows, of_two_clusters_are_refused_whatever_is_malformed) {
  const std::string header = "Cluster|JobIDRaw|User|Account|State|Submit|Start|End|AllocCPUS\n";
  const std::string rest = "|500|amy|north|COMPLETED|1740823200|1740823200|1740826800|16\n";
  EXPECT_TRUE(rows_of("alpha" + rest + "alpha" + rest, header));
  EXPECT_EQ(fault_of("alpha" + rest + "beta" + rest, header, Malformed::skip),
            "line 3: Cluster: 'beta', and line 2 is of 'alpha'; their jobs have the same numbers, so export one "
            "cluster at a time (sacct -M alpha)");
}

TEST_F(Rows, of_one_job_that_contradict_each_other_are_bad) {
  const std::string one = row({});
  const Lines none, both{2, 3};
  EXPECT_EQ(fault_of(one + row({.user = "bob", .account = "south", .end = "12:00", .cpus = "8", .nodes = "n2"})),
            "line 2: job 500 has another user, account, node list, number of CPUs and end in line 3 at the same time; "
            "are these jobs of two clusters? Export one at a time (sacct -M) (and 1 more such row)");
  EXPECT_EQ(bad_lines(one + row({.account = "south"})), both);
  EXPECT_EQ(bad_lines(one + row({.nodes = "n2"})), both);
  EXPECT_EQ(bad_lines(one + row({.end = "11:01"})), both);
  EXPECT_EQ(bad_lines(one + row({.start = "10:30", .end = "11:30"})), both) << "a job does not run twice at once";
  // The same number again later, a row that is there twice, and a resize are no contradictions.
  EXPECT_EQ(
      bad_lines(one +
                row({.user = "bob", .account = "south", .start = "11:00", .end = "12:00", .cpus = "8", .nodes = "n2"})),
      none);
  EXPECT_EQ(bad_lines(one + one), none);
  EXPECT_EQ(
      bad_lines(row({.state = "RESIZING", .start = "10:10", .end = "10:20", .nodes = "n[1-2]", .submit = "10:00"}) +
                row({.state = "RESIZING", .start = "10:10", .end = "10:40", .cpus = "8", .submit = "10:20"}) +
                row({.start = "10:10", .end = "11:10", .cpus = "4", .submit = "10:40"})),
      none);
}

TEST_F(Rows, a_run_that_has_ended_has_an_end) {
  const auto of = [](const char* state, const char* end = "Unknown") { return row({.state = state, .end = end}); };
  EXPECT_EQ(fault_of(of("COMPLETED")),
            "line 2: End: 'Unknown' is no end, and State is COMPLETED; correct the row or leave it out");
  for (const char* state : {"NODE_FAIL", "CANCELLED by 1001", "FAILED", "TIMEOUT", "REQUEUED", "RESIZING"})
    EXPECT_EQ(bad_lines(of(state)), (Lines{2})) << state;
  for (const char* state : {"RUNNING", "SUSPENDED", "COMPLETING"}) EXPECT_EQ(bad_lines(of(state)), Lines{}) << state;
  EXPECT_EQ(fault_of(of("RUNNING", "11:00")),
            "line 2: End: '2025-03-01T11:00:00' is given for a job that is RUNNING; export without sacct -T");
  // A job that ran again is not running since then.
  EXPECT_EQ(bad_lines(of("RUNNING") + row({.start = "12:00", .end = "13:00", .submit = "11:00"})), (Lines{2}));
}

TEST_F(Rows, no_run_begins_before_there_was_slurm_or_before_its_submission) {
  const auto from = [](const char* start, const char* submit = "10:00") {
    return row({.start = start, .end = "10:30", .submit = submit});
  };
  for (const char* start : {"1970-01-01T00:00:00", "1970-01-01T01:00:00", "1999-12-31T00:00:00"})
    EXPECT_EQ(fault_of(from(start)), "line 2: Start: '" + std::string(start) +
                                         "' is a time before there was Slurm; correct the row or leave it out");
  EXPECT_EQ(bad_lines(from("10:00", "1970-01-01T00:00:01")), (Lines{2})) << "nor was it submitted";
  EXPECT_EQ(fault_of(from("2004-02-29T00:00:00")).substr(0, 87),
            "line 2: Start: 2004-02-29T00:00:00Z lies before Submit, 2025-03-01T10:00:00Z, and no ro");
  EXPECT_EQ(bad_lines(from("09:00")), (Lines{2}));
  EXPECT_EQ(bad_lines(from("09:59")), Lines{}) << "a clock was set";
}

Lines bad_on_nodes(const std::string& lines, bool oversubscribed = false) {
  auto read = must(rows_of(lines));
  SiteNodes nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes[name].cpus = 16;
  EXPECT_TRUE(check_nodes(read, nodes, oversubscribed, Malformed::skip));
  const Lines bad = bad_of(read);
  EXPECT_EQ(read.rows.size() + std::ssize(bad), (std::count(lines.begin(), lines.end(), '\n')));
  return bad;
}

TEST_F(Rows, runs_are_on_nodes_that_are_known_and_hold_no_more_than_these_have) {
  const auto on = [](int job, const char* nodes, int cpus, const char* start = "10:00", const char* end = "11:00") {
    return row({job, end == std::string("Unknown") ? "RUNNING" : "COMPLETED", "amy", "north", start, end, "00:00:00",
                std::to_string(cpus).c_str(), nodes});
  };
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
  EXPECT_EQ(bad_on_nodes(row({.state = "RESIZING", .end = "10:20", .cpus = "32", .nodes = "n[1-2]"}) +
                         row({.submit = "10:20"}) + on(2, "n2", 16, "10:20", "11:00")),
            Lines{});
  EXPECT_EQ(bad_on_nodes(on(2, "n2", 16, "09:00", "11:00") + row({.state = "RESIZING", .end = "10:20"}) +
                         row({.cpus = "32", .nodes = "n[1-2]", .submit = "10:20"})),
            (Lines{3, 4}));
}

// A job that is requeued while it completes is recorded twice: it counts once, and is bad as often as it is recorded.
TEST_F(Rows, that_repeat_another_one_are_bad_with_it) {
  const std::string twice = row({});
  EXPECT_EQ(bad_on_nodes(twice + twice), Lines{});
  EXPECT_EQ(bad_on_nodes(row({.job = 2, .start = "09:30", .end = "10:30", .cpus = "1"}) + twice + twice),
            (Lines{3, 4}));
  EXPECT_EQ(nodes_by_use(rows_of(twice + twice)->rows)->at("n1").cpus, 16U);
}

// The rows of an export take memory as they are sorted and as they are open, not as many as there are: 60,000 of them,
// each some .7 kB, at a megabyte for each list.
TEST(SacctRowsMemory, is_that_of_what_is_open) {
  const auto held = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = held();
  std::size_t most = before;
  std::int64_t looks = 0;
  const auto look = [&] {
    if (++looks % 1000 == 0) most = std::max(most, held());
  };
  SacctExport sacct(std::filesystem::temp_directory_path());
  sacct.rows = SortedRows(std::filesystem::temp_directory_path(), std::size_t{1} << 20U);
  constexpr std::int64_t k_rows = 60'000;
  for (std::int64_t line = k_rows; line > 0; --line, look()) {
    SacctRow row;
    row.user = "amy";
    row.account = "north";
    row.partition = "a partition whose name is long";
    row.line = line;
    row.job = static_cast<std::uint32_t>(line * 7919 % k_rows);
    row.cpus = 1;
    row.start = row.submit = Instant{1'740'823'200 + line * 60};
    row.end = *row.start + Duration{3'600};
    row.nodes = {"n" + std::to_string(line % 100)};
    ASSERT_TRUE(sacct.rows.add(row));
  }
  ASSERT_TRUE(check_rows(sacct, Malformed::refuse));
  std::optional<Instant> last;
  const auto part = [&](const std::shared_ptr<sacct::Run>& run, std::size_t /*row*/) -> Expected<void> {
    EXPECT_TRUE(!last || *last < run->start());
    last = run->start();
    look();
    return {};
  };
  ASSERT_TRUE(for_each_part(
      sacct.rows, [](const sacct::Run&) { return true; }, part));
  EXPECT_EQ(looks, 2 * k_rows);
  EXPECT_LT(static_cast<double>(most - before) / 1e6, 8);
}

TEST_F(Rows, malformed_rows_are_left_out_and_listed) {
  const auto read = must(rows_of(row({.end = "Unknown"}) + "2|2|a\n" + row({.job = 3}), k_header, Malformed::skip));
  ASSERT_EQ(read.rows.size(), 1);
  EXPECT_EQ(listed(read).front().job, 3U);
  EXPECT_EQ(bad_of(read), (Lines{2, 3}));
  EXPECT_EQ(read.bad.at(1).why,
            "3 fields where the header has 15; export without columns that users fill, such as JobName");
}

TEST_F(Rows, durations_and_sizes) {
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
            (Gres{{"gres/gpumem", 81920}, {"gres/tmp", 3ULL << 40U}}));
  EXPECT_FALSE(parse_tres("cpu"));
}

}  // namespace
}  // namespace shapley::sacct
