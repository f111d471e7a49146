// The tables of a report's page and of a consortium, recomputed with a pocket calculator: of random books, and of
// clusters whose processors are worth the same or not.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ctl/commands/consortium_statement.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/report/consortium_page.hpp"
#include "ctl/report/sheets.hpp"
#include "paper_books.hpp"

namespace shapley::ctl {
namespace {

// An amount of a page's table, by its row and the head of its column; 0 where there is no such column or nothing in it.
std::int64_t cell(const PrintedTable& table, std::size_t row, const std::string& column) {
  const auto head = std::ranges::find(table.head, column);
  return head == table.head.end()
             ? 0
             : thousandths(table.rows.at(row).at(static_cast<std::size_t>(head - table.head.begin())));
}

std::int64_t step_of(const std::string& text) {
  const std::size_t decimals = text.size() - text.find('.') - 1;
  return decimals == 1 ? 100 : decimals == 2 ? 10 : 1;
}

// An amount of the page's first table.
std::string printed_amount(const SiteReport& report) {
  return PrintedTable(overview_sheet(report).table).rows.at(0).at(3);
}

RC_GTEST_PROP(PaperPages, HaveAStatementThatAddsUp, (std::uint64_t seed)) {
  Books books{.random = std::mt19937_64(seed), .organizations = 1 + seed % 7, .scale = seed % 2 == 0 ? 3'000 : 700'000};
  SiteReport report;
  report.statement = books.make();
  const std::vector<ledger::AccountRow>& rows = report.statement.organizations;
  const PrintedTable overview(overview_sheet(report).table);
  const PrintedTable lending(lending_sheet(report).table);
  const auto rest = std::ranges::find(lending.rows, k_rounding, [](const auto& row) { return row.front(); });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t got = cell(overview, i, "Own") + cell(overview, i, "Borrowed") + cell(overview, i, k_rounding);
    EXPECT_EQ(got, cell(overview, i, "Got"));
    EXPECT_EQ(cell(overview, i, "Got"), nearest_like(overview.rows[i][3], rows[i].got.work));
    EXPECT_EQ(cell(lending, i, rows[i].name), cell(overview, i, "Own"));
    std::int64_t lent = cell(lending, i, k_rounding);
    std::int64_t borrowed = rest == lending.rows.end() ? 0 : thousandths(rest->at(1 + i));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      lent += k == i ? 0 : cell(lending, i, rows[k].name);
      borrowed += k == i ? 0 : cell(lending, k, rows[i].name);
    }
    EXPECT_EQ(lent, cell(overview, i, "Lent"));
    EXPECT_EQ(borrowed, cell(overview, i, "Borrowed"));
    for (const ledger::LentPair& pair : rows[i].lent_to) {
      const std::string& text = lending.rows[i].at(
          static_cast<std::size_t>(std::ranges::find(lending.head, pair.organization) - lending.head.begin()));
      EXPECT_EQ(thousandths(text), nearest_like(text, pair.work));
    }
  }
  for (const auto& row : lending.rows) EXPECT_EQ(row.size(), lending.head.size());
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(PaperPages, HaveMonthsThatAddUp, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  SiteReport report;
  report.statement = Books{.random = random, .organizations = 1, .scale = seed % 2 == 0 ? 3'000 : 700'000}.make();
  const auto amount = [&] {
    return static_cast<double>(random() % 1'000'000) / 1800 / static_cast<double>(1 + seed % 900);
  };
  for (int i = 0; i < 12; ++i) {
    report.months.rows.push_back(
        {.organization = "a", .got_core_hours = amount(), .given_core_hours = amount() - amount()});
  }
  const PrintedTable months(months_sheet(report).table);
  ASSERT_EQ(months.rows.size(), 12U);
  for (std::size_t i = 0; i < months.rows.size(); ++i) {
    const std::int64_t given = cell(months, i, months.head[2]);
    const std::int64_t got = cell(months, i, "Got (core-hours)");
    EXPECT_EQ(given, nearest_like(months.rows[i][2], work_of(report.months.rows[i].given_core_hours)));
    EXPECT_EQ(given - got + cell(months, i, k_rounding), cell(months, i, "Given - got (core-hours)"));
    EXPECT_EQ(step_of(months.rows[i][2]), step_of(printed_amount(report))) << "two tables of one paper";
  }
  RC_ASSERT(!testing::Test::HasFailure());
}

// Members of a consortium that gave, got and lent something on some of its clusters.
struct Consortium {
  std::mt19937_64 random;
  std::vector<std::int64_t> weights;  // of the clusters
  std::int64_t scale;                 // processor-seconds
  int decimals;
  ConsortiumStatement statement = {};

  CpuTime work() {
    return {random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(scale * k_micro))};
  }

