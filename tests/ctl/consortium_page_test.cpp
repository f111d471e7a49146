// The page of `shapleyctl report --consortium`: figures computed by hand, the statement's own file, and foreign text.
#include "ctl/report/consortium_page.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ctl/environment.hpp"
#include "page_fixture.hpp"
#include "tests/support/text.hpp"
#include "two_clusters.hpp"

namespace shapley::ctl {
namespace {

using Cells = std::vector<std::string>;

class ConsortiumPage : public testing::Test {
 protected:
  void SetUp() override { write_two_clusters(directory.path()); }

  [[nodiscard]] Outcome run(const std::string& arguments) const { return run_shapleyctl(directory.path(), arguments); }
  [[nodiscard]] std::string files() const {
    return " --consortium " + (directory.path() / "north.db").string() + ' ' + (directory.path() / "south.db").string();
  }
  [[nodiscard]] fs::path out() const { return directory.path() / "page"; }
  [[nodiscard]] std::string report() const { return "report --month 2026-11 -o " + out().string() + files(); }
  [[nodiscard]] std::string page() const { return content_of(out() / "index.html"); }

  ledger::testing::TemporaryDirectory directory;
};

Cells row_of(const std::vector<Cells>& table, const std::string& name, const std::string& cluster) {
  const auto found =
      std::ranges::find_if(table, [&](const Cells& cells) { return cells[0] == name && cells[1] == cluster; });
  return found == table.end() ? Cells{} : *found;
}

TEST_F(ConsortiumPage, has_members_by_cluster_and_who_lent_to_whom_where) {
  ends(ExitCode::success, run(report() + " --no-charts --no-audit"));
  const auto members = table_of(page(), "Members by cluster");
  ASSERT_FALSE(members.empty());
  EXPECT_EQ(members[0], (Cells{"Organization", "Cluster", "Given", "Got", "Difference", "Standing"}));
  // A processor of the south is worth half of one of the north. An hour of 2 is on average half of that, and a second
  // and what is left of it later.
  EXPECT_EQ(row_of(members, "a", "north"), (Cells{"a", "north", "2.00", "0.00", "+2.00", "+1.05"}));
  EXPECT_EQ(row_of(members, "a", "south"), (Cells{"a", "south", "0.00", "2.00", "-2.00", "-1.05"}));
  EXPECT_EQ(row_of(members, "a", "(sum)"), (Cells{"a", "(sum)", "2.00", "1.00", "+1.00", "+0.53"}));
  EXPECT_EQ(row_of(members, "b", "(sum)"), (Cells{"b", "(sum)", "1.00", "2.00", "-1.00", "-0.53"}));
  EXPECT_EQ(members.back(), (Cells{"(sum)", "(sum)", "3.00", "3.00", "0.00", "0.00"}));
  const auto lent = table_of(page(), "Lending by cluster");
  ASSERT_EQ(lent.size(), 8U);
  EXPECT_EQ(lent[0], (Cells{"Lent by", "Borrowed by", "Cluster", "CoreHours"}));
  EXPECT_EQ(lent[1], (Cells{"a", "b", "north", "2.00"}));
  EXPECT_EQ(lent[2], (Cells{"a", "b", "(sum)", "2.00"}));
  EXPECT_EQ(lent[4], (Cells{"b", "a", "(sum)", "1.00"}));
  EXPECT_EQ(lent.back(), (Cells{"(sum)", "", "(sum)", "3.00"}));
  const auto clusters = table_of(page(), "Clusters");
  ASSERT_EQ(clusters.size(), 3U);
  EXPECT_EQ(clusters[1].back(), "2");
  EXPECT_EQ(clusters[2].front(), "south");
  EXPECT_PRED2(contains, page(), "No audit was made for this page: it was left out by --no-audit.");
  // The file of values is the statement's, without users, who are on the page on request only.
  const std::string statement = ends(ExitCode::success, run("statement --month 2026-11 --csv" + files())).out;
  EXPECT_PRED2(contains, statement, ",user_borrowed,");
  const std::string file = content_of(out() / "statement.csv");
  EXPECT_EQ(file, statement.substr(0, file.size()));
  EXPECT_PRED2(lacks, file, ",user_");
  EXPECT_PRED2(lacks, page(), "Users by cluster");
  EXPECT_FALSE(fs::exists(out() / "users.csv"));
  ends(ExitCode::success, run(report() + " --no-charts --no-audit --users"));
  EXPECT_EQ(table_of(page(), "Users by cluster").back()[3], "(sum)");
  EXPECT_PRED2(contains, content_of(out() / "users.csv"), ",user_borrowed,");
  EXPECT_EQ(count(page(), "download=\"statement.csv\""), 1U);
}

TEST_F(ConsortiumPage, shows_only_the_members_that_are_asked_for) {
  ends(ExitCode::success, run(report() + " --no-charts --no-audit -O b"));
  const auto members = table_of(page(), "Members by cluster");
  ASSERT_EQ(members.size(), 4U);
  for (std::size_t i = 1; i < members.size(); ++i) EXPECT_EQ(members[i].front(), "b");
  ends(ExitCode::usage, run(report() + " --ledger " + (directory.path() / "north.db").string()));
  ends(ExitCode::usage, run(report() + " --public-key key.pub"));
  ends(ExitCode::usage, run(report() + " --no-charts --no-audit -O absent"));
}

TEST_F(ConsortiumPage, holds_the_audit_of_every_cluster_and_says_what_it_could_not_compare) {
  ends(ExitCode::incomplete, run(report() + " --title Meeting"));
  EXPECT_PRED2(contains, page(), "<title>Meeting, 1 November 2026 to ");
  EXPECT_EQ(count(page(), "<figure>"), 1U);
  EXPECT_EQ(count(page(), "<strong>Correct to the last unit</strong>"), 2U);
  EXPECT_PRED2(contains, page(), "<li>Missing: south: none of its statements was recorded");
  EXPECT_PRED2(contains, page(), "<h3>north</h3>");
  EXPECT_PRED2(contains, page(), "<h3>south</h3>");
  EXPECT_PRED2(lacks, page(), directory.path().string());
  EXPECT_PRED2(lacks, page(), "not proven");
}

TEST_F(ConsortiumPage, keeps_foreign_text_as_text) {
  const std::string hostile = "<script>'\"&";
  ConsortiumReport made;
  made.heading = made.statement.consortium = hostile;
  made.proofs.emplace_back().no_audit = hostile;
  made.statement.clusters = {{hostile, accounting::k_whole_weight}};
  made.statement.of.emplace_back().contribution = hostile;
  const ledger::Amount hour{{Int128{3600} * k_micro}};
  made.statement.members = {{.organization = hostile, .cluster = hostile, .got = hour},
                            {.organization = hostile, .got = hour}};
  made.statement.users = {{hostile, hostile, {.account = hostile, .got = hour, .own = hour, .user = hostile}}};
  made.statement.lent = {{hostile, hostile, hostile, hour}};
  for (const Charts charts : {Charts::left_out, Charts::drawn}) {
    const std::string text = must(consortium_page(made, charts));
    EXPECT_PRED2(lacks, text, "<script");
    EXPECT_PRED2(contains, text, "&lt;script&gt;");
  }
  made.statement.exact = false;
  EXPECT_PRED2(contains, must(consortium_page(made, Charts::left_out)), "These books are not proven");
}

}  // namespace
}  // namespace shapley::ctl
