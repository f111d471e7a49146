#include "ctl/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "charts/html.hpp"
#include "charts/inline_svg.hpp"
#include "charts/page_plot.hpp"
#include "ctl/report/sheets.hpp"

namespace shapley::ctl {

namespace {

using charts::Shape;
using nlohmann::json;

// A chart of months that can be read has no more of them.
constexpr std::size_t k_most_months = 12;

using DrawShape = std::function<Expected<void>(const std::filesystem::path& file, Shape shape)>;

Expected<std::string> both_shapes(const std::string& label, const DrawShape& draw) {
  std::string drawn[2];
  for (const Shape shape : {Shape::wide, Shape::narrow}) {
    SHAPLEY_TRY_ASSIGN(drawn[shape == Shape::wide ? 0 : 1],
                       charts::inline_svg([&](const std::filesystem::path& file) { return draw(file, shape); }, label));
  }
  return charts::figure_html(drawn[0], drawn[1]);
}

std::string note(const std::string& text) {
  return "<p class=\"soft\">" + charts::html(text) + "</p>\n";
}

// The `most` with the largest amounts, in their own order.
std::vector<std::size_t> largest_of(const std::vector<double>& amounts, std::size_t most) {
  std::vector<std::size_t> chosen(amounts.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  std::ranges::stable_sort(chosen, std::greater{}, [&](std::size_t i) { return amounts[i]; });
  if (chosen.size() > most) chosen.resize(most);
  std::ranges::sort(chosen);
  return chosen;
}

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

// "physics 2026-11"; where there is little room "physics 26-11".
std::string row_label(const std::string& name, const std::string& month, Shape shape) {
  const std::string short_month = shape == Shape::wide ? month.substr(0, 7) : month.substr(2, 5);
  return charts::short_label(name, charts::label_length(shape) - short_month.size() - 1) + ' ' + short_month;
}

Months months_of(const SiteReport& report) {
  Months months;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const json& row : report.months["rows"]) {
    add(months.names, row["organization"].get<std::string>());
    add(months.labels, month_label(row));
  }
  return months;
}

}  // namespace

Expected<std::string> standings_figure(const SiteReport& report) {
  const std::vector<StandingsThen> instants = standings_of(report);
  if (instants.size() < 2) return note("The ledger knows nothing of this time.");
  const std::vector<std::string> names = organizations_of(report);
  std::vector<double> distances;
  for (const std::string& name : names) {
    const auto last = instants.back().standing.find(name);
    distances.push_back(last == instants.back().standing.end() ? 0 : std::fabs(last->second));
  }
  std::vector<charts::TimeLine> lines;
  for (const std::size_t i : largest_of(distances, charts::k_most_lines)) lines.push_back(line_of(names[i], instants));
  const charts::TimeAxes axes{
      .y = "core-hours, on average this period", .since = {instants.front().at}, .until = {instants.back().at}};
  SHAPLEY_TRY_ASSIGN(std::string figure,
                     both_shapes("Standings over time", [&](const std::filesystem::path& file, Shape shape) {
                       return charts::plot_over_time(file, axes, lines, shape);
                     }));
  if (names.size() > lines.size()) {
    figure += note("The chart shows the " + std::to_string(lines.size()) +
                   " organizations that stand farthest from zero at the end, the table all " +
                   std::to_string(names.size()) + ".");
  }
  return figure;
}

Expected<std::string> lending_figure(const SiteReport& report) {
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
  if (lent <= 0) return note("Nobody's jobs ran on another's processors in this time.");
  const auto draw = [&](const std::filesystem::path& file, Shape shape) {
    charts::Matrix matrix{.row_axis = "lent by the owner",
                          .column_axis = "to jobs of",
                          .unit = "core-hours",
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
  SHAPLEY_TRY_ASSIGN(std::string figure, both_shapes("Who lent to whom", draw));
  if (n > charts::most_cells(Shape::narrow)) {
    figure += note("The chart shows those who lent and borrowed the most, as many as can be read; the table all " +
                   std::to_string(n) + ".");
  }
  return figure;
}

Expected<std::string> waiting_figure(const SiteReport& report) {
  std::vector<charts::BarRow> rows;
  for (const json& row : report.statement["organizations"]) {
    const double waited = row["waited"]["core_hours"].get<double>();
    if (waited > 0) rows.push_back({.label = row["name"].get<std::string>(), .values = {waited}});
  }
  if (rows.empty()) return note("No job that could have started waited in this time.");
  std::ranges::stable_sort(rows, std::greater{}, [](const charts::BarRow& row) { return row.values.front(); });
  const std::size_t all = rows.size();
  const auto draw = [&](const std::filesystem::path& file, Shape shape) {
    const std::vector<charts::BarRow> shown(
        rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(all, charts::most_rows(shape))));
    return charts::plot_rows(file, "core-hours waited for", {"waited"}, shown, shape);
  };
  SHAPLEY_TRY_ASSIGN(std::string figure, both_shapes("Waiting by organization", draw));
  if (all > charts::most_rows(Shape::narrow))
    figure += note("The chart shows those who waited the most, as many as can be read; the table all.");
  return figure;
}

Expected<std::string> months_figure(const SiteReport& report) {
  const Months months = months_of(report);
  if (months.labels.empty()) return note("The ledger knows nothing of this time.");
  std::vector<double> amounts(months.names.size(), 0);
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> cells;
  for (const json& row : report.months["rows"]) {
    const std::string name = row["organization"].get<std::string>();
    const std::pair given_got{row["given_core_hours"].get<double>(), row["got_core_hours"].get<double>()};
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
    return charts::plot_rows(file, "core-hours",
                             {"given, by " + report.months["contribution"].get<std::string>(), "got"}, rows, shape);
  };
  SHAPLEY_TRY_ASSIGN(std::string figure, both_shapes("Given and got by month", draw));
  if (shown_names < months.names.size() || shown_months < months.labels.size()) {
    figure += note("The chart shows the organizations that gave and got the most" +
                   std::string(shown_months < months.labels.size() ? ", in the last 12 months" : "") +
                   ", as many as can be read; the table all.");
  }
  return figure;
}

}  // namespace shapley::ctl
