#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "base/description.hpp"
#include "base/text.hpp"
#include "charts/picture.hpp"
#include "charts/plot.hpp"
#include "sim/replay/replay.hpp"
#include "tables/page.hpp"

namespace shapley::sim {

namespace {

// Without any started job there is no mean.
std::string mean_text(const OrganizationOutcome& outcome, double mean, int digits) {
  return outcome.jobs == outcome.never_started ? "-" : fixed_text(mean, digits);
}

void print_row(const std::string& policy, int policy_width, const std::string& name, int name_width,
               const OrganizationOutcome& outcome, std::ostream& out) {
  const bool started = outcome.jobs > outcome.never_started;
  out << std::left << std::setw(policy_width) << policy << std::setw(name_width) << name << std::right << std::setw(8)
      << outcome.jobs << std::setw(11) << (started ? span_text(outcome.mean_wait) : "-") << std::setw(11)
      << (started ? span_text(static_cast<double>(outcome.longest_wait)) : "-") << std::setw(11)
      << mean_text(outcome, outcome.mean_slowdown, 1) << std::setw(11)
      << mean_text(outcome, outcome.mean_bounded_slowdown, 1) << '\n';
}

struct NamedOutcome {
  std::string organization;
  OrganizationOutcome outcome;
};
Json json_value(const NamedOutcome& named) {
  Json json = {{"organization", named.organization}};
  json.update(json_value(named.outcome));
  return json;
}
// The outcome of a policy in JSON.
struct PolicyLine {
  std::string policy;
  double utilization = 0;
  Duration makespan;
  std::uint64_t backfilled = 0;
  std::optional<double> distance_to_ref;
  OrganizationOutcome all;
  std::vector<NamedOutcome> organizations;
};
constexpr auto description_of(std::type_identity<PolicyLine>) {
  using L = PolicyLine;
  return describe(member("policy", &L::policy), member("utilization", &L::utilization),
                  member("makespan_s", &L::makespan), member("backfilled", &L::backfilled),
                  member("distance_to_ref_s", &L::distance_to_ref), member("all", &L::all),
                  member("organizations", &L::organizations));
}
// The owners' processors from an instant on.
struct OwnedLine {
  Instant from;
  ByName<std::uint32_t> processors;
};
constexpr auto description_of(std::type_identity<OwnedLine>) {
  return describe(member("from", &OwnedLine::from), member("processors", &OwnedLine::processors));
}
struct ReplayReport {
  Instant begin;
  Duration length;
  std::size_t jobs = 0;
  std::vector<OwnedLine> owned;
  std::vector<PolicyLine> outcomes;
  std::optional<std::string> no_reference;
  std::vector<std::string> notes;
};
constexpr auto description_of(std::type_identity<ReplayReport>) {
  using R = ReplayReport;
  return describe(member("begin", &R::begin), member("length_s", &R::length), member("jobs", &R::jobs),
                  member("owned", &R::owned), member("outcomes", &R::outcomes),
                  member("no_reference", &R::no_reference), member("notes", &R::notes));
}

PolicyLine line_of(const SiteHistory& history, const ReplayOutcome& outcome) {
  PolicyLine line{outcome.policy,
                  outcome.utilization,
                  outcome.makespan,
                  outcome.backfilled,
                  outcome.distance_to_ref,
                  outcome.all,
                  {}};
  for (std::size_t u = 0; u < history.organizations.size(); ++u)
    line.organizations.push_back({history.organizations[u], outcome.organizations[u]});
  return line;
}

// The chart has bars for this many organizations; the table has all of them.
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

// The organizations with the most jobs.
std::vector<std::size_t> charted(const SiteHistory& history, const Replay& replay) {
  std::vector<std::size_t> shown = with_jobs(history, replay);
  const auto& organizations = replay.outcomes.front().organizations;
  std::ranges::stable_sort(shown, std::greater{}, [&](std::size_t u) { return organizations[u].jobs; });
  if (shown.size() > k_charted) shown.resize(k_charted);
  std::ranges::sort(shown);
  return shown;
}

// The chart as a figure of the page; an error where there is no gnuplot.
Expected<charts::Figure> chart(const SiteHistory& history, const Replay& replay, const Measure& measure) {
  std::vector<charts::BarRow> rows;
  for (const std::size_t u : charted(history, replay)) {
    charts::BarRow row{history.organizations[u], {}};
    for (const ReplayOutcome& o : replay.outcomes) row.values.push_back(measure.of(o.organizations[u]));
    rows.push_back(std::move(row));
  }
  std::vector<std::string> names;
  for (const ReplayOutcome& o : replay.outcomes) names.push_back(o.policy);
  return charts::figure(measure.title, [&](const std::filesystem::path& file, charts::Shape shape) {
    return charts::plot_rows(file, measure.unit, names, rows, shape);
  });
}

nlohmann::json measure_values(const SiteHistory& history, const Replay& replay, const Measure& measure) {
  auto figure = chart(history, replay, measure);
  if (!figure) {
    figure = charts::Figure{.notes = {"No chart: " + figure.error().what}};
  } else if (with_jobs(history, replay).size() > k_charted) {
    figure->notes.push_back("The chart shows the " + std::to_string(k_charted) + " organizations with the most jobs.");
  }
  const std::string title = std::string(measure.title) + " (" + measure.unit + ")";
  tables::Table table{.name = title, .columns = {tables::text_column(title)}};
  for (const ReplayOutcome& o : replay.outcomes) table.columns.push_back(tables::amount_column(o.policy));
  const auto row = [&](const std::string& name, const auto& of) {
    nlohmann::json cells = nlohmann::json::array({name});
    for (const ReplayOutcome& o : replay.outcomes) {
      const OrganizationOutcome& outcome = of(o);
      const bool started = outcome.jobs > outcome.never_started;
      cells.push_back(started ? fixed_text(measure.of(outcome), measure.digits) : "-");
    }
    table.rows.push_back(std::move(cells));
  };
  for (const std::size_t u : with_jobs(history, replay)) {
    row(history.organizations[u],
        [u](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.organizations[u]; });
  }
  row("all", [](const ReplayOutcome& o) -> const OrganizationOutcome& { return o.all; });
  return {{"title", measure.title},
          {"explanation", measure.explanation},
          {"figure", json_of(*figure)},
          {"sheet", sheet_values(table)}};
}

tables::Table whole_table(const Replay& replay) {
  tables::Table table{.name = "The cluster as a whole", .columns = {tables::text_column("Policy")}};
  for (const char* title : {"Utilization", "All ended after", "Jobs backfilled", "Distance to REF"})
    table.columns.push_back(tables::amount_column(title));
  for (const ReplayOutcome& o : replay.outcomes) {
    table.rows.push_back(nlohmann::json::array({o.policy, fixed_text(100 * o.utilization, 1) + " %",
                                                span_text(static_cast<double>(o.makespan.value)),
                                                o.policy == k_as_it_ran ? "-" : std::to_string(o.backfilled),
                                                o.distance_to_ref ? fixed_text(*o.distance_to_ref, 1) + " s" : "-"}));
  }
  return table;
}

tables::Table owners_table(const SiteHistory& history) {
  tables::Table table{.name = "Who owned how many processors", .columns = {tables::text_column("From")}};
  for (const std::string& name : history.organizations) table.columns.push_back(tables::amount_column(name));
  for (const scheduling::Endowment& e : history.instance.endowments) {
    nlohmann::json cells = nlohmann::json::array({format_instant(history.begin + Duration{e.at.value})});
    for (const std::uint32_t m : e.processors) cells.push_back(m);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::string fixed_text(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string span_text(double seconds) {
  if (seconds < 99.5) return fixed_text(seconds, 0) + " s";
  if (seconds < 99.5 * 60) return fixed_text(seconds / 60, 0) + " min";
  if (seconds < 48.0 * 3600) return fixed_text(seconds / 3600, 1) + " h";
  return fixed_text(seconds / 86400, 1) + " d";
}

void print_replay(const SiteHistory& history, const Replay& replay, std::ostream& out) {
  out << counted(history.instance.jobs.size(), "job") << " from " << format_instant(history.begin) << " to "
      << format_instant(history.begin + history.length) << "; EASY backfill, the queue in each policy's order\n";
  for (const scheduling::Endowment& e : history.instance.endowments) {
    out << "processors from " << format_instant(history.begin + Duration{e.at.value}) << ":";
    for (std::size_t u = 0; u < history.organizations.size(); ++u)
      out << (u == 0 ? " " : ", ") << history.organizations[u] << ' ' << e.processors[u];
    out << '\n';
  }
  std::size_t policies = 7, names = 13;
  for (const ReplayOutcome& o : replay.outcomes) policies = std::max(policies, o.policy.size() + 1);
  for (const std::string& name : history.organizations) names = std::max(names, name.size() + 1);
  const int policy_width = static_cast<int>(policies);
  const int name_width = static_cast<int>(names);
  out << '\n'
      << std::left << std::setw(policy_width) << "POLICY" << std::setw(name_width) << "ORGANIZATION" << std::right
      << std::setw(8) << "JOBS" << std::setw(11) << "MEAN WAIT" << std::setw(11) << "LONGEST" << std::setw(11)
      << "SLOWDOWN" << std::setw(11) << "BOUNDED" << '\n';
  for (const ReplayOutcome& o : replay.outcomes) {
    for (std::size_t u = 0; u < history.organizations.size(); ++u) {
      if (o.organizations[u].jobs > 0)
        print_row(o.policy, policy_width, history.organizations[u], name_width, o.organizations[u], out);
    }
    print_row(o.policy, policy_width, "all", name_width, o.all, out);
  }
  out << '\n'
      << std::left << std::setw(policy_width) << "POLICY" << std::right << std::setw(12) << "UTILIZATION"
      << std::setw(11) << "ALL ENDED" << std::setw(12) << "BACKFILLED" << std::setw(17) << "DISTANCE TO REF" << '\n';
  for (const ReplayOutcome& o : replay.outcomes) {
    out << std::left << std::setw(policy_width) << o.policy << std::right << std::setw(12)
        << fixed_text(100 * o.utilization, 1) + " %" << std::setw(11)
        << span_text(static_cast<double>(o.makespan.value)) << std::setw(12)
        << (o.policy == k_as_it_ran ? "-" : std::to_string(o.backfilled)) << std::setw(17)
        << (o.distance_to_ref ? fixed_text(*o.distance_to_ref, 1) + " s" : "-") << '\n';
  }
  if (!replay.no_reference.empty()) out << "\nNo distance to REF: " << replay.no_reference << '\n';
  for (const std::string& note : history.notes) out << "note: " << note << '\n';
}

// Without any started job there is no mean.
Json json_value(const OrganizationOutcome& outcome) {
  const bool started = outcome.jobs > outcome.never_started;
  const auto mean = [started](double value) { return started ? Json(value) : Json(nullptr); };
  return {{"jobs", outcome.jobs},
          {"never_started", outcome.never_started},
          {"processor_seconds", outcome.work},
          {"mean_wait_s", mean(outcome.mean_wait)},
          {"longest_wait_s", outcome.longest_wait},
          {"mean_slowdown", mean(outcome.mean_slowdown)},
          {"mean_bounded_slowdown", mean(outcome.mean_bounded_slowdown)},
          {"psi", outcome.psi}};
}

Json replay_json(const SiteHistory& history, const Replay& replay) {
  ReplayReport report{.begin = history.begin,
                      .length = history.length,
                      .jobs = history.instance.jobs.size(),
                      .owned = {},
                      .outcomes = {},
                      .no_reference = {},
                      .notes = history.notes};
  for (const scheduling::Endowment& e : history.instance.endowments) {
    OwnedLine& line = report.owned.emplace_back();
    line.from = history.begin + Duration{e.at.value};
    for (std::size_t u = 0; u < history.organizations.size(); ++u)
      line.processors.emplace_back(history.organizations[u], e.processors[u]);
  }
  for (const ReplayOutcome& o : replay.outcomes) report.outcomes.push_back(line_of(history, o));
  if (!replay.no_reference.empty()) report.no_reference = replay.no_reference;
  return json_of<Json>(report);
}

Expected<void> write_replay_page(const std::filesystem::path& file, const SiteHistory& history, const Replay& replay) {
  nlohmann::json measures = nlohmann::json::array();
  for (const Measure& measure : k_measures) measures.push_back(measure_values(history, replay, measure));
  using nlohmann::json;
  const std::string text = rendered("replay.mustache", replay_templates(),
                                    {{"page", tables::page_values("Replay", "The same jobs under other policies")},
                                     {"jobs", counted(history.instance.jobs.size(), "job")},
                                     {"since", format_instant(history.begin)},
                                     {"until", format_instant(history.begin + history.length)},
                                     {"measures", std::move(measures)},
                                     {"whole", table_values(whole_table(replay))},
                                     {"no_reference", replay.no_reference.empty() ? json() : json(replay.no_reference)},
                                     {"owners", table_values(owners_table(history))},
                                     {"notes", history.notes.empty() ? json() : json{{"each", history.notes}}}});
  std::ofstream page(file, std::ios::binary | std::ios::trunc);
  page << text;
  page.close();
  if (!page) return fail(Errc::io, "html: " + file.string() + " cannot be written; is there room, and may you?");
  return {};
}

}  // namespace shapley::sim
