#include "sim/commands/compare_command.hpp"

#include <algorithm>
#include <ostream>

#include "charts/plot.hpp"
#include "sim/comparison/submit.hpp"
#include "sim/exit_code.hpp"
#include "sim/output/comparison_report.hpp"
#include "sim/registry.hpp"
#include "sim/system/interrupt.hpp"
#include "sim/system/parallel.hpp"

namespace shapley::sim {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A wrong name or too many organizations should not show up after the first hour.
Expected<void> check_policies(const ComparisonSettings& settings, const workload::Trace& trace) {
  scheduling::Instance empty;
  empty.processors.assign(settings.organizations, 1);
  const auto widest = std::max_element(trace.jobs.begin(), trace.jobs.end(),
                                       [](const auto& a, const auto& b) { return a.processors < b.processors; });
  if (settings.parallel == workload::ParallelJobs::rigid && widest->processors > 1) {
    if (widest->processors > settings.processors) {
      return fail(Errc::invalid_argument, "--parallel rigid: job " + std::to_string(widest->id) +
                                              " of the trace needs " + std::to_string(widest->processors) +
                                              " processors at once, there are " + std::to_string(settings.processors) +
                                              "; give more --processors, or take --parallel copies");
    }
    empty.jobs.push_back({.release = {0}, .duration = {1}, .organization = 0, .processors = 2});
  }
  std::vector<std::string> names = settings.policies;
  names.push_back(settings.reference);
  PolicyOptions options;
  options.rule = settings.rule;
  options.once_a_pass = settings.once_a_pass;
  for (const std::string& name : names) SHAPLEY_TRY(make_policy(name, empty, options));
  return {};
}

}  // namespace

Expected<void> complete(CompareArguments& arguments, const workload::Trace& trace) {
  ComparisonSettings& settings = arguments.settings;
  if (settings.processors == 0) settings.processors = trace.processors;
  if (settings.processors == 0)
    return fail(Errc::invalid_argument, "the trace does not say how many processors there were; give --processors");
  if (settings.policies.empty()) return fail(Errc::invalid_argument, "no policy to compare; give --policies");
  if (settings.windows == 0) return fail(Errc::invalid_argument, "--windows: expected at least one");
  if (settings.length.value < 1) return fail(Errc::invalid_argument, "--length: expected at least one second");
  if (arguments.baseline.empty())
    arguments.baseline = contains(settings.policies, "direct_contr") ? "direct_contr" : settings.policies.front();
  if (!contains(settings.policies, arguments.baseline))
    return fail(Errc::invalid_argument, "--baseline " + arguments.baseline + " is not among --policies");
  return check_policies(settings, trace);
}

Expected<void> report(const CompareArguments& arguments, const std::vector<WindowResult>& results, std::ostream& out) {
  const auto summaries = summarize_policies(arguments.settings, results, arguments.baseline);
  if (arguments.json) {
    out << json_text(report_json(arguments.settings, results, summaries, arguments.baseline), 1) << '\n';
  } else {
    print_table(arguments.settings, results, summaries, arguments.baseline, out);
  }
  if (!arguments.plot.empty()) {
    std::vector<charts::PlotPoint> points;
    for (const PolicySummary& summary : summaries) {
      points.push_back({.label = summary.policy,
                        .mean = summary.unfairness.mean,
                        .error = summary.unfairness.standard_error.value_or(0),
                        .median = summary.unfairness.median});
    }
    SHAPLEY_TRY(charts::plot_unfairness(arguments.plot, "Unfairness by policy", points));
  }
  return {};
}

Expected<int> compare(CompareArguments arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(arguments.source));
  SHAPLEY_TRY(complete(arguments, trace));
  if (!arguments.submit.empty()) return submit_comparison(arguments, out);
  const std::size_t last = arguments.last_window == 0 ? arguments.settings.windows : arguments.last_window;
  if (arguments.first_window >= last) return fail(Errc::invalid_argument, "--first-window: not before --last-window");
  catch_interrupt();
  std::vector<WindowResult> results;
  {
    Progress progress("windows", last - arguments.first_window);
    SHAPLEY_TRY_ASSIGN(
        results, run_windows(trace, arguments.settings, arguments.first_window, last, arguments.threads, progress));
  }
  const bool whole = results.size() == last - arguments.first_window;
  say_unfinished(results.size(), last - arguments.first_window, "windows");
  if (!results.empty()) SHAPLEY_TRY(report(arguments, results, out));
  return whole ? k_exit_done : k_exit_interrupted;
}

}  // namespace shapley::sim
