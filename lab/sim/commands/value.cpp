#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>

#include "base/description.hpp"
#include "sim/commands/commands.hpp"
#include "sim/comparison.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/json.hpp"
#include "sim/real_jobs.hpp"

namespace shapley::sim {

namespace {

// An estimator in JSON.
struct EstimateLine {
  std::string name;
  std::vector<std::string> phi;
  ByName<std::int64_t> values;
};
constexpr auto description_of(std::type_identity<EstimateLine>) {
  using E = EstimateLine;
  return describe(member("estimator", &E::name), member("phi", &E::phi), supplement("v_coalitions", &E::values));
}
struct ValueReport {
  std::vector<std::int64_t> psi;
  std::int64_t work = 0;
  std::vector<EstimateLine> estimates;
};
constexpr auto description_of(std::type_identity<ValueReport>) {
  using R = ValueReport;
  return describe(member("psi", &R::psi), member("p_tot", &R::work), member("estimates", &R::estimates));
}

EstimateLine estimate_line(const Estimate& estimate) {
  EstimateLine line{estimate.name, {}, {}};
  for (const scheduling::Rational& phi : estimate.phi) line.phi.push_back(scheduling::to_string(phi));
  for (const auto& [coalition, value] : estimate.values) line.values.emplace_back(std::to_string(coalition), value);
  return line;
}

Expected<scheduling::EasyInstance> load_whole_jobs(const ValueArguments& arguments) {
  if (!arguments.instance.empty()) return read_easy_instance(arguments.instance);
  SHAPLEY_TRY_ASSIGN(const Kinds kinds, parse_kinds(arguments.kinds));
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(arguments.source));
  ComparisonSettings settings = arguments.window;
  settings.parallel = workload::ParallelJobs::rigid;
  if (!kinds.owned.empty()) {
    settings.organizations = kinds.owned.front().size();
    settings.processors = 0;
    for (const auto& kind : kinds.owned)
      for (const std::uint32_t processors : kind) settings.processors += processors;
  }
  if (settings.processors == 0) settings.processors = trace.processors;
  if (settings.processors == 0)
    return fail(Errc::invalid_argument, "the trace does not say how many processors there were; give --processors");
  SHAPLEY_TRY_ASSIGN(const DrawnWindow drawn, arguments.begin
                                                  ? window_at(trace, settings, arguments.number, {*arguments.begin})
                                                  : draw_window(trace, settings, arguments.number));
  return whole_jobs_of(trace, drawn.window, kinds);
}

constexpr int k_value_column = 18;

// The last column of a line has no blanks behind it.
auto value_column(bool is_last) {
  return std::setw(is_last ? 0 : k_value_column);
}

void print_values(const RealJobs& real, std::ostream& out) {
  out << std::left << std::setw(k_value_column) << "ESTIMATOR"
      << "PHI by organization (psi:";
  for (const std::int64_t psi : real.psi) out << ' ' << psi;
  out << ")\n";
  std::vector<const Estimate*> all{&real.exact};
  for (const Estimate& estimate : real.estimates) all.push_back(&estimate);
  for (const Estimate* estimate : all) {
    out << std::setw(k_value_column - 1) << estimate->name;
    for (const scheduling::Rational& phi : estimate->phi) out << ' ' << scheduling::to_string(phi);
    out << '\n';
  }
  std::erase_if(all, [](const Estimate* estimate) { return estimate->values.empty(); });
  out << '\n' << std::setw(k_value_column) << "COALITION";
  for (const Estimate* estimate : all) out << value_column(estimate == all.back()) << estimate->name;
  out << '\n';
  for (const auto& [coalition, unused] : real.exact.values) {
    std::string members;
    for (std::size_t u = 0; u < real.psi.size(); ++u)
      if ((coalition >> u & 1U) != 0) members += (members.empty() ? "" : "+") + std::to_string(u);
    out << std::setw(k_value_column) << members;
    for (const Estimate* estimate : all) {
      const auto found = std::ranges::find(estimate->values, coalition, [](const auto& value) { return value.first; });
      out << value_column(estimate == all.back())
          << (found == estimate->values.end() ? "-" : std::to_string(found->second));
    }
    out << '\n';
  }
}

}  // namespace

Expected<void> value_command(const ValueArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const scheduling::EasyInstance instance, load_whole_jobs(arguments));
  SHAPLEY_TRY_ASSIGN(const RealJobs real, estimate_all(instance, arguments.window.seed));
  if (!arguments.json) {
    print_values(real, out);
    return {};
  }
  ValueReport report{real.psi, real.work, {estimate_line(real.exact)}};
  for (const Estimate& estimate : real.estimates) report.estimates.push_back(estimate_line(estimate));
  out << text_of(json_of<Json>(report), -1) << '\n';
  return {};
}

}  // namespace shapley::sim