  ConsortiumStatement make(std::size_t members) {
    statement.consortium = "uni";
    statement.decimals = decimals;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      statement.clusters.push_back({"cluster" + std::to_string(i), weights[i] * accounting::k_whole_weight});
      statement.of.emplace_back();
    }
    for (std::size_t m = 0; m < members; ++m) {
      MemberOnCluster sum;
      sum.organization = Books::name(m);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        if (random() % 4 == 0) continue;
        const CpuTime given = work();
        const CpuTime got = work();
        statement.members.push_back({sum.organization, statement.clusters[i].cluster, {got}, {given}, {given - got}});
        sum.given.work += statement.in_first(given, i);
        sum.got.work += statement.in_first(got, i);
        if (m > 0) statement.lent.push_back({Books::name(m), Books::name(0), statement.clusters[i].cluster, {work()}});
      }
      sum.difference.work = sum.given.work - sum.got.work;
      statement.members.push_back(sum);
    }
    return statement;
  }

  // What a reader gets who weighs the printed amounts of the clusters: to the table's last decimal, halves away from
  // zero.
  [[nodiscard]] std::int64_t weighed(const std::vector<std::int64_t>& amounts, std::int64_t step) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) sum += amounts[i] / step * weights[i];
    const std::int64_t twice = 2 * (sum < 0 ? -sum : sum) + weights[0];
    return (sum < 0 ? -1 : 1) * (twice / (2 * weights[0])) * step;
  }
};

Consortium consortium_of(std::uint64_t seed) {
  const std::array<std::vector<std::int64_t>, 4> weights{{{1}, {1, 1, 1}, {2, 1}, {3, 2, 1, 7}}};
  return {.random = std::mt19937_64(seed),
          .weights = weights[seed % 4],
          .scale = seed % 3 == 0 ? 2'000 : 900'000,
          .decimals = 1 + static_cast<int>(seed / 16 % 3)};
}

RC_GTEST_PROP(PaperPages, HaveAStatementOfAConsortiumThatAddsUp, (std::uint64_t seed)) {
  Consortium consortium = consortium_of(seed);
  const ConsortiumStatement statement = consortium.make(seed % 6);
  const std::string text = consortium_text(statement);
  std::map<std::string, std::vector<std::int64_t>> cells;  // of the clusters, by column
  std::map<std::string, std::int64_t> rest;
  auto exact = statement.members.begin();
  for (const PrintedRow& row : printed_rows(text, "Organization Cluster", 2)) {
    const std::string& cluster = row.words.at(1);
    if (cluster == k_rounding) {
      for (const char* column : {"Given", "Got", "Given-Got"}) rest[column] = row[column];
      continue;
    }
    EXPECT_EQ(row["Given"], nearest_like(row.cells.at("Given"), exact->given.work)) << text;
    EXPECT_EQ(row["Got"], nearest_like(row.cells.at("Got"), exact->got.work)) << text;
    EXPECT_EQ(row["Given"] - row["Got"] + row[k_rounding], row["Given-Got"]) << text;
    EXPECT_EQ(row.cells.at("Given").size() - row.cells.at("Given").find('.') - 1,
              static_cast<std::size_t>(statement.decimals));
    for (const char* column : {"Given", "Got", "Given-Got"}) {
      std::vector<std::int64_t>& of_clusters = cells[column];
      of_clusters.resize(statement.clusters.size());
      if (cluster != "(sum)") {
        of_clusters[cluster_number(statement, cluster)] = row[column];
        continue;
      }
      EXPECT_EQ(consortium.weighed(of_clusters, step_of(row.cells.at(column))) + rest[column], row[column]) << text;
      of_clusters.clear();
      rest[column] = 0;
    }
    ++exact;
  }
  EXPECT_EQ(exact, statement.members.end()) << text;
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(PaperPages, HaveMembersOfAConsortiumThatAddUp, (std::uint64_t seed)) {
  Consortium consortium = consortium_of(seed);
  const ConsortiumStatement statement = consortium.make(seed % 6);
  const PrintedTable members(members_sheet(statement).table);
  const std::int64_t step = step_of(members.rows.back().back());
  std::vector<std::int64_t> columns(members.head.size());
  for (std::size_t i = 0; i < members.rows.size(); ++i) {
    ASSERT_EQ(members.rows[i].size(), members.head.size());
    if (members.rows[i].front() != "(sum)") {
      for (std::size_t k = 1; k < columns.size(); ++k) columns[k] += thousandths(members.rows[i][k]);
    }
    if (members.rows[i].front() == k_rounding) continue;
    EXPECT_EQ(cell(members, i, "Given, in sum") - cell(members, i, "Got, in sum") + cell(members, i, k_rounding),
              cell(members, i, "Given - got, in sum"));
    for (const std::string side : {"Given, ", "Got, "}) {
      std::vector<std::int64_t> of_clusters;
      for (const auto& cluster : statement.clusters) of_clusters.push_back(cell(members, i, side + cluster.cluster));
      EXPECT_EQ(consortium.weighed(of_clusters, step) + cell(members, i, side + k_rounding),
                cell(members, i, side + "in sum"));
    }
  }
  for (std::size_t k = 1; k < columns.size(); ++k)
    EXPECT_EQ(columns[k], thousandths(members.rows.back()[k])) << members.head[k];
  const PrintedTable lent(lent_table(statement));
  for (std::size_t i = 0; i < lent.rows.size(); ++i) {
    ASSERT_EQ(lent.rows[i].size(), lent.head.size());
    std::vector<std::int64_t> of_clusters;
    for (const auto& cluster : statement.clusters) of_clusters.push_back(cell(lent, i, cluster.cluster));
    EXPECT_EQ(consortium.weighed(of_clusters, step) + cell(lent, i, k_rounding), cell(lent, i, "In sum"));
  }
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace shapley::ctl
