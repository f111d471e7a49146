#include "ctl/report/consortium_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "charts/plot.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::amount_column;
using tables::Field;
using tables::left;
using tables::Table;
using tables::text_column;

constexpr Field k_clusters_page[] = {
    left({"cluster", "Cluster"}),       left({"contribution", "Contribution"}), left({"since_utc", "Books from (UTC)"}),
    left({"until_utc", "Until (UTC)"}), {"weight", "A processor is worth"},
};

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
    members.back().second[row.cluster.empty() ? clusters : cluster_number(statement, row.cluster)] = {row.given.work,
                                                                                                      row.got.work};
  }
  return members;
}

// A column of the members' table.
struct MembersColumn {
  std::string head;
  bool is_rest = false;    // what rounding leaves: only if it is not zero everywhere
  bool is_signed = false;  // of what may be owed
};

std::vector<MembersColumn> members_columns(const ConsortiumStatement& statement) {
  std::vector<MembersColumn> columns;
  for (const accounting::ClusterWeight& cluster : statement.clusters) {
    columns.push_back({.head = "Given, " + cluster.cluster});
    columns.push_back({.head = "Got, " + cluster.cluster});
  }
  const std::string rounding = k_rounding;
  for (const char* side : {"Given, ", "Got, "})
    columns.push_back({.head = side + rounding, .is_rest = true, .is_signed = true});
  columns.push_back({.head = "Given, in sum"});
  columns.push_back({.head = "Got, in sum"});
  columns.push_back({.head = rounding, .is_rest = true, .is_signed = true});
  columns.push_back({.head = "Given - got, in sum", .is_signed = true});
  return columns;
}

// An amount for each of these columns.
std::vector<Units> members_line(const ConsortiumStatement& statement, const MemberCells& cells,
                                const PaperAmounts& amounts) {
  const GivenGot& sum = cells.back();
  const Units given = amounts.nearest(sum.given);
  const Units got = amounts.nearest(sum.got);
  std::vector<Units> line;
  std::vector<Units> all_given;
  std::vector<Units> all_got;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    all_given.push_back(amounts.nearest(cells[i].given));
    all_got.push_back(amounts.nearest(cells[i].got));
    line.push_back(all_given.back());
    line.push_back(all_got.back());
  }
  line.push_back(given - statement.sum_in_first(all_given));
  line.push_back(got - statement.sum_in_first(all_got));
  line.push_back(given);
  line.push_back(got);
  line.push_back(amounts.left_over(std::array{sum.given, -sum.got}));
  line.push_back(amounts.nearest(sum.given - sum.got));
  return line;
}

std::string time_of(const ConsortiumStatement& statement) {
  return statement.of.front().since.utc().substr(0, 10) + " to " + statement.of.front().until.utc().substr(0, 10);
}

Table clusters_table(const ConsortiumStatement& statement) {
  Table table{.name = "Clusters", .columns = columns_of(k_clusters_page)};
  for (std::size_t i = 0; i < statement.clusters.size(); ++i) {
    const ledger::IntervalHeading& of = statement.of[i];
    table.rows.push_back({{"cluster", statement.clusters[i].cluster},
                          {"contribution", of.contribution},
                          {"since_utc", (of.books_begin.is_known() ? of.books_begin : of.since).utc()},
                          {"until_utc", of.until.utc()},
                          {"weight", format_micro(statement.clusters[i].weight)}});
  }
  return table;
}

Expected<charts::Figure> members_figure(const ConsortiumStatement& statement) {
  std::vector<charts::BarRow> rows;
  std::vector<double> amounts;
  for (const auto& [name, cells] : members_of(statement)) {
    const std::vector<double> values{ledger::core_hours(cells.back().given), ledger::core_hours(cells.back().got)};
    const double amount = std::fabs(values[0]) + values[1];
    if (amount == 0) continue;
    rows.push_back({.label = name, .values = values});
    amounts.push_back(amount);
  }
  if (rows.empty()) return note_alone("No member gave or got anything in this time.");
  const auto draw = [&](const std::filesystem::path& file, charts::Shape shape) {
    std::vector<charts::BarRow> shown;
    for (const std::size_t i : largest_of(amounts, charts::most_rows(shape))) shown.push_back(rows[i]);
    return charts::plot_rows(file, "core-hours", {"given", "got"}, shown, shape);
  };
  SHAPLEY_TRY_ASSIGN(charts::Figure figure, charts::figure("Given and got in sum over the clusters", draw));
  if (rows.size() > charts::most_rows(charts::Shape::narrow))
    figure.notes.push_back("The chart shows those who gave and got the most, as many as can be read; the table all.");
  return figure;
}

json proofs_values(const ConsortiumReport& report) {
  json proofs = json::array();
  for (std::size_t i = 0; i < report.proofs.size(); ++i) {
    proofs.push_back({{"cluster", report.statement.clusters[i].cluster}, {"proof", values_of(report.proofs[i])}});
  }
  return proofs;
}

}  // namespace

