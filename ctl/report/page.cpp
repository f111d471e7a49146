#include "ctl/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "charts/html.hpp"
#include "charts/plot.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/worth.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

using charts::html;

std::string intro(const SiteReport& report) {
  const ledger::IntervalHeading& of = report.statement.of;
  const std::string time = of.since.utc() + " to " + of.until.utc() + "; months and days are those of UTC.";
  std::string text = paragraph(report.cluster.empty()      ? "From " + time
                               : report.consortium.empty() ? "Cluster " + report.cluster + ", from " + time
                                                           : "Cluster " + report.cluster + " of the consortium " +
                                                                 report.consortium + ", from " + time);
  std::istringstream bounds(recorded_line(of));
  for (std::string line; std::getline(bounds, line);) text += paragraph(line);
  if (!report.exact() || !report.proof.clean())
    text += "<p class=\"bad\">These books are not proven: see <a href=\"#proof\">the books' proof</a>.</p>\n";
  return text;
}

// The chart shows only some organizations, because fifty lines are not readable; the table shows all.
std::string sentences(const SiteReport& report) {
  const ledger::PeriodPart& last = report.statement.periods.back();
  std::string text =
      paragraph("Standings at " + last.end.utc() + ", of the period since " + last.period_begin.utc() + ":");
  if (last.organizations.size() > k_most_lines + 1) return text;
  text += "<ul>\n";
  for (const ledger::PeriodRow& row : last.organizations) text += item(row.name + ' ' + row.sentence);
  return text + "</ul>\n";
}

std::string units(const SiteReport& report) {
  return "<p class=\"soft\">Amounts are core-hours. A standing is what an organization gave less what it got, on "
         "average over its period so far: owed by the others (+) or to them (-). Everything else is a sum over the "
         "time. What was given is credited by the estimator " +
         html(report.statement.of.contribution) + ". What rounding leaves of a sum is (rounding).</p>\n";
}

// Empty if it is unknown for the last period.
std::string worth_html(const SiteReport& report) {
  const ledger::PeriodPart& last = report.statement.periods.back();
  if (!last.worth || last.worth->organizations.empty()) return {};
  std::string text = "<h2>What cooperation was worth</h2>\n<ul>\n";
  std::istringstream sentences(worth_sentences(*last.worth));
  for (std::string line; std::getline(sentences, line);) text += item(line);
  text += "</ul>\n";
  std::istringstream limits(worth_limits(*last.worth));
  for (std::string line; std::getline(limits, line);) text += note(line);
  return text;
}

std::string period_notes(const SiteReport& report) {
  const std::vector<ledger::PeriodPart>& periods = report.statement.periods;
  if (periods.size() < 2) return {};
  std::string text = "Standings start again from zero where a period begins:";
  for (const ledger::PeriodPart& part : periods) {
    if (part.opens_period) text += ' ' + part.period_begin.utc().substr(0, 10);
  }
  return "<p class=\"soft\">" + html(text) + ".</p>\n";
}

// Text of several lines, which are kept.
std::string lines_html(const std::string& text) {
  std::string escaped;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) escaped += html(line) + '\n';
  return escaped;
}

std::string users_html(const SiteReport& report) {
  if (!report.users) return {};
  return "<h2>Users</h2>\n" +
         paragraph(
             "What the jobs of each user of each account got, in core-hours, and that part of what the "
             "organization got. The order of jobs within an organization is Slurm's.") +
         (report.statement.is_private
              ? paragraph("What others used was hidden from the writer of this page (PrivateData): (others).")
              : std::string()) +
         sheet_html(users_sheet(report));
}

std::string corrections_html(const SiteReport& report) {
  const Sheet sheet = corrections_sheet(report);
  const std::string heading = "<h2>Corrections of the books</h2>\n";
  if (sheet.table.rows.empty())
    return heading + paragraph("None was made in that time, nor a later one that changed amounts of it.");
  return heading +
         paragraph(
             "What was corrected in that time, and later what changed amounts of it. The figures above are those that "
             "hold with them.") +
         sheet_html(sheet);
}

std::string signature_text(const Proof& proof) {
  switch (proof.signature) {
    case SignatureState::good:
      return "The signature is good: it was checked with the public key that was named.";
    case SignatureState::bad:
      return "The signature is NOT good: " + proof.signature_fault;
    case SignatureState::unchecked:
      return "The signature was not checked here; shapleyctl report --public-key FILE does.";
  }
  return {};
}

