#include "ctl/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "charts/plot.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/commands/utilization.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/worth.hpp"
#include "ctl/report/parts.hpp"
#include "tables/instants.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

json text_or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

// The chart shows only some organizations, because fifty lines are not readable; the table shows all.
json standings_in_words(const ledger::PeriodPart& last) {
  if (last.organizations.size() > k_most_lines + 1) return nullptr;
  json lines = json::array();
  for (const ledger::PeriodRow& row : last.organizations) lines.push_back(fmt::format("{} {}", row.name, row.sentence));
  return {{"each", std::move(lines)}};
}

// null if it is unknown for the last period.
json worth_values(const ledger::PeriodPart& last) {
  if (!last.worth || last.worth->organizations.empty()) return nullptr;
  return {{"sentences", text_lines(worth_sentences(*last.worth))}, {"limits", text_lines(worth_limits(*last.worth))}};
}

json period_begins(const std::vector<ledger::PeriodPart>& periods) {
  if (periods.size() < 2) return nullptr;
  std::string days;
  for (const ledger::PeriodPart& part : periods) {
    if (part.opens_period) days += (days.empty() ? "" : ", ") + tables::date_in_words(part.period_begin);
  }
  return {{"days", std::move(days)}};
}

json users_values(const SiteReport& report) {
  if (!report.users) return nullptr;
  json values = values_of(users_sheet(report));
  values["is_private"] = report.statement.is_private;
  return values;
}

json utilization_values(const SiteReport& report) {
  const std::vector<Sheet> sheets = utilization_sheets(report);
  if (sheets.empty()) return nullptr;
  json each = json::array();
  for (const Sheet& sheet : sheets) {
    each.push_back(values_of(sheet));
    each.back()["name"] = sheet.table.name;
  }
  return {{"unit", report.months.of.in.in_full()},
          {"notes", text_lines(utilization_notes(report.months))},
          {"each", std::move(each)}};
}

json corrections_values(const SiteReport& report) {
  const Sheet sheet = corrections_sheet(report);
  return sheet.table.rows.empty() ? json() : values_of(sheet);
}

json head_values(const Proof& proof) {
  if (!proof.head) return nullptr;
  return {{"lines", text_lines(proof.head->text())},
          {"is_good", proof.signature == SignatureState::good},
          {"is_unchecked", proof.signature == SignatureState::unchecked},
          {"fault", proof.signature == SignatureState::bad ? json(proof.signature_fault) : json()}};
}

// All but the charts and their tables.
json values_without_charts(const SiteReport& report) {
  const ledger::IntervalHeading& of = report.statement.of;
  const ledger::PeriodPart& last = report.statement.periods.back();
  return {{"page", tables::page_values(fmt::format("{}, {}", report.heading, time_in_words(of)), report.heading)},
          {"cluster", text_or_null(report.cluster)},
          {"consortium", text_or_null(report.consortium)},
          {"since", of.since.utc()},
          {"until", of.until.utc()},
          {"bounds", text_lines(recorded_line(of))},
          {"is_proven", report.exact() && report.proof.clean()},
          {"standings_at", last.end.utc()},
          {"period_begin", last.period_begin.utc()},
          {"standings_in_words", standings_in_words(last)},
          {"contribution", of.contribution},
          {"unit", of.in.word()},
          {"Unit", capitalized_unit(of.in)},
          {"unit_in_full", of.in.in_full()},
          {"worth", worth_values(last)},
          {"overview", values_of(overview_sheet(report))},
          {"balances", values_of_balances(balance_sheets(report), report.balances.in)},
          {"period_begins", period_begins(report.statement.periods)},
          {"users", users_values(report)},
          {"utilization", utilization_values(report)},
          {"corrections", corrections_values(report)},
          {"is_exact", report.exact()},
          {"proof", values_of(report.proof)},
          {"no_head", report.proof.head ? json() : json(report.proof.no_head)},
          {"signed_head", head_values(report.proof)}};
}

}  // namespace