bool ConsortiumReport::is_proven() const {
  return statement.exact && std::ranges::all_of(proofs, &Proof::clean);
}

Sheet members_sheet(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  const std::vector<MembersColumn> columns = members_columns(statement);
  std::vector<std::pair<std::string, std::vector<Units>>> lines;
  MemberCells all(statement.clusters.size() + 1);
  std::vector<Units> added(columns.size());
  for (const auto& [name, cells] : members_of(statement)) {
    lines.emplace_back(name, members_line(statement, cells, amounts));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      all[i].given += cells[i].given;
      all[i].got += cells[i].got;
    }
    for (std::size_t k = 0; k < columns.size(); ++k) added[k] += lines.back().second[k];
  }
  const std::vector<Units> sum = members_line(statement, all, amounts);
  std::vector<Units> rest;
  for (std::size_t k = 0; k < columns.size(); ++k) rest.push_back(sum[k] - added[k]);
  if (std::ranges::any_of(rest, [](Units units) { return units != 0; })) lines.emplace_back(k_rounding, rest);
  lines.emplace_back("(sum)", sum);

  Table table{.name = "Members by cluster", .columns = {text_column("Organization")}};
  for (const auto& [name, units] : lines) table.rows.push_back(json::array({name}));
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].is_rest && std::ranges::all_of(lines, [k](const auto& line) { return line.second[k] == 0; }))
      continue;
    table.columns.push_back(amount_column(columns[k].head));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_signed = columns[k].is_signed || lines[i].first == k_rounding;
      const Units units = lines[i].second[k];
      table.rows[i].push_back(is_signed ? amounts.signed_text(units) : amounts.text(units));
    }
  }
  return {std::move(table), "statement.csv", exact_consortium(statement)};
}

Table lent_table(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  const std::size_t clusters = statement.clusters.size();
  Table table{.name = "Lending by cluster", .columns = {text_column("Lent by"), text_column("Borrowed by")}};
  for (const accounting::ClusterWeight& cluster : statement.clusters)
    table.columns.push_back(amount_column(cluster.cluster));
  std::map<std::pair<std::string, std::string>, std::vector<CpuTime>> pairs;
  for (const LentOnCluster& row : statement.lent) {
    std::vector<CpuTime>& works = pairs[{row.owner, row.borrower}];
    works.resize(clusters + 1);
    const std::size_t cluster = cluster_number(statement, row.cluster);
    works[cluster] += row.amount.work;
    works.back() += statement.in_first(row.amount.work, cluster);
  }
  std::vector<Units> rests;
  std::vector<std::string> sums;
  for (const auto& [pair, works] : pairs) {
    json cells = json::array({pair.first, pair.second});
    std::vector<Units> printed;
    for (std::size_t i = 0; i < clusters; ++i) {
      printed.push_back(amounts.nearest(works[i]));
      cells.push_back(works[i] == CpuTime{} ? "" : amounts.text(printed.back()));
    }
    table.rows.push_back(std::move(cells));
    const Units sum = amounts.nearest(works.back());
    rests.push_back(sum - statement.sum_in_first(printed));
    sums.push_back(amounts.text(sum));
  }
  const bool has_rest = std::ranges::any_of(rests, [](Units units) { return units != 0; });
  if (has_rest) table.columns.push_back(amount_column(k_rounding));
  table.columns.push_back(amount_column("In sum"));
  for (std::size_t i = 0; i < rests.size(); ++i) {
    if (has_rest) table.rows[i].push_back(rests[i] == 0 ? "" : amounts.signed_text(rests[i]));
    table.rows[i].push_back(sums[i]);
  }
  return table;
}

Expected<std::string> consortium_page(const ConsortiumReport& report, Charts charts) {
  const ConsortiumStatement& statement = report.statement;
  const std::string heading = report.heading.empty()
                                  ? "Consortium " + statement.consortium + ": what every member gave, got and lent"
                                  : report.heading;
  std::optional<charts::Figure> figure;
  if (charts == Charts::drawn) {
    SHAPLEY_TRY_ASSIGN(figure, members_figure(statement));
  }
  const Table lent = lent_table(statement);
  return rendered("consortium.mustache", page_templates(),
                  {{"page", tables::page_values(heading + ", " + time_of(statement), heading)},
                   {"since", statement.of.front().since.utc()},
                   {"until", statement.of.front().until.utc()},
                   {"first", statement.clusters.front().cluster},
                   {"is_proven", report.is_proven()},
                   {"has_guests", has_guests(statement)},
                   {"clusters", table_values(clusters_table(statement))},
                   {"members", values_of(figure, members_sheet(statement))},
                   {"lent", lent.rows.empty() ? json() : table_values(lent)},
                   {"is_exact", statement.exact},
                   {"proofs", proofs_values(report)}});
}

}  // namespace shapley::ctl
