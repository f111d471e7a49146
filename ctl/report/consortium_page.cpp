#include "ctl/report/consortium_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "charts/plot.hpp"
#include "ctl/commands/consortium_tables.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr Field k_clusters_page[] = {
    left({"cluster", "Cluster"}), left({"contribution", "Contribution"}), left({"since_utc", "Books from"}),
    left({"until_utc", "Until"}), {"weight", "A processor is worth"},
};

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
  if (!statement.has_sums()) return note_alone("There are no sums over the clusters to draw.");
  std::vector<charts::BarRow> rows;
  std::vector<double> amounts;
  for (const MemberOnCluster& row : statement.members) {
    if (!row.cluster.empty()) continue;
    const std::vector<double> values{row.given.core_hours(), row.got.core_hours()};
    const double amount = std::fabs(values[0]) + values[1];
    if (amount == 0) continue;
    rows.push_back({.label = row.organization, .values = values});
    amounts.push_back(amount);
  }
  if (rows.empty()) return note_alone("No member gave or got anything in this time.");
  const auto draw = [&](const std::filesystem::path& file, charts::Shape shape) {
    std::vector<charts::BarRow> shown;
    for (const std::size_t i : largest_of(amounts, charts::most_rows(shape))) shown.push_back(rows[i]);
    return charts::plot_rows(file, statement.in().word(), {"given", "got"}, shown, shape);
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

std::vector<Sheet> balances_of(const ConsortiumStatement& statement) {
  if (statement.additions.balances.rows.empty()) return {};
  return balance_sheets(statement.additions.balances, balance_table(statement),
                        PaperAmounts::with_decimals(statement.decimals), statement.of.front(), statement.has_sums());
}

// null: it was not asked for.
json board_values(const ConsortiumReport& report) {
  if (!report.board) return nullptr;
  json each = json::array();
  for (const BoardPart& part : board_parts(report.statement, *report.board)) {
    each.push_back(values_of(Sheet{part.table, part.file, part.values}));
    each.back().update({{"name", part.table.name}, {"note", part.note}, {"is_empty", part.table.rows.empty()}});
  }
  return {{"each", std::move(each)}};
}

}  // namespace

bool ConsortiumReport::is_proven() const {
  return statement.exact && std::ranges::all_of(proofs, &Proof::clean);
}

bool ConsortiumReport::is_complete() const {
  return statement.has_sums() && std::ranges::all_of(proofs, &Proof::is_complete);
}

std::vector<Sheet> consortium_sheets(const ConsortiumReport& report) {
  const ConsortiumStatement& statement = report.statement;
  // Reports are meant to be forwarded, so those who do not want users do not find them in a file either.
  ConsortiumStatement without_users = statement;
  without_users.users.clear();
  without_users.additions.balances = {};  // in files of their own
  std::vector<Sheet> sheets{{members_table(statement), "statement.csv", exact_consortium(without_users)}};
  if (!statement.users.empty())
    sheets.push_back({users_table(statement), std::string(k_users_file), exact_consortium_users(statement)});
  for (Sheet& sheet : balances_of(statement)) sheets.push_back(std::move(sheet));
  if (!report.board) return sheets;
  for (BoardPart& part : board_parts(statement, *report.board))
    sheets.push_back({std::move(part.table), part.file, std::move(part.values)});
  return sheets;
}

Expected<std::string> consortium_page(const ConsortiumReport& report, Charts charts) {
  const ConsortiumStatement& statement = report.statement;
  const std::string heading =
      report.heading.empty() ? fmt::format("Consortium {}: what every member gave, got and lent", statement.consortium)
                             : report.heading;
  std::optional<charts::Figure> figure;
  if (charts == Charts::drawn) {
    SHAPLEY_TRY_ASSIGN(figure, members_figure(statement));
  }
  const Table lent = lent_table(statement);
  const std::vector<Sheet> sheets = consortium_sheets(report);
  return rendered(
      "consortium.mustache", page_templates(),
      {{"page", tables::page_values(fmt::format("{}, {}", heading, time_in_words(statement.of.front())), heading)},
       {"since", statement.of.front().since.utc()},
       {"until", statement.of.front().until.utc()},
       {"unit_in_full", statement.in().in_full()},
       {"Unit", capitalized_unit(statement.in())},
       {"first", statement.clusters.front().cluster},
       {"is_proven", report.is_proven()},
       {"has_guests", has_guests(statement)},
       {"clusters", table_values(clusters_table(statement))},
       {"missing", statement.has_sums() ? json() : json(missing_line(statement) + ".")},
       {"has_sums", statement.has_sums()},
       {"standings_differ", statement.has_sums() && !standings_have_sums(statement)},
       {"members", values_of(figure, sheets.front())},
       {"users", statement.users.empty() ? json() : values_of(sheets[1])},
       {"balances", values_of_balances(balances_of(statement), statement.additions.balances.in)},
       {"board", board_values(report)},
       {"lent", lent.rows.empty() ? json() : table_values(lent)},
       {"is_exact", statement.exact},
       {"proofs", proofs_values(report)}});
}

}  // namespace shapley::ctl
