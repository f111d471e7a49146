#include "ctl/report/consortium_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <utility>

#include "charts/html.hpp"
#include "charts/plot.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

std::size_t number_of(const ConsortiumStatement& statement, const std::string& cluster) {
  const auto found = std::ranges::find(statement.clusters, cluster, &accounting::ClusterWeight::cluster);
  return static_cast<std::size_t>(found - statement.clusters.begin());
}

// What a member gave and got on each cluster, and, last, in sum.
struct GivenGot {
  CpuTime given, got;
};
using MemberCells = std::vector<GivenGot>;

std::vector<std::pair<std::string, MemberCells>> members_of(const ConsortiumStatement& statement) {
  const std::size_t clusters = statement.clusters.size();
  std::vector<std::pair<std::string, MemberCells>> members;
  for (const MemberOnCluster& row : statement.members) {
    if (members.empty() || members.back().first != row.organization)
      members.emplace_back(row.organization, MemberCells(clusters + 1));
    members.back().second[row.cluster.empty() ? clusters : number_of(statement, row.cluster)] = {row.given.work,
                                                                                                 row.got.work};
  }
  return members;
}

std::vector<std::string> member_row(const std::string& name, const MemberCells& cells) {
  std::vector<std::string> row{name};
  for (const GivenGot& cell : cells) {
    row.push_back(plain_core_hours(ledger::core_hours(cell.given)));
    row.push_back(unsigned_core_hours(ledger::core_hours(cell.got)));
  }
  row.push_back(signed_core_hours(ledger::core_hours(cells.back().given - cells.back().got)));
  return row;
}

std::string time_of(const ConsortiumStatement& statement) {
  return statement.of.front().since.utc().substr(0, 10) + " to " + statement.of.front().until.utc().substr(0, 10);
}

charts::Table clusters_table(const ConsortiumStatement& statement) {
  charts::Table table{.name = "Clusters",
                      .head = {"Cluster", "Contribution", "Books from (UTC)", "Until (UTC)", "A processor is worth"},
                      .text_columns = 4};
  for (std::size_t i = 0; i < statement.clusters.size(); ++i) {
    const ledger::IntervalHeading& of = statement.of[i];
    table.rows.push_back({statement.clusters[i].cluster, of.contribution,
                          (of.books_begin.is_known() ? of.books_begin : of.since).utc(), of.until.utc(),
                          format_micro(statement.clusters[i].weight)});
  }
  return table;
}

Expected<std::string> members_figure(const ConsortiumStatement& statement) {
  std::vector<charts::BarRow> rows;
  std::vector<double> amounts;
  for (const auto& [name, cells] : members_of(statement)) {
    const std::vector<double> values{ledger::core_hours(cells.back().given), ledger::core_hours(cells.back().got)};
    const double amount = std::fabs(values[0]) + values[1];
    if (amount == 0) continue;
    rows.push_back({.label = name, .values = values});
    amounts.push_back(amount);
  }
  if (rows.empty()) return note("No member gave or got anything in this time.");
  const auto draw = [&](const std::filesystem::path& file, charts::Shape shape) {
    std::vector<charts::BarRow> shown;
    for (const std::size_t i : largest_of(amounts, charts::most_rows(shape))) shown.push_back(rows[i]);
    return charts::plot_rows(file, "core-hours", {"given", "got"}, shown, shape);
  };
  SHAPLEY_TRY_ASSIGN(std::string figure, both_shapes("Given and got in sum over the clusters", draw));
  if (rows.size() > charts::most_rows(charts::Shape::narrow))
    figure += note("The chart shows those who gave and got the most, as many as can be read; the table all.");
  return figure;
}

std::string proofs_html(const ConsortiumReport& report) {
  std::string text =
      "<h2 id=\"proof\">The books' proof</h2>\n" +
      (report.statement.exact
           ? paragraph("Sums are exact on every cluster: what was held is what was booked, to the unit.")
           : "<p class=\"bad\">Sums are NOT exact: what was held is not what was booked; run shapleyctl audit.</p>\n");
  for (std::size_t i = 0; i < report.proofs.size(); ++i) {
    const Proof& proof = report.proofs[i];
    text += "<h3>" + charts::html(report.statement.clusters[i].cluster) + "</h3>\n" +
            (proof.audit ? audit_html(*proof.audit)
                         : paragraph("No audit was made for this page: " + proof.no_audit + "."));
  }
  return text;
}

}  // namespace

