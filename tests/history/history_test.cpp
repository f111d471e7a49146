// Rows of sacct, whose they are, and what nodes have: by hand.
#include <sstream>

#include <gtest/gtest.h>

#include "history/attribution.hpp"
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

std::string fault_of(const std::string& lines, const std::string& header = k_header) {
  const auto rows = rows_of(lines, header);
  return rows ? "no fault" : rows.error().what;
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

TEST(SacctRows, times_are_local_or_seconds) {
  const testing::TimeZone berlin(testing::k_berlin);
  EXPECT_EQ(parse_slurm_time("2026-03-09T09:00:00")->instant, Instant{1773043200});
  EXPECT_EQ(parse_slurm_time("1773043200")->instant, Instant{1773043200});
  EXPECT_FALSE(parse_slurm_time("2026-03-29T02:30:00")) << "summer time skips it";
  EXPECT_FALSE(parse_slurm_time("Unknown")->instant);
  // The hour that clocks show twice: an hour's run that ends at its 02:30 began at 01:30, or at the first 02:30.
  auto start = *parse_slurm_time("2026-10-25T02:30:00");
  auto end = *parse_slurm_time("2026-10-25T02:30:00");
  ASSERT_TRUE(start.twin);
  settle_twins(start, end, {}, 3600);
  EXPECT_EQ((*end.instant - *start.instant).value, 3600);
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
