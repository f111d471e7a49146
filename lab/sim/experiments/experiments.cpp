#include "sim/experiments/experiments.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "charts/plot.hpp"
#include "scheduling/simulate.hpp"
#include "sim/commands/commands.hpp"
#include "sim/json.hpp"
#include "sim/registry.hpp"
#include "sim/results.hpp"
#include "sim/system.hpp"

namespace shapley::sim {

namespace {

using Policies = std::vector<std::string>;

const Policies k_table_policies{"round_robin",
                                "rand",
                                "direct_contr",
                                "fair_share",
                                "ut_fair_share",
                                "curr_fair_share",
                                "shapley_rate",
                                "shapley_rate_sampled",
                                "shapley_rate_loo",
                                "coalitions_loo",
                                "coalitions_pair",
                                "coalitions_all",
                                "karma",
                                "fair_tree",
                                "fcfs"};
const Policies k_figure_policies{
    "round_robin",     "rand",         "direct_contr",     "fair_share",     "ut_fair_share",
    "curr_fair_share", "shapley_rate", "shapley_rate_loo", "coalitions_loo", "coalitions_pair"};

std::string baseline_of(const Policies& names) {
  return std::find(names.begin(), names.end(), "direct_contr") != names.end() ? "direct_contr" : names.front();
}

std::string paper_text(int table, const std::string& trace, const std::string& policy) {
  const auto number = paper_number(table, trace, policy);
  return number ? short_number(number->mean) + " +- " + short_number(number->deviation) : "";
}

void print_paper_table(int table, const ComparedWindows& compared, const ComparedOutcome& outcome, std::ostream& out) {
  out << "## " << compared.trace << ": ";
  print_table(outcome.settings, outcome.results, outcome.summaries, baseline_of(outcome.settings.policies), out);
  bool any = false;
  for (const PolicySummary& summary : outcome.summaries) {
    const std::string paper = paper_text(table, compared.trace, summary.policy);
    if (paper.empty()) continue;
    if (!any) out << "\nBeside the papers' Table " << table << " (average +- standard deviation):\n";
    any = true;
    out << std::left << std::setw(22) << summary.policy << std::setw(24)
        << short_number(summary.unfairness.mean) + " +- " + short_number(summary.unfairness.deviation) << paper << '\n';
  }
  if (compared.is_generated)
    out << "\nThese jobs are generated: no trace was given (--traces DIR or SHAPLEY_TRACES). The papers' numbers "
           "are of real traces.\n";
  out << '\n';
}

std::filesystem::path plot_file(const ExperimentArguments& arguments, const std::string& trace) {
  return arguments.plot / (arguments.name + "-" + trace + ".svg");
}

Expected<void> plot_table(const ExperimentArguments& arguments, const std::string& trace,
                          const ComparedOutcome& outcome) {
  std::vector<charts::PlotPoint> points;
  for (const PolicySummary& summary : outcome.summaries)
    points.push_back(plot_point(summary.policy, summary.unfairness));
  return charts::plot_unfairness(plot_file(arguments, trace),
                                 trace + ", " + counted(outcome.results.size(), "window") + " of " +
                                     std::to_string(outcome.settings.length.value) + " s",
                                 points);
}

// An experiment's entries, one for each trace, in JSON.
template <typename Entry>
struct TracesReport {
  std::string experiment;
  std::vector<Entry> traces;
};
template <typename Entry>
constexpr auto description_of(std::type_identity<TracesReport<Entry>>) {
  using R = TracesReport<Entry>;
  return describe(member("experiment", &R::experiment), member("traces", &R::traces));
}

struct TraceComparison {
  std::string trace;
  ComparisonReport comparison;
};
constexpr auto description_of(std::type_identity<TraceComparison>) {
  return describe(member("trace", &TraceComparison::trace), flattened(&TraceComparison::comparison));
}

ComparisonReport report_of(const ComparedOutcome& outcome) {
  return report_of(outcome.settings, outcome.results, outcome.summaries, baseline_of(outcome.settings.policies));
}

// The measurements of the tables, figure10 and utilization: by trace, or by number of organizations.
struct Comparisons {
  std::vector<ComparedWindows> comparisons;
};
constexpr auto description_of(std::type_identity<Comparisons>) {
  return describe(member("comparisons", &Comparisons::comparisons));
}

// The policies on each trace in turn, `length` seconds a window unless the arguments say otherwise.
Expected<Comparisons> compare_on_traces(const ExperimentArguments& arguments, std::int64_t length,
                                        const Policies& policies) {
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
  Comparisons measured;
  for (const ExperimentTrace& source : traces) {
    SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
    ComparisonSettings settings;
    settings.length.value = arguments.length.value_or(length);
    settings.policies = arguments.policies.empty() ? policies : arguments.policies;
    if (!arguments.organizations.empty()) settings.organizations = arguments.organizations.front();
    SHAPLEY_TRY_ASSIGN(ComparedWindows compared, compare_windows(source, trace, settings, arguments));
    measured.comparisons.push_back(std::move(compared));
    if (interrupted()) break;
  }
  return measured;
}

// Prints the report; `report_on` makes and prints each entry.
template <typename Entry, typename ReportOn>
Expected<void> report_traces(const Comparisons& measured, const ExperimentArguments& arguments, std::ostream& out,
                             const ReportOn& report_on) {
  TracesReport<Entry> report{arguments.name, {}};
  for (const ComparedWindows& compared : measured.comparisons) {
    SHAPLEY_TRY_ASSIGN(const ComparedOutcome outcome, outcome_of(compared, baseline_of(compared.policies), arguments));
    if (outcome.results.empty()) break;
    SHAPLEY_TRY_ASSIGN(Entry entry, report_on(compared, outcome));
    report.traces.push_back(std::move(entry));
  }
  if (arguments.json) out << text_of(json_of<Json>(report), 1) << '\n';
  return {};
}

template <int table>
Expected<Comparisons> measure_table(const ExperimentArguments& arguments) {
  return compare_on_traces(arguments, table == 1 ? 50'000 : 500'000, k_table_policies);
}

template <int table>
Expected<void> report_table(const Comparisons& measured, const ExperimentArguments& arguments, std::ostream& out) {
  const auto report_on = [&](const ComparedWindows& compared,
                             const ComparedOutcome& outcome) -> Expected<TraceComparison> {
    if (!arguments.json) print_paper_table(table, compared, outcome, out);
    if (!arguments.plot.empty()) SHAPLEY_TRY(plot_table(arguments, compared.trace, outcome));
    return TraceComparison{compared.trace, report_of(outcome)};
  };
  return report_traces<TraceComparison>(measured, arguments, out, report_on);
}

std::vector<charts::PlotLine> lines_of(const std::vector<ComparedOutcome>& outcomes) {
  std::vector<charts::PlotLine> lines;
  for (std::size_t p = 0; p < outcomes.front().summaries.size(); ++p) {
    charts::PlotLine line{
        .label = outcomes.front().summaries[p].policy, .x = {}, .y = {}, .dashed = p >= 8, .color = p};
    for (const ComparedOutcome& outcome : outcomes) {
      line.x.push_back(static_cast<double>(outcome.settings.organizations));
      line.y.push_back(outcome.summaries[p].unfairness.mean);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_figure(const std::vector<ComparedOutcome>& outcomes, std::ostream& out) {
  out << std::left << std::setw(22) << "MEAN (STD.ERR)";
  for (const ComparedOutcome& outcome : outcomes)
    out << std::setw(20) << "k = " + std::to_string(outcome.settings.organizations);
  out << '\n';
  for (std::size_t p = 0; p < outcomes.front().summaries.size(); ++p) {
    out << std::setw(22) << outcomes.front().summaries[p].policy;
    for (const ComparedOutcome& outcome : outcomes) {
      const Summary& summary = outcome.summaries[p].unfairness;
      out << std::setw(20)
          << short_number(summary.mean) +
                 (summary.standard_error ? " (" + short_number(*summary.standard_error) + ")" : "");
    }
    out << '\n';
  }
}

// The trace of an experiment with one trace: the first that was requested, or LPC-EGEE.
Expected<ExperimentTrace> one_trace(ExperimentArguments arguments) {
  if (arguments.only.empty()) arguments.only = {"LPC-EGEE"};
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
  return traces.front();
}

struct FigureReport {
  std::string experiment, trace;
  std::vector<ComparisonReport> organizations;  // by number of organizations
};
constexpr auto description_of(std::type_identity<FigureReport>) {
  return describe(member("experiment", &FigureReport::experiment), member("trace", &FigureReport::trace),
                  member("organizations", &FigureReport::organizations));
}

Expected<Comparisons> measure_figure(const ExperimentArguments& arguments) {
  SHAPLEY_TRY_ASSIGN(const ExperimentTrace source, one_trace(arguments));
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
  auto sizes = arguments.organizations;
  if (sizes.empty()) sizes = {2, 3, 4, 5, 6, 7, 8, 9, 10};
  Comparisons measured;
  for (const std::size_t size : sizes) {
    if (interrupted()) break;
    ComparisonSettings settings;
    settings.organizations = size;
    settings.length.value = arguments.length.value_or(50'000);
    settings.policies = arguments.policies.empty() ? k_figure_policies : arguments.policies;
    SHAPLEY_TRY_ASSIGN(ComparedWindows compared, compare_windows(source, trace, settings, arguments));
    measured.comparisons.push_back(std::move(compared));
  }
  return measured;
}

Expected<void> report_figure(const Comparisons& measured, const ExperimentArguments& arguments, std::ostream& out) {
  std::vector<ComparedOutcome> outcomes;
  for (const ComparedWindows& compared : measured.comparisons) {
    SHAPLEY_TRY_ASSIGN(ComparedOutcome outcome, outcome_of(compared, baseline_of(compared.policies), arguments));
    if (!outcome.is_whole) break;  // points from different numbers of windows would make a misleading line
    outcomes.push_back(std::move(outcome));
  }
  if (outcomes.empty()) return {};
  const std::string& trace = measured.comparisons.front().trace;
  if (arguments.json) {
    FigureReport report{arguments.name, trace, {}};
    for (const ComparedOutcome& outcome : outcomes) report.organizations.push_back(report_of(outcome));
    out << text_of(json_of<Json>(report), 1) << '\n';
  } else {
    out << "## " << trace << ": mean delta-psi / p_tot by number of organizations\n\n";
    print_figure(outcomes, out);
  }
  if (arguments.plot.empty()) return {};
  return charts::plot_lines(plot_file(arguments, trace),
                            {.title = "Unfairness by number of organizations, " + trace,
                             .x = "organizations",
                             .y = "delta-psi / p_tot (seconds)",
                             .logarithmic = true},
                            lines_of(outcomes));
}

// The share of the best policy's work that each policy's schedule does, at its worst window and on average [SR13
// Thm. 6.2: no greedy schedule does less than 3/4 of what another one does].
struct WorkShare {
  double mean = 0;
  double worst = 1;
};
constexpr auto description_of(std::type_identity<WorkShare>) {
  return describe(member("mean", &WorkShare::mean), member("worst", &WorkShare::worst));
}
struct Utilization {
  std::string trace;
  std::size_t windows = 0;
  ByName<WorkShare> policies;
};
constexpr auto description_of(std::type_identity<Utilization>) {
  return describe(member("trace", &Utilization::trace), member("windows", &Utilization::windows),
                  member("policies", &Utilization::policies));
}

Utilization utilization_of(const std::string& trace, const ComparedOutcome& outcome) {
  Utilization utilization{trace, outcome.results.size(), {}};
  for (std::size_t p = 0; p < outcome.settings.policies.size(); ++p) {
    WorkShare share;
    double sum = 0;
    for (const WindowResult& result : outcome.results) {
      const std::int64_t best =
          std::max(result.work, *std::max_element(result.policy_work.begin(), result.policy_work.end()));
      const double part = static_cast<double>(result.policy_work[p]) / static_cast<double>(best);
      share.worst = std::min(share.worst, part);
      sum += part;
    }
    share.mean = sum / static_cast<double>(outcome.results.size());
    utilization.policies.emplace_back(outcome.settings.policies[p], share);
  }
  return utilization;
}

void print_utilization(const Utilization& utilization, std::ostream& out) {
  out << "## " << utilization.trace << ": work done by the window's end, as a part of the best policy's\n\n"
      << std::left << std::setw(22) << "POLICY" << std::setw(12) << "MEAN"
      << "WORST WINDOW\n";
  for (const auto& [policy, share] : utilization.policies)
    out << std::setw(22) << policy << std::setw(12) << short_number(share.mean) << short_number(share.worst) << '\n';
  out << '\n';
}

Expected<Comparisons> measure_utilization(const ExperimentArguments& arguments) {
  return compare_on_traces(arguments, 50'000, k_figure_policies);
}

Expected<void> report_utilization(const Comparisons& measured, const ExperimentArguments& arguments,
                                  std::ostream& out) {
  const auto report_on = [&](const ComparedWindows& compared, const ComparedOutcome& outcome) -> Expected<Utilization> {
    Utilization utilization = utilization_of(compared.trace, outcome);
    if (!arguments.json) print_utilization(utilization, out);
    return utilization;
  };
  SHAPLEY_TRY(report_traces<Utilization>(measured, arguments, out, report_on));
  if (!arguments.json) out << "Theorem 6.2: a greedy schedule does at least 0.75 of the work of any other.\n";
  return {};
}

// Events per second of one policy on one thread, over some windows. Nothing after Ctrl-C.
Expected<std::optional<double>> speed_of(const workload::Trace& trace, const ComparisonSettings& settings,
                                         const std::string& policy) {
  std::uint64_t events = 0;
  std::chrono::duration<double> spent{0};
  for (std::size_t number = 0; number < settings.windows && !interrupted(); ++number) {
    SHAPLEY_TRY_ASSIGN(const DrawnWindow drawn, draw_window(trace, settings, number));
    PolicyOptions options;
    options.seed = drawn.policy_seed;
    const auto begin = std::chrono::steady_clock::now();
    SHAPLEY_TRY_ASSIGN(const auto made, make_policy(policy, drawn.window.instance, options));
    events += scheduling::simulate(drawn.window.instance, *made).events;
    spent += std::chrono::steady_clock::now() - begin;
  }
  return interrupted() ? std::nullopt : std::optional(static_cast<double>(events) / spent.count());
}

struct SpeedReport {
  std::string experiment, trace;
  ByName<ByName<double>> events_per_second;  // by policy and number of organizations
};
constexpr auto description_of(std::type_identity<SpeedReport>) {
  return describe(member("experiment", &SpeedReport::experiment), member("trace", &SpeedReport::trace),
                  member("events_per_second", &SpeedReport::events_per_second));
}

struct Speeds {
  std::string trace;
  std::string jobs;  // their digest
  Policies policies;
  std::vector<std::size_t> sizes;  // numbers of organizations
  Units<double> events_per_second;
};
constexpr auto description_of(std::type_identity<Speeds>) {
  return describe(member("trace", &Speeds::trace), member("jobs", &Speeds::jobs), member("policies", &Speeds::policies),
                  member("sizes", &Speeds::sizes), member("events_per_second", &Speeds::events_per_second));
}

Expected<Speeds> measure_speed(const ExperimentArguments& arguments) {
  SHAPLEY_TRY_ASSIGN(const ExperimentTrace source, one_trace(arguments));
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
  Speeds measured{source.name, digest_of(trace), arguments.policies, arguments.organizations, {}};
  if (measured.sizes.empty()) measured.sizes = {5, 8, 10};
  if (measured.policies.empty()) {
    measured.policies = {"ref", "hindsight", "hindsight_pair"};
    measured.policies.insert(measured.policies.end(), k_figure_policies.begin(), k_figure_policies.end());
  }
  ComparisonSettings settings;
  settings.processors = source.processors == 0 ? trace.processors : source.processors;
  settings.length.value = arguments.length.value_or(500'000);
  settings.windows = arguments.windows.value_or(5);
  settings.seed = arguments.seed;
  ExperimentArguments one_thread = arguments;
  one_thread.threads = 1;
  const std::size_t sizes = measured.sizes.size();
  SHAPLEY_TRY_ASSIGN(
      measured.events_per_second,
      run_units<double>("measurements", measured.policies.size() * sizes, one_thread, [&](std::size_t i) {
        ComparisonSettings of_size = settings;
        of_size.organizations = measured.sizes[i % sizes];
        return speed_of(trace, of_size, measured.policies[i / sizes]);
      }));
  return measured;
}

Expected<void> report_speed(const Speeds& measured, const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY(expect_units(measured.events_per_second.size(), measured.policies.size() * measured.sizes.size()));
  SpeedReport report{arguments.name, measured.trace, {}};
  int width = 22;  // two spaces after the longest name at least
  for (const std::string& policy : measured.policies) width = std::max(width, static_cast<int>(policy.size()) + 2);
  std::ostringstream table;
  table << "## " << measured.trace << ": events per second on one thread\n\n"
        << std::left << std::setw(width) << "POLICY";
  for (const std::size_t size : measured.sizes) table << std::setw(14) << "k = " + std::to_string(size);
  auto unit = measured.events_per_second.begin();
  for (const std::string& policy : measured.policies) {
    table << '\n' << std::setw(width) << policy;
    report.events_per_second.emplace_back(policy, ByName<double>());
    for (const std::size_t size : measured.sizes) {
      const std::optional<double>& speed = *unit++;
      if (speed) report.events_per_second.back().second.emplace_back(std::to_string(size), *speed);
      table << std::setw(14) << (speed ? std::to_string(static_cast<std::int64_t>(*speed)) : "-");
    }
  }
  out << (arguments.json ? text_of(json_of<Json>(report), 1) : table.str()) << '\n';
  return {};
}

struct NamedExperiment {
  std::string_view name;
  Experiment experiment;
};

const std::vector<NamedExperiment>& experiments() {
  static const std::vector<NamedExperiment> rows{
      {"table1", experiment_of<measure_table<1>, report_table<1>>()},
      {"table2", experiment_of<measure_table<2>, report_table<2>>()},
      {"figure10", experiment_of<measure_figure, report_figure>()},
      {"utilization", experiment_of<measure_utilization, report_utilization>()},
      {"speed", experiment_of<measure_speed, report_speed>()},
      {"stability", stability_experiment()},
      {"consortium", consortium_experiment()},
      {"strategy", strategy_experiment()},
      {"real_jobs", real_jobs_experiment()},
      {"mosp", mosp_experiment()},
      {"workflow", workflow_experiment()}};
  return rows;
}

Expected<Experiment> experiment_named(const std::string& name) {
  for (const NamedExperiment& row : experiments())
    if (row.name == name) return row.experiment;
  return fail(Errc::invalid_argument, "experiment: no experiment is called " + name);
}

Expected<void> make_plot_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, "--plot: " + folder.string() + ": " + error.message());
  return {};
}

}  // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const NamedExperiment& row : experiments()) names.emplace_back(row.name);
  return names;
}

Expected<int> run_experiment(const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const Experiment experiment, experiment_named(arguments.name));
  SHAPLEY_TRY(make_plot_folder(arguments.plot));
  if (arguments.part) SHAPLEY_TRY(prepare_part(arguments));
  catch_interrupt();
  SHAPLEY_TRY(experiment.run(arguments, out));
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

Expected<int> merge_experiment(const MergeArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const MergedParts merged, merge_parts(arguments.files));
  SHAPLEY_TRY_ASSIGN(const Experiment experiment, experiment_named(merged.settings.name));
  SHAPLEY_TRY(make_plot_folder(arguments.plot));
  ExperimentArguments reported;
  static_cast<ExperimentSettings&>(reported) = merged.settings;
  reported.json = arguments.json;
  reported.plot = arguments.plot;
  SHAPLEY_TRY(experiment.report(merged.measured, reported, out));
  return k_exit_done;
}

}  // namespace shapley::sim