bool ConsortiumReport::is_proven() const {
  return statement.exact && std::ranges::all_of(proofs, &Proof::clean);
}

Sheet members_sheet(const ConsortiumStatement& statement) {
  Sheet sheet{.table = {.name = "Members by cluster", .head = {"Organization"}},
              .file = "statement.csv",
              .csv = consortium_csv(statement)};
  for (const accounting::ClusterWeight& cluster : statement.clusters) {
    sheet.table.head.push_back("Given, " + cluster.cluster);
    sheet.table.head.push_back("Got, " + cluster.cluster);
  }
  sheet.table.head.insert(sheet.table.head.end(), {"Given, in sum", "Got, in sum", "Given - got, in sum"});
  MemberCells all(statement.clusters.size() + 1);
  for (const auto& [name, cells] : members_of(statement)) {
    sheet.table.rows.push_back(member_row(name, cells));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      all[i].given += cells[i].given;
      all[i].got += cells[i].got;
    }
  }
  sheet.table.rows.push_back(member_row("(sum)", all));
  return sheet;
}

charts::Table lent_table(const ConsortiumStatement& statement) {
  const std::size_t clusters = statement.clusters.size();
  charts::Table table{.name = "Lending by cluster", .head = {"Lent by", "Borrowed by"}, .text_columns = 2};
  for (const accounting::ClusterWeight& cluster : statement.clusters) table.head.push_back(cluster.cluster);
  table.head.push_back("In sum");
  std::map<std::pair<std::string, std::string>, std::vector<CpuTime>> pairs;
  for (const LentOnCluster& row : statement.lent) {
    std::vector<CpuTime>& works = pairs[{row.owner, row.borrower}];
    works.resize(clusters + 1);
    const std::size_t cluster = number_of(statement, row.cluster);
    works[cluster] += row.amount.work;
    works.back() += statement.in_first(row.amount.work, cluster);
  }
  for (const auto& [pair, works] : pairs) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{pair.first, pair.second});
    for (const CpuTime work : works)
      cells.push_back(work == CpuTime{} ? "" : unsigned_core_hours(ledger::core_hours(work)));
  }
  return table;
}

Expected<std::string> consortium_page(const ConsortiumReport& report, Charts charts) {
  const ConsortiumStatement& statement = report.statement;
  const std::string heading = report.heading.empty()
                                  ? "Consortium " + statement.consortium + ": what every member gave, got and lent"
                                  : report.heading;
  std::string figure;
  if (charts == Charts::drawn) {
    SHAPLEY_TRY_ASSIGN(figure, members_figure(statement));
  }
  const std::string first = charts::html(statement.clusters.front().cluster);
  const charts::Table lent = lent_table(statement);
  return charts::page_begin(heading + ", " + time_of(statement), heading) +
         paragraph("From " + statement.of.front().since.utc() + " to " + statement.of.front().until.utc() +
                   "; months and days are those of UTC.") +
         "<p class=\"soft\">Amounts are core-hours, each a sum over the time. Those of a cluster are in its own "
         "processors; a sum over clusters is in processors of " +
         first + ".</p>\n" +
         (report.is_proven() ? ""
                             : "<p class=\"bad\">These books are not proven: see <a href=\"#proof\">the books' "
                               "proof</a>.</p>\n") +
         "<h2>Clusters</h2>\n" + charts::table_html(clusters_table(statement)) +
         "<h2>Members</h2>\n<p>What each member was credited for its processors, and what its jobs got, on every "
         "cluster.</p>\n" +
         charts::beside_html(figure, sheet_html(members_sheet(statement))) +
         "<h2>Lending</h2>\n<p>Core-hours that jobs of one member ran on processors of another one. An empty cell: "
         "nothing.</p>\n" +
         (lent.rows.empty() ? note("No member's jobs ran on another one's processors in this time.")
                            : charts::table_html(lent)) +
         proofs_html(report) + charts::page_end();
}

}  // namespace shapley::ctl
