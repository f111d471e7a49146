#include "sim/experiments/real_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <ostream>

#include "charts/plot.hpp"
#include "sim/json.hpp"
#include "sim/real_jobs.hpp"
#include "sim/results.hpp"

namespace shapley::sim {

namespace {

struct MeasuredRealCase {
  std::string name, about;
  std::string jobs;  // their digest
  std::size_t organizations = 0;
  Duration length;
  Units<RealWindow> windows;
};
constexpr auto description_of(std::type_identity<MeasuredRealCase>) {
  using C = MeasuredRealCase;
  return describe(member("case", &C::name), member("about", &C::about), member("jobs", &C::jobs),
                  member("organizations", &C::organizations), member("length", &C::length),
                  member("windows", &C::windows));
}
struct MeasuredRealJobs {
  std::vector<std::string> rankings;
  std::vector<MeasuredRealCase> cases;
};
constexpr auto description_of(std::type_identity<MeasuredRealJobs>) {
  return describe(member("rankings", &MeasuredRealJobs::rankings), member("cases", &MeasuredRealJobs::cases));
}

double phi_distance(const std::vector<scheduling::Rational>& a, const std::vector<scheduling::Rational>& b) {
  double sum = 0;
  for (std::size_t u = 0; u < a.size(); ++u) {
    const auto value = [](const scheduling::Rational& r) {
      return static_cast<double>(r.numerator) / static_cast<double>(r.denominator);
    };
    sum += std::abs(value(a[u]) - value(b[u]));
  }
  return sum;
}
double psi_distance(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  double sum = 0;
  for (std::size_t u = 0; u < a.size(); ++u) sum += std::abs(static_cast<double>(a[u] - b[u]));
  return sum;
}

Expected<RealWindow> measure_window(const RealCase& one, const std::vector<std::string>& rankings, std::size_t number) {
  SHAPLEY_TRY_ASSIGN(const DrawnWindow drawn, draw_window(one.trace, one.settings, number));
  SHAPLEY_TRY_ASSIGN(const scheduling::EasyInstance instance, whole_jobs_of(one.trace, drawn.window, one.kinds));
  SHAPLEY_TRY_ASSIGN(const RealJobs real, estimate_all(instance, drawn.policy_seed));
  const double work = static_cast<double>(std::max<std::int64_t>(real.work, 1));
  RealWindow window{.begin = drawn.begin.value,
                    .error = {},
                    .alone = {alone_of(real.exact)},
                    .due = {},
                    .excess = {},
                    .to_exact = {},
                    .to_alike = {}};
  for (const Estimate& estimate : real.estimates) {
    window.error.push_back(phi_distance(estimate.phi, real.exact.phi) / work);
    if (!estimate.values.empty()) window.alone.push_back(alone_of(estimate));
  }
  std::map<std::string, std::vector<std::int64_t>> exact;
  SHAPLEY_TRY_ASSIGN(const auto fair, psi_ranked_by("exact", instance, {.seed = drawn.policy_seed}));
  for (const std::string& ranking : rankings) {
    SHAPLEY_TRY_ASSIGN(const auto psi, psi_ranked_by(ranking, instance, {.seed = drawn.policy_seed}));
    window.due.push_back(distance_to_due(psi, real.exact.phi, work));
    window.excess.push_back(window.due.back() - distance_to_due(fair, real.exact.phi, work));
    window.to_exact.push_back(psi_distance(psi, fair) / work);
    SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(ranking, {}));
    std::vector<std::int64_t>& alike = exact[policy_text("exact", named.rule, named.once)];
    if (alike.empty()) {
      SHAPLEY_TRY_ASSIGN(
          alike, psi_ranked_by(policy_text("exact", named.rule, named.once), instance, {.seed = drawn.policy_seed}));
    }
    window.to_alike.push_back(psi_distance(psi, alike) / work);
  }
  return window;
}

Expected<MeasuredRealJobs> measure_real_jobs(const ExperimentArguments& arguments) {
  MeasuredRealJobs measured{arguments.policies, {}};
  if (measured.rankings.empty())
    measured.rankings = {"fcfs",         "fair_share", "fair_tree",       "direct_contr",
                         "shapley_rate", "hindsight",  "hindsight_whole", "exact"};
  SHAPLEY_TRY_ASSIGN(const std::vector<RealCase> cases, real_cases(arguments));
  for (const RealCase& one : cases) {
    MeasuredRealCase into{one.name, one.about, digest_of(one.trace), one.settings.organizations, one.settings.length,
                          {}};
    SHAPLEY_TRY_ASSIGN(into.windows,
                       run_units<RealWindow>("windows of " + one.name, one.settings.windows, arguments,
                                             [&](std::size_t i) { return measure_window(one, measured.rankings, i); }));
    measured.cases.push_back(std::move(into));
    if (interrupted()) break;
  }
  return measured;
}

// The mean of one measure over the windows, by estimator or ranking.
struct RealRow {
  std::string name;
  Summary summary;
};
constexpr auto description_of(std::type_identity<RealRow>) {
  return describe(member("name", &RealRow::name), flattened(&RealRow::summary));
}
struct RealTable {
  std::string name, about;
  std::size_t organizations = 0;
  std::size_t windows = 0;
  Duration length;
  std::vector<RealRow> errors;
  ByName<double> alone;  // v / exact v of organizations alone
  std::vector<RealRow> due, excess, to_exact, to_alike;
};
constexpr auto description_of(std::type_identity<RealTable>) {
  using T = RealTable;
  return describe(member("case", &T::name), member("about", &T::about), member("organizations", &T::organizations),
                  member("windows", &T::windows), member("length", &T::length), member("phi_error", &T::errors),
                  member("alone", &T::alone), member("to_due", &T::due), member("to_due_less_exact", &T::excess),
                  member("to_exact", &T::to_exact), member("to_exact_by_its_rule", &T::to_alike));
}
struct RealReport {
  std::string experiment;
  std::vector<RealTable> cases;
};
constexpr auto description_of(std::type_identity<RealReport>) {
  return describe(member("experiment", &RealReport::experiment), member("cases", &RealReport::cases));
}

Expected<std::vector<RealRow>> real_rows(const std::vector<std::string>& names, const std::vector<RealWindow>& windows,
                                         const Duration& length, std::vector<double> RealWindow::*measure) {
  std::vector<std::int64_t> clusters;
  for (const RealWindow& window : windows) clusters.push_back(window.begin / std::max<std::int64_t>(length.value, 1));
  std::vector<RealRow> rows;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<double> values;
    for (const RealWindow& window : windows) {
      SHAPLEY_TRY(expect_units((window.*measure).size(), names.size()));
      values.push_back((window.*measure)[i]);
    }
    rows.push_back({names[i], summarize(values, clusters)});
  }
  return rows;
}

