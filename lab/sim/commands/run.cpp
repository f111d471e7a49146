#include <algorithm>
#include <iomanip>
#include <ostream>

#include "base/description.hpp"
#include "base/text.hpp"
#include "charts/plot.hpp"
#include "scheduling/simulate.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/commands/commands.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/json.hpp"
#include "sim/results.hpp"

namespace shapley::sim {

namespace {

Expected<PolicyResult> run_policy(const scheduling::Instance& instance, const std::string& name,
                                  const PolicyOptions& options) {
  SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(name, instance, options));
  PolicyResult result;
  result.policy = name;
  result.simulation = scheduling::simulate(instance, *policy);
  result.phi = policy->contributions(instance.end.value);
  result.coalition_values = policy->coalition_values(instance.end.value);
  SHAPLEY_TRY_ASSIGN(const auto* utility, scheduling::find_utility_function(options.utility));
  if (utility->name != "psi_sp")
    result.utilities = scheduling::utilities_of(*utility, instance, result.simulation.schedule);
  return result;
}

// Utilities by organization, under the name of the utility.
struct NamedUtilities {
  std::string name;
  std::vector<std::int64_t> values;
};
template <typename Visit>
void for_each_json_member(std::string_view, const NamedUtilities& utilities, const Visit& visit) {
  if (!utilities.values.empty()) visit(utilities.name, utilities.values);
}

using StartLine = std::vector<std::int64_t>;  // job, organization, start, duration, then processors or owner

// A policy's result in JSON.
struct RunLine {
  std::string policy;
  std::vector<std::int64_t> psi;
  NamedUtilities utilities;
  std::vector<std::string> phi;
  std::int64_t v = 0;
  std::int64_t p_tot = 0;
  ByName<std::int64_t> v_coalitions;
  std::optional<std::vector<StartLine>> schedule;
};
constexpr auto description_of(std::type_identity<RunLine>) {
  using R = RunLine;
  return describe(member("policy", &R::policy), member("psi", &R::psi), flattened(&R::utilities),
                  supplement("phi", &R::phi), member("v", &R::v), member("p_tot", &R::p_tot),
                  supplement("v_coalitions", &R::v_coalitions), supplement("schedule", &R::schedule));
}

struct RunReport {
  std::vector<RunLine> results;
};
constexpr auto description_of(std::type_identity<RunReport>) {
  return describe(member("results", &RunReport::results));
}

std::vector<StartLine> schedule_lines(const scheduling::Instance& instance,
                                      const std::vector<scheduling::Start>& schedule, bool rigid) {
  std::vector<StartLine> lines;
  for (const scheduling::Start& start : schedule) {
    const scheduling::Job& job = instance.jobs[start.job];
    StartLine& line = lines.emplace_back(StartLine{start.job, job.organization, start.start.value, job.duration.value});
    if (rigid) {
      line.push_back(job.processors);
    } else if (start.owner != scheduling::k_any_owner) {
      line.push_back(start.owner);
    }
  }
  return lines;
}

RunLine line_of(const scheduling::Instance& instance, const PolicyResult& result, const RunArguments& arguments) {
  RunLine line{.policy = result.policy,
               .psi = result.simulation.psi,
               .utilities = {arguments.options.utility, result.utilities},
               .phi = {},
               .v = result.simulation.value,
               .p_tot = result.simulation.work,
               .v_coalitions = {},
               .schedule = {}};
  if (result.phi)
    for (const scheduling::Rational& value : *result.phi) line.phi.push_back(scheduling::to_string(value));
  for (const auto& [coalition, value] : result.coalition_values)
    line.v_coalitions.emplace_back(std::to_string(coalition), value);
  const bool rigid = arguments.window.parallel == workload::ParallelJobs::rigid;
  if (arguments.schedule) line.schedule = schedule_lines(instance, result.simulation.schedule, rigid);
  return line;
}

void print_table(const std::vector<PolicyResult>& results, const std::string& utility, std::ostream& out) {
  const bool extra = !results.empty() && !results.front().utilities.empty();
  std::size_t width = 24;
  for (const PolicyResult& result : results) width = std::max(width, result.policy.size() + 1);
  const int name_width = static_cast<int>(width);
  out << std::left << std::setw(name_width) << "POLICY" << std::right << std::setw(14) << "V" << std::setw(12)
      << "P_TOT"
      << "  PSI (PHI) by organization" << (extra ? " | " + utility : "") << '\n';
  for (const PolicyResult& result : results) {
    out << std::left << std::setw(name_width) << result.policy << std::right << std::setw(14) << result.simulation.value
        << std::setw(12) << result.simulation.work << " ";
    for (std::size_t u = 0; u < result.simulation.psi.size(); ++u) {
      out << ' ' << result.simulation.psi[u];
      if (result.phi) out << " (" << scheduling::to_string((*result.phi)[u]) << ')';
    }
    if (extra) out << " |";
    for (const std::int64_t value : result.utilities) out << ' ' << value;
    out << '\n';
  }
}

struct RunInput {
  scheduling::Instance instance;
  std::string about;  // one line above the table; empty for an instance file
};

Expected<RunInput> load_input(const RunArguments& arguments) {
  RunInput input;
  if (!arguments.instance.empty()) {
    SHAPLEY_TRY_ASSIGN(input.instance, read_instance(arguments.instance, arguments.window.parallel));
    return input;
  }
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(arguments.source));
  ComparisonSettings settings = arguments.window;
  if (settings.processors == 0) settings.processors = trace.processors;
  if (settings.processors == 0)
    return fail(Errc::invalid_argument, "the trace does not say how many processors there were; give --processors");
  SHAPLEY_TRY_ASSIGN(DrawnWindow drawn, arguments.begin
                                            ? window_at(trace, settings, arguments.number, {*arguments.begin})
                                            : draw_window(trace, settings, arguments.number));
  if (drawn.window.instance.jobs.empty())
    return fail(Errc::not_found, "no job is submitted in the window; choose another --begin or a greater --length");
  input.about = "window " + std::to_string(arguments.number) + ": [" + std::to_string(drawn.begin.value) + ", " +
                std::to_string((drawn.begin + settings.length).value) + ") of the workload, " +
                counted(drawn.window.instance.jobs.size(), "job") + ", processors";
  for (const std::uint32_t m : drawn.window.instance.processors) input.about += " " + std::to_string(m);
  input.instance = std::move(drawn.window.instance);
  return input;
}

