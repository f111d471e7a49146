#include "sim/commands/experiment_command.hpp"

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

#include "base/counted.hpp"
#include "charts/plot.hpp"
#include "scheduling/simulate.hpp"
#include "sim/commands/compare_command.hpp"
#include "sim/exit_code.hpp"
#include "sim/experiments/experiment_traces.hpp"
#include "sim/experiments/mosp.hpp"
#include "sim/experiments/paper_numbers.hpp"
#include "sim/experiments/stability/stability.hpp"
#include "sim/experiments/strategy/strategy.hpp"
#include "sim/experiments/workflow.hpp"
#include "sim/json.hpp"
#include "sim/output/comparison_report.hpp"
#include "sim/registry.hpp"
#include "sim/system/interrupt.hpp"
#include "sim/system/parallel.hpp"

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

struct Outcome {
  ComparisonSettings settings;
  std::vector<WindowResult> results;
  std::vector<PolicySummary> summaries;
  bool whole = true;
};

// One comparison of a preset. Nothing finished (Ctrl-C at once) gives no summaries.
Expected<Outcome> compare_on(const workload::Trace& trace, const ExperimentTrace& source,
                             const ExperimentArguments& arguments, ComparisonSettings settings,
                             const Policies& policies, const std::string& what) {
  CompareArguments compared;
  compared.settings = std::move(settings);
  compared.settings.processors = source.processors;
  compared.settings.policies = arguments.policies.empty() ? policies : arguments.policies;
  compared.settings.seed = arguments.seed;
  compared.settings.windows = arguments.windows.value_or(100);
  SHAPLEY_TRY(complete(compared, trace));
  Outcome outcome;
  outcome.settings = compared.settings;
  {
    Progress progress(what, outcome.settings.windows);
    SHAPLEY_TRY_ASSIGN(outcome.results,
                       run_windows(trace, outcome.settings, 0, outcome.settings.windows, arguments.threads, progress));
  }
  say_unfinished(outcome.results.size(), outcome.settings.windows, "windows of " + what);
  outcome.whole = outcome.results.size() == outcome.settings.windows;
  if (!outcome.results.empty())
    outcome.summaries = summarize_policies(outcome.settings, outcome.results, compared.baseline);
  return outcome;
}

std::string baseline_of(const ComparisonSettings& settings) {
  const auto& names = settings.policies;
  return std::find(names.begin(), names.end(), "direct_contr") != names.end() ? "direct_contr" : names.front();
}

std::string paper_text(int table, const std::string& trace, const std::string& policy) {
  const auto number = paper_number(table, trace, policy);
  return number ? short_number(number->mean) + " +- " + short_number(number->deviation) : "";
}

void print_paper_table(int table, const ExperimentTrace& trace, const Outcome& outcome, std::ostream& out) {
  out << "## " << trace.name << ": ";
  print_table(outcome.settings, outcome.results, outcome.summaries, baseline_of(outcome.settings), out);
  bool any = false;
  for (const PolicySummary& summary : outcome.summaries) {
    const std::string paper = paper_text(table, trace.name, summary.policy);
    if (paper.empty()) continue;
    if (!any) out << "\nBeside the papers' Table " << table << " (average +- standard deviation):\n";
    any = true;
    out << std::left << std::setw(22) << summary.policy << std::setw(24)
        << short_number(summary.unfairness.mean) + " +- " + short_number(summary.unfairness.deviation) << paper << '\n';
  }
  if (trace.file.empty())
    out << "\nThese jobs are generated: no trace was given (--traces DIR or SHAPLEY_TRACES). The papers' numbers are "
           "of "
           "real traces.\n";
  out << '\n';
}

std::filesystem::path plot_file(const ExperimentArguments& arguments, const std::string& trace) {
  return arguments.plot / (arguments.name + "-" + trace + ".svg");
}

