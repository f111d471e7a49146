#include "sim/run_command.hpp"

#include <iomanip>
#include <ostream>

#include <nlohmann/json.hpp>

#include "fairness/simulate.hpp"
#include "fairness/utility_functions.hpp"
#include "sim/instance_file.hpp"

namespace shapley::sim {

namespace {

using Json = nlohmann::ordered_json;

struct PolicyResult {
  std::string policy;
  fairness::SimulationResult simulation;
  std::optional<std::vector<fairness::Rational>> phi;
  std::vector<std::pair<fairness::Coalition, std::int64_t>> coalition_values;
  std::vector<std::int64_t> utilities;  // by organization; empty for psi_sp, which psi has
};

Expected<PolicyResult> run_policy(const fairness::Instance& instance, const std::string& name,
                                  const PolicyOptions& options) {
  SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(name, instance, options));
  PolicyResult result;
  result.policy = name;
  result.simulation = fairness::simulate(instance, *policy);
  result.phi = policy->contributions(instance.end.value);
  result.coalition_values = policy->coalition_values(instance.end.value);
  SHAPLEY_TRY_ASSIGN(const auto* utility, fairness::find_utility_function(options.utility));
  if (utility->name != "psi_sp")
    result.utilities = fairness::utilities_of(*utility, instance, result.simulation.schedule);
  return result;
}

Json schedule_json(const fairness::Instance& instance, const std::vector<fairness::Start>& schedule) {
  Json entries = Json::array();
  for (const fairness::Start& start : schedule) {
    const fairness::Job& job = instance.jobs[start.job];
    Json entry = {start.job, job.organization, start.start.value, job.duration.value};
    if (start.owner != fairness::k_any_owner) entry.push_back(start.owner);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Json to_json(const fairness::Instance& instance, const PolicyResult& result, const RunArguments& arguments) {
  Json json = {{"policy", result.policy}, {"psi", result.simulation.psi}};
  if (!result.utilities.empty()) json[arguments.options.utility] = result.utilities;
  if (result.phi) {
    json["phi"] = Json::array();
    for (const fairness::Rational& value : *result.phi) json["phi"].push_back(fairness::to_string(value));
  }
  json["v"] = result.simulation.value;
  json["p_tot"] = result.simulation.work;
  if (!result.coalition_values.empty()) {
    json["v_coalitions"] = Json::object();
    for (const auto& [coalition, value] : result.coalition_values)
      json["v_coalitions"][std::to_string(coalition)] = value;
  }
  if (arguments.schedule) json["schedule"] = schedule_json(instance, result.simulation.schedule);
  return json;
}

void print_table(const std::vector<PolicyResult>& results, const std::string& utility, std::ostream& out) {
  const bool extra = !results.empty() && !results.front().utilities.empty();
  out << std::left << std::setw(24) << "POLICY" << std::right << std::setw(14) << "V" << std::setw(12) << "P_TOT"
      << "  PSI (PHI) by organization" << (extra ? " | " + utility : "") << '\n';
  for (const PolicyResult& result : results) {
    out << std::left << std::setw(24) << result.policy << std::right << std::setw(14) << result.simulation.value
        << std::setw(12) << result.simulation.work << " ";
    for (std::size_t u = 0; u < result.simulation.psi.size(); ++u) {
      out << ' ' << result.simulation.psi[u];
      if (result.phi) out << " (" << fairness::to_string((*result.phi)[u]) << ')';
    }
    if (extra) out << " |";
    for (const std::int64_t value : result.utilities) out << ' ' << value;
    out << '\n';
  }
}

}  // namespace

Expected<void> run(const RunArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const fairness::Instance instance, read_instance(arguments.instance));
  std::vector<PolicyResult> results;
  for (const std::string& name : arguments.policies) {
    SHAPLEY_TRY_ASSIGN(PolicyResult result, run_policy(instance, name, arguments.options));
    results.push_back(std::move(result));
  }
  if (!arguments.json) {
    print_table(results, arguments.options.utility, out);
    return {};
  }
  Json json = {{"results", Json::array()}};
  for (const PolicyResult& result : results) json["results"].push_back(to_json(instance, result, arguments));
  out << json.dump() << '\n';
  return {};
}

}  // namespace shapley::sim