double as_double(const scheduling::Rational& value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// A greedy schedule up to t does not depend on later jobs, so the results at t are those of the instance cut at t.
Expected<void> plot_over_time(const std::filesystem::path& file, const scheduling::Instance& instance,
                              const std::string& policy_name, const PolicyOptions& options) {
  constexpr std::int64_t k_points = 60;
  std::vector<charts::PlotLine> psi(instance.organizations());
  std::vector<charts::PlotLine> phi(instance.organizations());
  for (std::size_t u = 0; u < instance.organizations(); ++u) {
    psi[u].label = "psi of organization " + std::to_string(u);
    phi[u].label = "phi of organization " + std::to_string(u);
    psi[u].color = phi[u].color = u;
    phi[u].dashed = true;
  }
  const std::int64_t points = std::min(k_points, instance.end.value);
  for (std::int64_t i = 0; i <= points; ++i) {
    scheduling::Instance cut = instance;
    cut.end.value = instance.end.value * i / points;
    SHAPLEY_TRY_ASSIGN(const PolicyResult result, run_policy(cut, policy_name, options));
    for (std::size_t u = 0; u < instance.organizations(); ++u) {
      psi[u].x.push_back(static_cast<double>(cut.end.value));
      psi[u].y.push_back(static_cast<double>(result.simulation.psi[u]));
      if (!result.phi) continue;
      phi[u].x.push_back(static_cast<double>(cut.end.value));
      phi[u].y.push_back(as_double((*result.phi)[u]));
    }
  }
  std::vector<charts::PlotLine> lines = psi;
  if (!phi.front().x.empty()) lines.insert(lines.end(), phi.begin(), phi.end());
  return charts::plot_lines(file,
                            {.title = "What organizations got (psi) and gave (phi) under " + policy_name,
                             .x = "time (s)",
                             .y = "processor seconds squared"},
                            lines);
}

Expected<void> draw_gantt(const std::filesystem::path& file, const scheduling::Instance& instance,
                          const PolicyResult& result) {
  constexpr std::size_t k_boxes = 5000;
  const auto& schedule = result.simulation.schedule;
  const auto processors = place_jobs(instance, schedule);
  std::vector<charts::GanttBox> boxes;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const scheduling::Job& job = instance.jobs[schedule[i].job];
    for (const std::uint32_t processor : processors[i]) {
      boxes.push_back({.processor = processor,
                       .begin = schedule[i].start.value,
                       .end = std::min((schedule[i].start + job.duration).value, instance.end.value),
                       .organization = job.organization});
    }
  }
  if (boxes.size() > k_boxes)
    return fail(Errc::limit,
                "--plot-gantt: " + std::to_string(boxes.size()) + " jobs do not fit" +
                    " into one picture; choose a shorter --length (at most 5000 jobs, a rigid one counting "
                    "once per processor)");
  return charts::plot_gantt(file, "Schedule of " + result.policy, instance.organizations(), boxes);
}

Expected<void> write_files(const RunArguments& arguments, const scheduling::Instance& instance,
                           const std::vector<PolicyResult>& results) {
  if (!arguments.organizations_csv.empty())
    SHAPLEY_TRY(write_organizations(arguments.organizations_csv, instance, results));
  const bool of_one_policy =
      !arguments.batsim_jobs.empty() || !arguments.plot_time.empty() || !arguments.plot_gantt.empty();
  if (of_one_policy && results.size() != 1)
    return fail(Errc::invalid_argument,
                "--batsim-jobs, --plot-time and --plot-gantt show one policy; give one --policy");
  if (!arguments.batsim_jobs.empty()) SHAPLEY_TRY(write_batsim_jobs(arguments.batsim_jobs, instance, results.front()));
  if (!arguments.plot_time.empty())
    SHAPLEY_TRY(plot_over_time(arguments.plot_time, instance, results.front().policy, arguments.options));
  if (!arguments.plot_gantt.empty()) SHAPLEY_TRY(draw_gantt(arguments.plot_gantt, instance, results.front()));
  return {};
}

}  // namespace

Expected<void> run(const RunArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const RunInput input, load_input(arguments));
  const scheduling::Instance& instance = input.instance;
  std::vector<PolicyResult> results;
  for (const std::string& name : arguments.policies) {
    SHAPLEY_TRY_ASSIGN(PolicyResult result, run_policy(instance, name, arguments.options));
    results.push_back(std::move(result));
  }
  if (arguments.json) {
    RunReport report;
    for (const PolicyResult& result : results) report.results.push_back(line_of(instance, result, arguments));
    out << text_of(json_of<Json>(report), -1) << '\n';
  } else {
    if (!input.about.empty()) out << input.about << '\n';
    print_table(results, arguments.options.utility, out);
  }
  return write_files(arguments, instance, results);
}

}  // namespace shapley::sim