Expected<void> plot_table(const ExperimentArguments& arguments, const ExperimentTrace& trace, const Outcome& outcome) {
  std::vector<charts::PlotPoint> points;
  for (const PolicySummary& summary : outcome.summaries) {
    points.push_back({.label = summary.policy,
                      .mean = summary.unfairness.mean,
                      .error = summary.unfairness.standard_error.value_or(0),
                      .median = summary.unfairness.median});
  }
  return charts::plot_unfairness(plot_file(arguments, trace.name),
                                 trace.name + ", " + counted(outcome.results.size(), "window") + " of " +
                                     std::to_string(outcome.settings.length.value) + " s",
                                 points);
}

// Compares the policies on each trace in turn, `length` seconds a window unless the arguments say otherwise, and has
// `tell` make an entry of the report of each outcome. False: it was interrupted before the last window.
template <typename Tell>
Expected<bool> compare_on_traces(const ExperimentArguments& arguments, std::int64_t length, const Policies& policies,
                                 Json& report, const Tell& tell) {
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
  report = {{"experiment", arguments.name}, {"traces", Json::array()}};
  bool whole = true;
  for (const ExperimentTrace& source : traces) {
    SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
    ComparisonSettings settings;
    settings.length.value = arguments.length.value_or(length);
    if (!arguments.organizations.empty()) settings.organizations = arguments.organizations.front();
    SHAPLEY_TRY_ASSIGN(const Outcome outcome, compare_on(trace, source, arguments, settings, policies, source.name));
    whole = whole && outcome.whole;
    if (outcome.results.empty()) break;
    SHAPLEY_TRY_ASSIGN(Json entry, tell(source, outcome));
    report["traces"].push_back(std::move(entry));
    if (interrupted()) break;
  }
  return whole && !interrupted();
}

Expected<int> run_table(const ExperimentArguments& arguments, int table, std::ostream& out) {
  Json report;
  const auto tell = [&](const ExperimentTrace& source, const Outcome& outcome) -> Expected<Json> {
    Json entry = {{"trace", source.name}};
    entry.update(report_json(outcome.settings, outcome.results, outcome.summaries, baseline_of(outcome.settings)));
    if (!arguments.json) print_paper_table(table, source, outcome, out);
    if (!arguments.plot.empty()) SHAPLEY_TRY(plot_table(arguments, source, outcome));
    return entry;
  };
  SHAPLEY_TRY_ASSIGN(const bool whole,
                     compare_on_traces(arguments, table == 1 ? 50'000 : 500'000, k_table_policies, report, tell));
  if (arguments.json) out << json_text(report, 1) << '\n';
  return whole ? k_exit_done : k_exit_interrupted;
}