Expected<std::string> report_page(const SiteReport& report, Charts charts) {
  json values = values_without_charts(report);
  const auto add = [&](const char* name, Expected<charts::Figure> (*draw)(const SiteReport&),
                       const Sheet& sheet) -> Expected<void> {
    std::optional<charts::Figure> figure;
    if (charts == Charts::drawn) {
      SHAPLEY_TRY_ASSIGN(figure, draw(report));
    }
    values[name] = values_of(figure, sheet);
    return {};
  };
  SHAPLEY_TRY(add("standings", standings_figure, standings_sheet(report)));
  SHAPLEY_TRY(add("lending", lending_figure, lending_sheet(report)));
  SHAPLEY_TRY(add("waiting", waiting_figure, waiting_sheet(report)));
  SHAPLEY_TRY(add("months", months_figure, months_sheet(report)));
  return rendered("report.mustache", page_templates(), values);
}

namespace {

using charts::Shape;

// The most months that are readable in a chart.
constexpr std::size_t k_most_months = 12;

charts::TimeLine line_of(const std::string& name, const std::vector<StandingsThen>& instants) {
  charts::TimeLine line{.label = name, .points = {}};
  for (const StandingsThen& then : instants) {
    const auto standing = then.standing.find(name);
    if (standing == then.standing.end()) continue;
    if (then.begins_period) line.points.push_back({.at = {then.period_begin}, .value = 0, .begins = true});
    line.points.push_back({.at = {then.at}, .value = standing->second});
  }
  return line;
}

// The organizations in the order of months_sheet's rows, and the months.
struct Months {
  std::vector<std::string> names;
  std::vector<std::string> labels;
};

// "physics 2026-11"; on a narrow page "physics 26-11".
std::string row_label(const std::string& name, const std::string& month, Shape shape) {
  const std::string short_month = shape == Shape::wide ? month.substr(0, 7) : month.substr(2, 5);
  return fmt::format("{} {}", charts::short_label(name, charts::label_length(shape) - short_month.size() - 1),
                     short_month);
}

Months months_of(const SiteReport& report) {
  Months months;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const ledger::HistoryRow& row : report.months.rows) {
    add(months.names, row.organization);
    add(months.labels, month_label(row));
  }
  return months;
}

}  // namespace

Expected<charts::Figure> standings_figure(const SiteReport& report) {
  const std::vector<StandingsThen> instants = standings_of(report);
  if (instants.size() < 2) return note_alone("The ledger knows nothing of this time.");
  const std::vector<std::string> names = organizations_of(report);
  std::vector<double> distances;
  for (const std::string& name : names) {
    const auto last = instants.back().standing.find(name);
    distances.push_back(last == instants.back().standing.end() ? 0 : std::fabs(last->second));
  }
  std::vector<charts::TimeLine> lines;
  for (const std::size_t i : largest_of(distances, charts::k_most_lines)) lines.push_back(line_of(names[i], instants));
  const charts::TimeAxes axes{.y = report.statement.of.in.word() + ", on average this period",
                              .since = {instants.front().at},
                              .until = {instants.back().at}};
  SHAPLEY_TRY_ASSIGN(charts::Figure figure,
                     charts::figure("Standings over time", [&](const std::filesystem::path& file, Shape shape) {
                       return charts::plot_over_time(file, axes, lines, shape);
                     }));
  if (names.size() > lines.size()) {
    figure.notes.push_back(
        fmt::format("The chart shows the {} organizations that stand farthest from zero at the end, the table all {}.",
                    lines.size(), names.size()));
  }
  return figure;
}

Expected<charts::Figure> lending_figure(const SiteReport& report) {
  const Lending lending = lending_of(report);
  const std::size_t n = lending.names.size();
  std::vector<double> busy(n, 0);
  double lent = 0;
  for (std::size_t owner = 0; owner < n; ++owner) {
    for (std::size_t user = 0; user < n; ++user) {
      if (owner == user || lending.core_hours[owner][user] <= 0) continue;
      busy[owner] += lending.core_hours[owner][user];
      busy[user] += lending.core_hours[owner][user];
      lent += lending.core_hours[owner][user];
    }
  }
  if (lent <= 0) return note_alone("No organization's jobs ran on another's processors in this time.");
  const auto draw = [&](const std::filesystem::path& file, Shape shape) {
    charts::Matrix matrix{.row_axis = "lent by the owner",
                          .column_axis = "to jobs of",
                          .unit = report.statement.of.in.word(),
                          .diagonal = "its own jobs",
                          .names = {},
                          .cells = {}};
    const auto shown = largest_of(busy, charts::most_cells(shape));
    for (const std::size_t owner : shown) {
      matrix.names.push_back(lending.names[owner]);
      std::vector<double>& row = matrix.cells.emplace_back();
      for (const std::size_t user : shown) row.push_back(std::max(0.0, lending.core_hours[owner][user]));
    }
    return charts::plot_matrix(file, matrix, shape);
  };
  SHAPLEY_TRY_ASSIGN(charts::Figure figure, charts::figure("Lending between organizations", draw));
  if (n > charts::most_cells(Shape::narrow)) {
    figure.notes.push_back(fmt::format(
        "The chart shows those who lent and borrowed the most, as many as can be read; the table all {}.", n));
  }
  return figure;
}

