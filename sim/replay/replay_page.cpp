#include "sim/replay/replay_page.hpp"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

#include <unistd.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "sim/output/plot.hpp"
#include "sim/replay/replay_report.hpp"

namespace shapley::sim {

namespace {

constexpr const char* k_style =
    ":root{color-scheme:light dark;--text:#1b1b1b;--ground:#fff;--line:#ccc;--head:#f2f2f2}"
    "@media(prefers-color-scheme:dark){:root{--text:#e6e6e6;--ground:#16181b;--line:#444;--head:#24272b}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--ground);max-width:60rem;"
    "margin:0 auto;padding:1rem}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}"
    "th{background:var(--head)}th:first-child,td:first-child{text-align:left}"
    "figure{margin:1rem 0;background:#fff;overflow-x:auto}figure svg{max-width:100%;height:auto}"
    "@media print{body{max-width:none}figure,table{break-inside:avoid}}";

std::string html(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

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

// The chart as an SVG element; an error where there is no gnuplot.
Expected<std::string> chart(const SiteHistory& history, const Replay& replay, const Measure& measure) {
  std::vector<BarGroup> groups;
  for (const std::size_t u : with_jobs(history, replay)) {
    BarGroup group{history.organizations[u], {}};
    for (const ReplayOutcome& o : replay.outcomes) group.values.push_back(measure.of(o.organizations[u]));
    groups.push_back(std::move(group));
  }
  std::vector<std::string> names;
  for (const ReplayOutcome& o : replay.outcomes) names.push_back(o.policy);
  std::string name = (std::filesystem::temp_directory_path() / "shapley-chart.XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return fail(Errc::io, "html: no temporary file in " + name);
  close(descriptor);
  const auto drawn = plot_bars(name, {.title = measure.title, .x = "", .y = measure.unit}, names, groups);
  std::ostringstream text;
  text << std::ifstream(name).rdbuf();
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!drawn) return tl::unexpected<Error>(drawn.error());
  const std::string svg = text.str();
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string::npos) return fail(Errc::io, "html: gnuplot drew no SVG");
  return svg.substr(begin);
}

void write_measure(const SiteHistory& history, const Replay& replay, const Measure& measure, std::ostream& out) {
  out << "<h2>" << measure.title << "</h2>\n<p>" << measure.explanation << "</p>\n";
  if (const auto svg = chart(history, replay, measure)) {
    out << "<figure>" << *svg << "</figure>\n";
  } else {
    out << "<p>No chart: " << html(svg.error().what) << "</p>\n";
  }
  out << "<div class=\"wide\"><table><tr><th>" << measure.title << " (" << measure.unit << ")</th>";
  for (const ReplayOutcome& o : replay.outcomes) out << "<th>" << html(o.policy) << "</th>";
  out << "</tr>\n";
  const auto row = [&](const std::string& name, const auto& of) {
    out << "<tr><td>" << html(name) << "</td>";
    for (const ReplayOutcome& o : replay.outcomes) {
      const OrganizationOutcome& outcome = of(o);
      const bool started = outcome.jobs > outcome.never_started;
      out << "<td>" << (started ? fixed_text(measure.of(outcome), measure.digits) : "-") << "</td>";
    }
    out << "</tr>\n";
  };
  for (const std::size_t u : with_jobs(history, replay)) {
    row(history.organizations[u],
        [u](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.organizations[u]; });
  }
  row("all", [](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.all; });
  out << "</table></div>\n";
}

void write_whole(const Replay& replay, std::ostream& out) {
  out << "<h2>The cluster as a whole</h2>\n<div class=\"wide\"><table><tr><th>Policy</th><th>Utilization</th>"
         "<th>All ended after</th><th>Jobs backfilled</th><th>Distance to REF</th></tr>\n";
  for (const ReplayOutcome& o : replay.outcomes) {
    out << "<tr><td>" << html(o.policy) << "</td><td>" << fixed_text(100 * o.utilization, 1) << " %</td><td>"
        << span_text(static_cast<double>(o.makespan.value)) << "</td><td>"
        << (o.policy == k_as_it_ran ? "-" : std::to_string(o.backfilled)) << "</td><td>"
        << (o.distance_to_ref ? fixed_text(*o.distance_to_ref, 1) + " s" : "-") << "</td></tr>\n";
  }
  out << "</table></div>\n<p>The distance to REF is the mean unjustified delay (or advance) of a unit of work against "
         "the "
         "schedule that is fair by definition; smaller is fairer.</p>\n";
  if (!replay.no_reference.empty()) out << "<p>No distance to REF: " << html(replay.no_reference) << ".</p>\n";
}

void write_owners(const SiteHistory& history, std::ostream& out) {
  out << "<h2>Who owned how many processors</h2>\n<div class=\"wide\"><table><tr><th>From</th>";
  for (const std::string& name : history.organizations) out << "<th>" << html(name) << "</th>";
  out << "</tr>\n";
  for (const scheduling::Endowment& e : history.instance.endowments) {
    out << "<tr><td>" << format_instant(history.begin + Duration{e.at.value}) << "</td>";
    for (const std::uint32_t m : e.processors) out << "<td>" << m << "</td>";
    out << "</tr>\n";
  }
  out << "</table></div>\n";
}

}  // namespace

Expected<void> write_replay_page(const std::filesystem::path& file, const SiteHistory& history, const Replay& replay) {
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Replay</title><style>"
      << k_style << "</style></head><body>\n<h1>The same jobs under other policies</h1>\n<p>"
      << history.instance.jobs.size() << " jobs from " << format_instant(history.begin) << " to "
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
  out << "</body></html>\n";
  std::ofstream page(file, std::ios::binary | std::ios::trunc);
  page << out.str();
  page.close();
  if (!page) return fail(Errc::io, "html: " + file.string() + " cannot be written; is there room, and may you?");
  return {};
}

}  // namespace shapley::sim
