#include <algorithm>
#include <iomanip>
#include <map>
#include <numeric>
#include <ostream>

#include "base/description.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "charts/plot.hpp"
#include "sim/commands/commands.hpp"
#include "sim/comparison.hpp"
#include "sim/emulation/judge.hpp"
#include "sim/json.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;

// As shapleyd measures it: sum(q d^2) / (2 sum(q d)), at least ten minutes.
std::int64_t mean_residual_of(const Trace& trace) {
  constexpr std::int64_t k_shortest = 600;
  Int128 squares = 0;
  Int128 work = 0;
  for (const workload::TraceJob& job : trace.jobs) {
    const Int128 run = job.run.value;
    squares += run * run * job.processors;
    work += run * job.processors;
  }
  return std::max(static_cast<std::int64_t>(squares / (2 * work)), k_shortest);
}

struct JudgeReport {
  std::vector<Verdict> verdicts;
};
constexpr auto description_of(std::type_identity<JudgeReport>) {
  return describe(member("verdicts", &JudgeReport::verdicts));
}

Expected<Recording> read_recording(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const std::string text, read_text_file(file, k_max_document));
  const Json parsed = parse_json<Json>(text);
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "it is no JSON");
  return from_json<Recording>(parsed);
}

std::string tenths(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value;
  return text.str();
}

void print_table(const std::vector<Verdict>& verdicts, std::ostream& out) {
  std::size_t width = 24;
  std::string window;
  for (const Verdict& verdict : verdicts) width = std::max(width, printable(verdict.policy).size() + 1);
  for (const Verdict& v : verdicts) {
    if (window != v.window || &v == &verdicts.front()) {
      if (&v != &verdicts.front()) out << '\n';
      window = v.window;
      out << printable(v.window) << '\n'
          << std::left << std::setw(static_cast<int>(width)) << "POLICY" << std::right << std::setw(7) << "STARTS"
          << std::setw(11) << "UNFAIRNESS" << std::setw(11) << "SIMULATED" << std::setw(10) << "FIDELITY"
          << std::setw(9) << "(ITSELF)" << std::setw(8) << "DUE" << std::setw(11) << "SIMULATED" << std::setw(8)
          << "REF" << std::setw(8) << "PASSED" << std::setw(9) << "LONGEST" << std::setw(8) << "WRITES" << '\n';
    }
    out << std::left << std::setw(static_cast<int>(width)) << printable(v.policy) << std::right << std::setw(7)
        << v.starts << std::setw(11) << tenths(v.unfairness) << std::setw(11) << tenths(v.unfairness_simulated)
        << std::setw(10) << tenths(v.fidelity) << std::setw(9) << tenths(v.sensitivity) << std::setw(8) << tenths(v.due)
        << std::setw(11) << tenths(v.due_simulated) << std::setw(8) << tenths(v.due_ref) << std::setw(8)
        << v.before_older << std::setw(9) << v.longest_before_older << std::setw(8) << tenths(v.written_a_start)
        << '\n';
  }
}

// A row for each policy: the mean unfairness of what ran, its standard error and its median over the windows.
Expected<void> plot_verdicts(const std::filesystem::path& file, const std::vector<Verdict>& verdicts) {
  std::map<std::string, std::vector<double>> unfairness;
  for (const Verdict& v : verdicts) unfairness[v.policy].push_back(v.unfairness);
  std::vector<charts::PlotPoint> points;
  for (const auto& [policy, values] : unfairness) {
    std::vector<std::int64_t> windows(values.size());
    std::iota(windows.begin(), windows.end(), 0);
    points.push_back(plot_point(printable(policy), summarize(values, windows)));
  }
  return charts::plot_unfairness(file, "Unfairness of what a slurmctld ran, by policy", points);
}

}  // namespace

Expected<void> print_window(const WindowArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const Trace trace, load_workload(arguments.source));
  const workload::Assignment assignment = workload::deal_users(trace, arguments.owned.size(), arguments.seed);
  SHAPLEY_TRY_ASSIGN(const workload::Window window,
                     workload::cut_window(trace, assignment, arguments.owned, {arguments.begin}, arguments.length));
  if (window.instance.jobs.empty())
    return fail(Errc::not_found, "no job is submitted in the window; choose another --begin or a greater --length");
  const auto divided = [&](std::int64_t seconds) {
    return std::max<std::int64_t>((seconds + arguments.factor / 2) / arguments.factor, 1);
  };
  out << "residual " << divided(mean_residual_of(trace)) << '\n';
  for (std::size_t i = 0; i < window.trace_job.size();
       i += static_cast<std::size_t>(trace.jobs[window.trace_job[i]].processors)) {
    const scheduling::Job& job = window.instance.jobs[i];
    const workload::TraceJob& of_trace = trace.jobs[window.trace_job[i]];
    out << job.release.value / arguments.factor << ' ' << job.organization << ' ' << divided(job.duration.value) << ' '
        << of_trace.processors << ' ' << of_trace.user << '\n';
  }
  return {};
}

Expected<void> judge_recordings(const JudgeArguments& arguments, std::ostream& out) {
  JudgeReport report;
  for (const std::filesystem::path& file : arguments.recordings) {
    const auto about = [&](const Error& error) { return with_context("recording: " + file.string(), error); };
    const auto recording = read_recording(file);
    if (!recording) return about(recording.error());
    auto verdict = judge(*recording);
    if (!verdict) return about(verdict.error());
    report.verdicts.push_back(std::move(verdict).value());
  }
  if (arguments.json) {
    out << text_of(json_of<Json>(report), 1) << '\n';
  } else {
    print_table(report.verdicts, out);
  }
  if (!arguments.plot.empty()) SHAPLEY_TRY(plot_verdicts(arguments.plot, report.verdicts));
  return {};
}

}  // namespace shapley::sim
