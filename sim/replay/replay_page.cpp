#include "sim/replay/replay_page.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "charts/html.hpp"
#include "charts/inline_svg.hpp"
#include "charts/page_plot.hpp"
#include "sim/replay/replay_report.hpp"

namespace shapley::sim {

namespace {

using charts::html;

// The chart has bars of so many organizations, the table has all of them.
constexpr std::size_t k_charted = 12;

// One number of every organization under every policy.
struct Measure {
  const char* title;
  const char* unit;
  const char* explanation;
  double (*of)(const OrganizationOutcome&);
  int digits;
};
constexpr Measure k_measures[] = {
    {"Mean wait", "hours", "From when a job could have started until it did.",
     [](const OrganizationOutcome& o) { return o.mean_wait / 3600; }, 2},
    {"Mean bounded slowdown", "times its run time",
     "(wait + run) / run, runs of less than 10 seconds counted as 10; 1 is best.",
     [](const OrganizationOutcome& o) { return o.mean_bounded_slowdown; }, 1},
};

std::vector<std::size_t> with_jobs(const SiteHistory& history, const Replay& replay) {
  std::vector<std::size_t> shown;
  for (std::size_t u = 0; u < history.organizations.size(); ++u) {
    if (replay.outcomes.front().organizations[u].jobs > 0) shown.push_back(u);
  }
  return shown;
}

// Those with the most jobs.
std::vector<std::size_t> charted(const SiteHistory& history, const Replay& replay) {
  std::vector<std::size_t> shown = with_jobs(history, replay);
  const auto& organizations = replay.outcomes.front().organizations;
  std::ranges::stable_sort(shown, std::greater{}, [&](std::size_t u) { return organizations[u].jobs; });
  if (shown.size() > k_charted) shown.resize(k_charted);
  std::ranges::sort(shown);
  return shown;
}

// The chart as a figure of the page; an error where there is no gnuplot.
Expected<std::string> chart(const SiteHistory& history, const Replay& replay, const Measure& measure) {
  std::vector<charts::BarRow> rows;
  for (const std::size_t u : charted(history, replay)) {
    charts::BarRow row{history.organizations[u], {}};
    for (const ReplayOutcome& o : replay.outcomes) row.values.push_back(measure.of(o.organizations[u]));
    rows.push_back(std::move(row));
  }
  std::vector<std::string> names;
  for (const ReplayOutcome& o : replay.outcomes) names.push_back(o.policy);
  const auto drawn = [&](charts::Shape shape) {
    return charts::inline_svg(
        [&](const std::filesystem::path& file) { return charts::plot_rows(file, measure.unit, names, rows, shape); },
        measure.title);
  };
  SHAPLEY_TRY_ASSIGN(const std::string wide, drawn(charts::Shape::wide));
  SHAPLEY_TRY_ASSIGN(const std::string narrow, drawn(charts::Shape::narrow));
  return charts::figure_html(wide, narrow);
}

void write_measure(const SiteHistory& history, const Replay& replay, const Measure& measure, std::ostream& out) {
  out << "<h2>" << measure.title << "</h2>\n<p>" << measure.explanation << "</p>\n";
  if (const auto figure = chart(history, replay, measure)) {
    out << *figure;
    if (with_jobs(history, replay).size() > k_charted)
      out << "<p class=\"soft\">The chart shows the " << k_charted << " organizations with the most jobs.</p>\n";
  } else {
    out << "<p>No chart: " << html(figure.error().what) << "</p>\n";
  }
  const std::string title = std::string(measure.title) + " (" + measure.unit + ")";
  charts::Table table{.name = title, .head = {title}, .rows = {}};
  for (const ReplayOutcome& o : replay.outcomes) table.head.push_back(o.policy);
  const auto row = [&](const std::string& name, const auto& of) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{name});
    for (const ReplayOutcome& o : replay.outcomes) {
      const OrganizationOutcome& outcome = of(o);
      const bool started = outcome.jobs > outcome.never_started;
      cells.push_back(started ? fixed_text(measure.of(outcome), measure.digits) : "-");
    }
  };
  for (const std::size_t u : with_jobs(history, replay)) {
    row(history.organizations[u],
        [u](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.organizations[u]; });
  }
  row("all", [](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.all; });
  out << charts::table_html(table);
}

void write_whole(const Replay& replay, std::ostream& out) {
  charts::Table table{.name = "The cluster as a whole",
                      .head = {"Policy", "Utilization", "All ended after", "Jobs backfilled", "Distance to REF"},
                      .rows = {}};
  for (const ReplayOutcome& o : replay.outcomes) {
    table.rows.push_back({o.policy, fixed_text(100 * o.utilization, 1) + " %",
                          span_text(static_cast<double>(o.makespan.value)),
                          o.policy == k_as_it_ran ? "-" : std::to_string(o.backfilled),
                          o.distance_to_ref ? fixed_text(*o.distance_to_ref, 1) + " s" : "-"});
  }
  out << "<h2>" << table.name << "</h2>\n"
      << charts::table_html(table)
      << "<p>The distance to REF is the mean unjustified delay (or advance) of a unit of work against the schedule "
         "that "
         "is fair by definition; smaller is fairer.</p>\n";
  if (!replay.no_reference.empty()) out << "<p>No distance to REF: " << html(replay.no_reference) << ".</p>\n";
}

void write_owners(const SiteHistory& history, std::ostream& out) {
  charts::Table table{.name = "Who owned how many processors", .head = {"From"}, .rows = {}};
  for (const std::string& name : history.organizations) table.head.push_back(name);
  for (const scheduling::Endowment& e : history.instance.endowments) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells.push_back(format_instant(history.begin + Duration{e.at.value}));
    for (const std::uint32_t m : e.processors) cells.push_back(std::to_string(m));
  }
  out << "<h2>" << table.name << "</h2>\n" << charts::table_html(table);
}

}  // namespace

Expected<void> write_replay_page(const std::filesystem::path& file, const SiteHistory& history, const Replay& replay) {
  std::ostringstream out;
  out << charts::page_begin("Replay", "The same jobs under other policies") << "<p>"
      << counted(history.instance.jobs.size(), "job") << " from " << format_instant(history.begin) << " to "
      << format_instant(history.begin + history.length)
      << ", rigid, with EASY backfill; the queue in each policy's order. \"As it ran\" is what Slurm did.</p>\n";
  for (const Measure& measure : k_measures) write_measure(history, replay, measure, out);
  write_whole(replay, out);
  write_owners(history, out);
  if (!history.notes.empty()) {
    out << "<h2>Notes</h2>\n<ul>\n";
    for (const std::string& note : history.notes) out << "<li>" << html(note) << "</li>\n";
    out << "</ul>\n";
  }
  out << charts::page_end();
  std::ofstream page(file, std::ios::binary | std::ios::trunc);
  page << out.str();
  page.close();
  if (!page) return fail(Errc::io, "html: " + file.string() + " cannot be written; is there room, and may you?");
  return {};
}

}  // namespace shapley::sim