std::string proof_html(const SiteReport& report) {
  const Proof& proof = report.proof;
  std::string text = "<h2 id=\"proof\">The books' proof</h2>\n<h3>Sums</h3>\n";
  text += report.exact()
              ? paragraph(
                    "Exact: got = own + borrowed, given by direct_contr = own + lent, to the unit, "
                    "summed over every part of every run.")
              : "<p class=\"bad\">NOT exact: what was held is not what was booked; run shapleyctl audit.</p>\n";
  text += "<h3>Audit</h3>\n";
  text +=
      proof.audit ? audit_html(*proof.audit) : paragraph("No audit was made for this page: " + proof.no_audit + ".");
  text += "<h3>Signed head</h3>\n";
  if (!proof.head) return text + paragraph("There is no head: " + proof.no_head + ".");
  const std::string state = signature_text(proof);
  return text + paragraph("A member who keeps it can prove later that no event up to it was changed.") + "<pre>" +
         lines_html(proof.head->text()) + "</pre>\n" +
         (proof.signature == SignatureState::bad ? "<p class=\"bad\">" + html(state) + "</p>\n" : paragraph(state));
}

}  // namespace

Expected<std::string> report_page(const SiteReport& report, Charts charts) {
  using Figure = Expected<std::string> (*)(const SiteReport&);
  const auto drawn = [&](Figure figure) -> Expected<std::string> {
    if (charts == Charts::left_out) return std::string();
    return figure(report);
  };
  SHAPLEY_TRY_ASSIGN(const std::string standings, drawn(standings_figure));
  SHAPLEY_TRY_ASSIGN(const std::string lending, drawn(lending_figure));
  SHAPLEY_TRY_ASSIGN(const std::string waiting, drawn(waiting_figure));
  SHAPLEY_TRY_ASSIGN(const std::string months, drawn(months_figure));
  const std::string time =
      report.statement.of.since.utc().substr(0, 10) + " to " + report.statement.of.until.utc().substr(0, 10);
  return charts::page_begin(report.heading + ", " + time, report.heading) + intro(report) + sentences(report) +
         units(report) + worth_html(report) + "<h2>Every organization</h2>\n" + sheet_html(overview_sheet(report)) +
         "<h2>Standings over time</h2>\n" +
         "<p>What each organization gave less what it got, in core-hours, on average over the period so far: above 0 "
         "it is owed by the others, below 0 it owes them.</p>\n" +
         period_notes(report) + charts::beside_html(standings, sheet_html(standings_sheet(report))) +
         "<h2>Lending</h2>\n<p>Core-hours that jobs of one organization ran on processors of another.</p>\n" +
         charts::beside_html(lending,
                             "<p class=\"soft\">In the table a row is an owner, a column the organization whose jobs "
                             "ran there; where both are one, its own use. An empty cell: nothing.</p>\n" +
                                 sheet_html(lending_sheet(report))) +
         "<h2>Waiting by organization</h2>\n" +
         "<p>What its jobs that could have started asked for, times how long they waited, in core-hours.</p>\n" +
         charts::beside_html(waiting, sheet_html(waiting_sheet(report))) + "<h2>Given and got by month</h2>\n" +
         "<p>Core-hours of each month (UTC): credited for what an organization offered, and run by its jobs.</p>\n" +
         charts::beside_html(months, sheet_html(months_sheet(report))) + users_html(report) + corrections_html(report) +
         proof_html(report) + charts::page_end();
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
  return charts::short_label(name, charts::label_length(shape) - short_month.size() - 1) + ' ' + short_month;
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
  if (lent <= 0) return note("No organization's jobs ran on another's processors in this time.");
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
  SHAPLEY_TRY_ASSIGN(std::string figure, both_shapes("Lending between organizations", draw));
  if (n > charts::most_cells(Shape::narrow)) {
    figure += note("The chart shows those who lent and borrowed the most, as many as can be read; the table all " +
                   std::to_string(n) + ".");
  }
  return figure;
}

Expected<std::string> waiting_figure(const SiteReport& report) {
  std::vector<charts::BarRow> rows;
  for (const ledger::AccountRow& row : report.statement.organizations) {
    const double waited = row.waited.core_hours();
    if (waited > 0) rows.push_back({.label = row.name, .values = {waited}});
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
    return charts::plot_rows(file, "core-hours", {"given, by " + report.months.of.contribution, "got"}, rows, shape);
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