std::vector<charts::PlotLine> lines_of(const std::vector<Outcome>& outcomes) {
  std::vector<charts::PlotLine> lines;
  for (std::size_t p = 0; p < outcomes.front().summaries.size(); ++p) {
    charts::PlotLine line{
        .label = outcomes.front().summaries[p].policy, .x = {}, .y = {}, .dashed = p >= 8, .color = p};
    for (const Outcome& outcome : outcomes) {
      line.x.push_back(static_cast<double>(outcome.settings.organizations));
      line.y.push_back(outcome.summaries[p].unfairness.mean);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_figure(const std::vector<Outcome>& outcomes, std::ostream& out) {
  out << std::left << std::setw(22) << "MEAN (STD.ERR)";
  for (const Outcome& outcome : outcomes)
    out << std::setw(20) << "k = " + std::to_string(outcome.settings.organizations);
  out << '\n';
  for (std::size_t p = 0; p < outcomes.front().summaries.size(); ++p) {
    out << std::setw(22) << outcomes.front().summaries[p].policy;
    for (const Outcome& outcome : outcomes) {
      const Summary& summary = outcome.summaries[p].unfairness;
      out << std::setw(20)
          << short_number(summary.mean) +
                 (summary.standard_error ? " (" + short_number(*summary.standard_error) + ")" : "");
    }
    out << '\n';
  }
}

Expected<int> run_figure(const ExperimentArguments& arguments, std::ostream& out) {
  ExperimentArguments chosen = arguments;
  if (chosen.only.empty()) chosen.only = {"LPC-EGEE"};
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(chosen));
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(traces.front()));
  auto sizes = arguments.organizations;
  if (sizes.empty()) sizes = {2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<Outcome> outcomes;
  for (const std::size_t size : sizes) {
    ComparisonSettings settings;
    settings.organizations = size;
    settings.length.value = arguments.length.value_or(50'000);
    SHAPLEY_TRY_ASSIGN(Outcome outcome, compare_on(trace, traces.front(), arguments, settings, k_figure_policies,
                                                   "k = " + std::to_string(size)));
    if (!outcome.whole) break;  // points from different numbers of windows would make a misleading line
    outcomes.push_back(std::move(outcome));
  }
  if (!outcomes.empty()) {
    Json json = {{"experiment", arguments.name}, {"trace", traces.front().name}, {"organizations", Json::array()}};
    for (const Outcome& outcome : outcomes)
      json["organizations"].push_back(
          report_json(outcome.settings, outcome.results, outcome.summaries, baseline_of(outcome.settings)));
    if (arguments.json) {
      out << json_text(json, 1) << '\n';
    } else {
      out << "## " << traces.front().name << ": mean delta-psi / p_tot by number of organizations\n\n";
      print_figure(outcomes, out);
    }
    if (!arguments.plot.empty()) {
      SHAPLEY_TRY(charts::plot_lines(plot_file(arguments, traces.front().name),
                                     {.title = "Unfairness by number of organizations, " + traces.front().name,
                                      .x = "organizations",
                                      .y = "delta-psi / p_tot (seconds)",
                                      .logarithmic = true},
                                     lines_of(outcomes)));
    }
  }
  return outcomes.size() == sizes.size() ? k_exit_done : k_exit_interrupted;
}

// The share of the best policy's work that each policy's schedule does, at its worst window and on average [SR13
// Thm. 6.2: no greedy schedule does less than 3/4 of what another one does].
Json utilization_of(const ExperimentTrace& source, const Outcome& outcome) {
  Json entry = {{"trace", source.name}, {"windows", outcome.results.size()}, {"policies", Json::object()}};
  for (std::size_t p = 0; p < outcome.settings.policies.size(); ++p) {
    double worst = 1;
    double sum = 0;
    for (const WindowResult& result : outcome.results) {
      const std::int64_t best =
          std::max(result.work, *std::max_element(result.policy_work.begin(), result.policy_work.end()));
      const double part = static_cast<double>(result.policy_work[p]) / static_cast<double>(best);
      worst = std::min(worst, part);
      sum += part;
    }
    const double mean = sum / static_cast<double>(outcome.results.size());
    entry["policies"][outcome.settings.policies[p]] = {{"mean", mean}, {"worst", worst}};
  }
  return entry;
}

void print_utilization(const Json& entry, const Policies& policies, std::ostream& out) {
  out << "## " << entry["trace"].get<std::string>()
      << ": work done by the window's end, as a part of the best policy's\n\n"
      << std::left << std::setw(22) << "POLICY" << std::setw(12) << "MEAN"
      << "WORST WINDOW\n";
  for (const std::string& policy : policies) {
    const Json& row = entry["policies"][policy];
    out << std::setw(22) << policy << std::setw(12) << short_number(row["mean"].get<double>())
        << short_number(row["worst"].get<double>()) << '\n';
  }
  out << '\n';
}

Expected<int> run_utilization(const ExperimentArguments& arguments, std::ostream& out) {
  Json report;
  const auto tell = [&](const ExperimentTrace& source, const Outcome& outcome) -> Expected<Json> {
    Json entry = utilization_of(source, outcome);
    if (!arguments.json) print_utilization(entry, outcome.settings.policies, out);
    return entry;
  };
  SHAPLEY_TRY_ASSIGN(const bool whole, compare_on_traces(arguments, 50'000, k_figure_policies, report, tell));
  if (arguments.json) {
    out << json_text(report, 1) << '\n';
  } else {
    out << "Theorem 6.2: a greedy schedule does at least 0.75 of the work of any other.\n";
  }
  return whole ? k_exit_done : k_exit_interrupted;
}

// Events per second of one policy on one thread, over some windows.
Expected<double> measure(const workload::Trace& trace, const ComparisonSettings& settings, const std::string& policy) {
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
  return static_cast<double>(events) / spent.count();
}

Expected<int> run_speed(const ExperimentArguments& arguments, std::ostream& out) {
  ExperimentArguments chosen = arguments;
  if (chosen.only.empty()) chosen.only = {"LPC-EGEE"};
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(chosen));
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(traces.front()));
  auto sizes = arguments.organizations;
  if (sizes.empty()) sizes = {5, 8, 10};
  Policies policies = arguments.policies;
  if (policies.empty()) {
    policies = {"ref", "hindsight", "hindsight_pair"};
    policies.insert(policies.end(), k_figure_policies.begin(), k_figure_policies.end());
  }
  Json json = {{"experiment", "speed"}, {"trace", traces.front().name}, {"events_per_second", Json::object()}};
  int width = 22;  // two spaces after the longest name at least
  for (const std::string& policy : policies) width = std::max(width, static_cast<int>(policy.size()) + 2);
  // Printed when all is done: the bar and the rows would run into each other on a terminal.
  std::ostringstream table;
  table << "## " << traces.front().name << ": events per second on one thread\n\n"
        << std::left << std::setw(width) << "POLICY";
  for (const std::size_t size : sizes) table << std::setw(14) << "k = " + std::to_string(size);
  auto progress = std::make_optional<Progress>("measurements", policies.size() * sizes.size());
  for (const std::string& policy : policies) {
    if (interrupted()) break;
    table << '\n' << std::setw(width) << policy;
    for (const std::size_t size : sizes) {
      ComparisonSettings settings;
      settings.organizations = size;
      settings.processors = traces.front().processors == 0 ? trace.processors : traces.front().processors;
      settings.length.value = arguments.length.value_or(500'000);
      settings.windows = arguments.windows.value_or(5);
      settings.seed = arguments.seed;
      SHAPLEY_TRY_ASSIGN(const double speed, measure(trace, settings, policy));
      if (interrupted()) break;  // an interrupted measurement is left out
      json["events_per_second"][policy][std::to_string(size)] = speed;
      table << std::setw(14) << static_cast<std::int64_t>(speed);
      progress->one_more();
    }
  }
  progress.reset();
  out << (arguments.json ? json_text(json, 1) : table.str()) << '\n';
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

Expected<int> run_mosp(const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY(experiment_mosp({arguments.instances.value_or(50), arguments.seed, arguments.threads}, out));
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

Expected<int> run_workflow(const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY(experiment_workflow({arguments.instances.value_or(10), arguments.seed, arguments.threads}, out));
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

Expected<int> run_table1(const ExperimentArguments& arguments, std::ostream& out) {
  return run_table(arguments, 1, out);
}

Expected<int> run_table2(const ExperimentArguments& arguments, std::ostream& out) {
  return run_table(arguments, 2, out);
}

struct Experiment {
  std::string_view name;
  Expected<int> (*run)(const ExperimentArguments& arguments, std::ostream& out);
};
constexpr std::array k_experiments{Experiment{"table1", run_table1},
                                   Experiment{"table2", run_table2},
                                   Experiment{"figure10", run_figure},
                                   Experiment{"utilization", run_utilization},
                                   Experiment{"speed", run_speed},
                                   Experiment{"stability", experiment_stability},
                                   Experiment{"strategy", experiment_strategy},
                                   Experiment{"mosp", run_mosp},
                                   Experiment{"workflow", run_workflow}};

}  // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : k_experiments) names.emplace_back(experiment.name);
  return names;
}

Expected<int> run_experiment(const ExperimentArguments& arguments, std::ostream& out) {
  if (!arguments.plot.empty()) {
    std::error_code error;
    std::filesystem::create_directories(arguments.plot, error);
    if (error) return fail(Errc::io, "--plot: " + arguments.plot.string() + ": " + error.message());
  }
  catch_interrupt();
  for (const Experiment& experiment : k_experiments)
    if (experiment.name == arguments.name) return experiment.run(arguments, out);
  return fail(Errc::invalid_argument, "experiment: no experiment is called " + arguments.name);
}

}  // namespace shapley::sim