Expected<charts::Figure> waiting_figure(const SiteReport& report) {
  std::vector<charts::BarRow> rows;
  for (const ledger::AccountRow& row : report.statement.organizations) {
    const double waited = row.waited.core_hours();
    if (waited > 0) rows.push_back({.label = row.name, .values = {waited}});
  }
  if (rows.empty()) return note_alone("No job that could have started waited in this time.");
  std::ranges::stable_sort(rows, std::greater{}, [](const charts::BarRow& row) { return row.values.front(); });
  const std::size_t all = rows.size();
  const auto draw = [&](const std::filesystem::path& file, Shape shape) {
    const std::vector<charts::BarRow> shown(
        rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(all, charts::most_rows(shape))));
    return charts::plot_rows(file, report.statement.of.in.word() + " waited for", {"waited"}, shown, shape);
  };
  SHAPLEY_TRY_ASSIGN(charts::Figure figure, charts::figure("Waiting by organization", draw));
  if (all > charts::most_rows(Shape::narrow))
    figure.notes.push_back("The chart shows those who waited the most, as many as can be read; the table all.");
  return figure;
}

Expected<charts::Figure> months_figure(const SiteReport& report) {
  const Months months = months_of(report);
  if (months.labels.empty()) return note_alone("The ledger knows nothing of this time.");
  std::vector<double> amounts(months.names.size(), 0);
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> cells;
  for (const ledger::HistoryRow& row : report.months.rows) {
    const std::string& name = row.organization;
    const std::pair given_got{row.given_core_hours, row.got_core_hours};
    cells[{name, month_label(row)}] = given_got;
    amounts[static_cast<std::size_t>(std::ranges::find(months.names, name) - months.names.begin())] +=
        std::fabs(given_got.first) + given_got.second;
  }
  const std::size_t shown_months = std::min(months.labels.size(), k_most_months);
  const std::vector<std::string> labels(months.labels.end() - static_cast<std::ptrdiff_t>(shown_months),
                                        months.labels.end());
  std::size_t shown_names = 0;
  const auto draw = [&](const std::filesystem::path& file, Shape shape) {
    const auto shown = largest_of(amounts, std::max<std::size_t>(1, charts::most_rows(shape) / shown_months));
    if (shape == Shape::wide) shown_names = shown.size();
    std::vector<charts::BarRow> rows;
    for (const std::size_t i : shown) {
      for (const std::string& label : labels) {
        const auto cell = cells.find({months.names[i], label});
        const auto [given, got] = cell == cells.end() ? std::pair{0.0, 0.0} : cell->second;
        rows.push_back({.label = shown_months == 1 ? months.names[i] : row_label(months.names[i], label, shape),
                        .values = {given, got}});
      }
    }
    return charts::plot_rows(file, report.statement.of.in.word(), {"given, by " + report.months.of.contribution, "got"},
                             rows, shape);
  };
  SHAPLEY_TRY_ASSIGN(charts::Figure figure, charts::figure("Given and got by month", draw));
  if (shown_names < months.names.size() || shown_months < months.labels.size()) {
    figure.notes.push_back(fmt::format(
        "The chart shows the organizations that gave and got the most{}, as many as can be read; the table all.",
        shown_months < months.labels.size() ? ", in the last 12 months" : ""));
  }
  return figure;
}

}  // namespace shapley::ctl
