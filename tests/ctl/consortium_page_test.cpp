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

Cells row_of(const std::vector<Cells>& table, const std::string& name) {
  const auto found = std::ranges::find(table, name, [](const Cells& cells) { return cells.front(); });
  return found == table.end() ? Cells{} : *found;
}

TEST_F(ConsortiumPage, has_members_by_cluster_and_who_lent_to_whom_where) {
  ends(ExitCode::success, run(report() + " --no-charts --no-audit"));
  const auto members = table_of(page(), "Members by cluster");
  ASSERT_FALSE(members.empty());
  EXPECT_EQ(members[0], (Cells{"Organization", "Given, north", "Got, north", "Given, south", "Got, south",
                               "Given, in sum", "Got, in sum", "Given - got, in sum"}));
  // A processor of the south is worth half of one of the north.
  EXPECT_EQ(row_of(members, "a"), (Cells{"a", "2.00", "0.00", "0.00", "2.00", "2.00", "1.00", "+1.00"}));
  EXPECT_EQ(row_of(members, "b"), (Cells{"b", "0.00", "2.00", "2.00", "0.00", "1.00", "2.00", "-1.00"}));
  EXPECT_EQ(members.back(), (Cells{"(sum)", "2.00", "2.00", "2.00", "2.00", "3.00", "3.00", "0.00"}));
  const auto lent = table_of(page(), "Lending by cluster");
  ASSERT_EQ(lent.size(), 3U);
  EXPECT_EQ(lent[0], (Cells{"Lent by", "Borrowed by", "north", "south", "In sum"}));
  EXPECT_EQ(lent[1], (Cells{"a", "b", "2.00", "", "2.00"}));
  EXPECT_EQ(lent[2], (Cells{"b", "a", "", "2.00", "1.00"}));
  const auto clusters = table_of(page(), "Clusters");
  ASSERT_EQ(clusters.size(), 3U);
  EXPECT_EQ(clusters[1].back(), "2");
  EXPECT_EQ(clusters[2].front(), "south");
  EXPECT_PRED2(contains, page(), "No audit was made for this page: it was left out by --no-audit.");
  // The file of values is the statement's.
  EXPECT_EQ(content_of(out() / "statement.csv"),
            ends(ExitCode::success, run("statement --month 2026-11 --csv" + files())).out);
  EXPECT_EQ(count(page(), "download=\"statement.csv\""), 1U);
}

TEST_F(ConsortiumPage, shows_only_the_members_that_are_asked_for) {
  ends(ExitCode::success, run(report() + " --no-charts --no-audit -O b"));
  const auto members = table_of(page(), "Members by cluster");
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[1].front(), "b");
  ends(ExitCode::usage, run(report() + " --ledger " + (directory.path() / "north.db").string()));
  ends(ExitCode::usage, run(report() + " --public-key key.pub"));
  ends(ExitCode::usage, run(report() + " --no-charts --no-audit -O absent"));
}

TEST_F(ConsortiumPage, holds_the_audit_of_every_cluster_and_says_what_it_could_not_compare) {
  ends(ExitCode::incomplete, run(report() + " --title Meeting"));
  EXPECT_PRED2(contains, page(), "<title>Meeting, 2026-11-01 to 2026-11-");
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
  made.statement.members = {{hostile, hostile, hour, {}, {}}, {hostile, "", hour, {}, {}}};
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