Expected<RealTable> real_table(const MeasuredRealCase& measured, const std::vector<std::string>& rankings) {
  const std::vector<RealWindow> windows = finished_units(measured.windows);
  RealTable table{.name = measured.name,
                  .about = measured.about,
                  .organizations = measured.organizations,
                  .windows = windows.size(),
                  .length = measured.length,
                  .errors = {},
                  .alone = {},
                  .due = {},
                  .excess = {},
                  .to_exact = {},
                  .to_alike = {}};
  if (windows.empty()) return table;
  SHAPLEY_TRY_ASSIGN(table.errors, real_rows(estimate_names(), windows, measured.length, &RealWindow::error));
  SHAPLEY_TRY_ASSIGN(table.due, real_rows(rankings, windows, measured.length, &RealWindow::due));
  SHAPLEY_TRY_ASSIGN(table.excess, real_rows(rankings, windows, measured.length, &RealWindow::excess));
  SHAPLEY_TRY_ASSIGN(table.to_exact, real_rows(rankings, windows, measured.length, &RealWindow::to_exact));
  SHAPLEY_TRY_ASSIGN(table.to_alike, real_rows(rankings, windows, measured.length, &RealWindow::to_alike));
  const std::vector<std::string> with_values{"hindsight", "hindsight_whole"};
  for (std::size_t i = 0; i < with_values.size(); ++i) {
    double exact = 0;
    double sum = 0;
    for (const RealWindow& window : windows) {
      SHAPLEY_TRY(expect_units(window.alone.size(), with_values.size() + 1));
      exact += window.alone.front();
      sum += window.alone[i + 1];
    }
    table.alone.emplace_back(with_values[i], exact > 0 ? sum / exact : 0);
  }
  return table;
}

