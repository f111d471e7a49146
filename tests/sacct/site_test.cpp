// Whose the rows of sacct are, and what nodes have: by hand.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "sacct/sacct_rows.hpp"
#include "sacct/site_nodes.hpp"
#include "site_rules/attribution.hpp"
#include "tests/support/must.hpp"

namespace shapley::sacct {
namespace {

using site_rules::Attribution;
using site_rules::read_account_parents;
using Gres = std::vector<protocol::Tres>;

SacctRow row_of(const std::string& user, const std::string& account, const std::string& partition = "",
                const std::string& group = "") {
  SacctRow row;
  row.user = user;
  row.account = account;
  row.partition = partition;
  row.group = group;
  return row;
}

config::Configuration configuration() {
  return config::parse(
             "organizations:\n"
             "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }]\n"
             "  - name: bio\n    users: [unknown_user, '77']\n    groups: [cells]\n    partitions: [bio]\n")
      .value();
}

NamedNumbers users_of(const std::vector<SacctRow>& rows) {
  NamedNumbers users;
  for (const SacctRow& row : rows) {
    if (!row.user.empty()) users.emplace(row.user, row.user_id);
  }
  return users;
}

TEST(Attribution, follows_the_rules_by_name_and_by_number) {
  std::vector<SacctRow> rows{row_of("alice", "astro"),  row_of("unknown_user", "x"),     row_of("eve", "x"),
                             row_of("eve", "x", "bio"), row_of("eve", "x", "", "cells"), row_of("numbered", "x"),
                             row_of("alice", "STARS")};
  rows[5].user_id = 77;
  std::istringstream tree("root|\nstars|astro\nstars|\n");
  const Attribution attribution(configuration(), users_of(rows), {{"cells", std::nullopt}},
                                *read_account_parents(tree));
  std::vector<std::string_view> organizations;
  for (const SacctRow& row : rows) organizations.push_back(attribution.organization_of(row));
  EXPECT_EQ(organizations, (std::vector<std::string_view>{"astro", "bio", "", "bio", "bio", "bio", "astro"}));
  EXPECT_NE(attribution.user_of(rows[0]), attribution.user_of(rows[2]));
}

TEST(Attribution, a_name_has_the_number_that_the_export_tells) {
  std::vector<SacctRow> rows{row_of("unknown_user", "x"), row_of("", "x")};
  rows[0].user_id = rows[1].user_id = 4711;
  const Attribution attribution(configuration(), users_of(rows), {});
  EXPECT_EQ(attribution.organization_of(rows[1]), "bio") << "a row without the name";
}

TEST(Attribution, a_line_of_the_tree_that_is_none_is_an_error) {
  std::istringstream tree("stars|astro\nstars astro\n");
  EXPECT_EQ(read_account_parents(tree).error().what,
            "line 2: no line ACCOUNT|PARENT; export with sacctmgr -nP list associations cluster=NAME "
            "format=Account,ParentName");
}

// What sacctmgr lists without cluster=NAME, where two clusters have one slurmdbd.
TEST(Attribution, a_tree_in_which_an_account_has_two_parents_is_an_error) {
  const auto read = [](const std::string& text) {
    std::istringstream tree(text);
    return read_account_parents(tree);
  };
  EXPECT_EQ(
      read("root|\nphysics|science\nphysics|\nroot|\nPhysics|trade\n").error().what,
      "line 5: account physics has the parent trade, and in line 2 the parent science; each cluster of a slurmdbd "
      "has accounts of its own, so export with sacctmgr -nP list associations cluster=NAME "
      "format=Account,ParentName");
  EXPECT_EQ(read("root|\nphysics|science\nphysics|Science\nscience|root\n")->size(), 2U);
}

TEST(SiteNodes, are_read_from_scontrol_and_sinfo) {
  const auto read = [](const std::string& text) {
    std::istringstream in(text);
    return read_nodes(in);
  };
  const SiteNodes nodes = must(
      read("NodeName=n1 Arch=x86_64 CPUAlloc=2 CPUEfctv=62 CPUTot=64 Gres=gpu:a100:2(S:0-1),gpu:v100:1,shard:1K(x,y) "
           "RealMemory=2000 MemSpecLimit=500 State=IDLE\nNodeName=n2 CPUTot=8 Gres=(null) RealMemory=1000\n"));
  EXPECT_EQ(nodes.at("n1").cpus, 62U);
  EXPECT_EQ(nodes.at("n1").memory, 1500U);
  EXPECT_EQ(nodes.at("n1").gres, (Gres{{"gres/gpu", 3}, {"gres/shard", 1024}}));
  EXPECT_EQ(nodes.at("n2").cpus, 8U);
  // As slurmctld prints what it has: multiples of 1024 with a letter.
  const SiteNodes more = must(read(
      "NodeName=n1 CPUTot=1 Gres=gpu:8,tmp:3T\nNodeName=n2 CPUTot=1 Gres=tmp:2P,raw:4294967296,kb:2KB,any,gpu:tesla\n"
      "NodeName=n3 CPUTot=1 Gres=bandwidth:no_consume:4G,shard:5\n"));
  EXPECT_EQ(more.at("n1").gres, (Gres{{"gres/gpu", 8}, {"gres/tmp", 3ULL << 40U}}));
  EXPECT_EQ(
      more.at("n2").gres,
      (Gres{
          {"gres/any", 1}, {"gres/gpu", 1}, {"gres/kb", 2000}, {"gres/raw", 1ULL << 32U}, {"gres/tmp", 2ULL << 50U}}));
  EXPECT_EQ(more.at("n3").gres, (Gres{{"gres/shard", 5}}));
  EXPECT_EQ(read("n1 4\nn2  16 \nn1 4\n")->at("n2").cpus, 16U);
  EXPECT_EQ(read("n1 4\nn2 many\n").error().what.substr(0, 7), "line 2:");
}

SacctRow used_on(std::vector<std::string> nodes, std::uint32_t cpus, std::int64_t start, std::int64_t end,
                 std::int64_t suspended = 0) {
  SacctRow row;
  row.nodes = std::move(nodes);
  row.cpus = cpus;
  row.start = Instant{start};
  row.end = Instant{end};
  row.suspended = {suspended};
  return row;
}

TEST(SiteNodes, are_as_large_as_they_were_used_at_once) {
  // Two runs side by side on n1, then one that begins when they end; half of the wide one on each; a suspended one.
  SortedRows sacct(std::filesystem::temp_directory_path());
  for (SacctRow row : {used_on({"n1"}, 2, 0, 10), used_on({"n1"}, 1, 5, 10), used_on({"n1"}, 2, 10, 20),
                       used_on({"n1", "n2"}, 3, 30, 40), used_on({"n2"}, 5, 32, 35, 1)}) {
    row.job = static_cast<std::uint32_t>(row.line = sacct.size() + 1);
    ASSERT_TRUE(sacct.add(row));
  }
  const SiteNodes nodes = nodes_by_use(sacct).value();
  EXPECT_EQ(nodes.at("n1").cpus, 3U);
  EXPECT_EQ(nodes.at("n2").cpus, 5U);
}

}  // namespace
}  // namespace shapley::sacct