std::string mean_and_error(const Summary& summary) {
  const std::string error = summary.standard_error ? fixed(*summary.standard_error, 0) : "-";
  return fixed(summary.mean, 0) + " (" + error + ")";
}

void print_real(const RealTable& table, std::ostream& out) {
  constexpr int k_name = 28;
  constexpr int k_column = 22;
  out << "## " << table.about << ": " << table.windows << " windows of " << table.length.value << " s, "
      << table.organizations << " organizations; seconds a unit of work (standard error)\n\n"
      << std::left << std::setw(k_name) << "ESTIMATOR" << std::setw(k_column) << "PHI - EXACT PHI"
      << std::setw(k_column) << "OF DIRECT_CONTR'S"
      << "V / EXACT V ALONE\n";
  const auto direct = std::ranges::find(table.errors, "direct_contr", &RealRow::name);
  for (const RealRow& row : table.errors) {
    const auto alone = std::ranges::find(table.alone, row.name, [](const auto& one) { return one.first; });
    const double of_direct = direct->summary.mean > 0 ? row.summary.mean / direct->summary.mean : 0;
    out << std::setw(k_name) << row.name << std::setw(k_column) << mean_and_error(row.summary) << std::setw(k_column)
        << fixed(of_direct, 2) << (alone == table.alone.end() ? "-" : fixed(alone->second, 2)) << '\n';
  }
  out << '\n'
      << std::setw(k_name) << "RANKED BY" << std::setw(k_column) << "PSI - EXACT PHI" << std::setw(k_column)
      << "LESS EXACT'S" << std::setw(k_column) << "PSI - EXACT'S PSI"
      << "BY THE SAME RULE\n";
  for (std::size_t i = 0; i < table.due.size(); ++i)
    out << std::setw(k_name) << table.due[i].name << std::setw(k_column) << mean_and_error(table.due[i].summary)
        << std::setw(k_column) << mean_and_error(table.excess[i].summary) << std::setw(k_column)
        << mean_and_error(table.to_exact[i].summary) << mean_and_error(table.to_alike[i].summary) << '\n';
  out << '\n';
}

Expected<void> plot_real(const RealTable& table, const std::filesystem::path& folder) {
  std::vector<charts::PlotPoint> points;
  for (const RealRow& row : table.errors) points.push_back(plot_point(row.name, row.summary));
  for (const RealRow& row : table.due)
    if (row.name != "exact") points.push_back(plot_point("ranked by " + row.name, row.summary));
  return charts::plot_unfairness(folder / ("real-jobs-" + table.name + ".svg"),
                                 table.about + ": distance of phi, and of psi where ranked by it, to the exact phi",
                                 points);
}

Expected<void> report_real_jobs(const MeasuredRealJobs& measured, const ExperimentArguments& arguments,
                                std::ostream& out) {
  RealReport report{arguments.name, {}};
  for (const MeasuredRealCase& one : measured.cases) {
    SHAPLEY_TRY_ASSIGN(RealTable table, real_table(one, measured.rankings));
    if (table.windows == 0) break;
    if (!arguments.json) print_real(table, out);
    if (!arguments.plot.empty()) SHAPLEY_TRY(plot_real(table, arguments.plot));
    report.cases.push_back(std::move(table));
  }
  if (arguments.json) out << text_of(json_of<Json>(report), 1) << '\n';
  return {};
}

}  // namespace

Experiment real_jobs_experiment() {
  return experiment_of<measure_real_jobs, report_real_jobs>();
}

}  // namespace shapley::sim
