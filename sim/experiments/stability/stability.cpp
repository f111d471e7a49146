#include "sim/experiments/stability/stability.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>

#include "base/calendar.hpp"
#include "scheduling/simulate.hpp"
#include "sim/commands/compare_command.hpp"
#include "sim/exit_code.hpp"
#include "sim/experiments/experiment_traces.hpp"
#include "sim/experiments/stability/stability_cases.hpp"
#include "sim/experiments/stability/stability_debts.hpp"
#include "sim/experiments/stability/stability_maintenance.hpp"
#include "sim/experiments/stability/stability_report.hpp"
#include "sim/experiments/stability/stability_rules.hpp"
#include "sim/output/progress.hpp"
#include "sim/registry.hpp"
#include "sim/system/interrupt.hpp"
#include "sim/system/parallel.hpp"

namespace shapley::sim {

namespace {

using Names = std::vector<std::string>;

constexpr std::array<const char*, 8> k_parts{"saturated",   "load_1.05", "bursty", "head_start",
                                             "maintenance", "debts",     "years",  "windows"};
constexpr Duration k_hour{3600};
constexpr Duration k_week{7 * k_day_s};
// A few windows carry the mean: with 100 of them its standard error is a half and more.
constexpr std::size_t k_windows = 400;

bool has_part(const ExperimentArguments& arguments, const std::string& part) {
  return arguments.cases.empty() ||
         std::find(arguments.cases.begin(), arguments.cases.end(), part) != arguments.cases.end();
}

Expected<void> check_parts(const ExperimentArguments& arguments) {
  for (const std::string& part : arguments.cases) {
    if (std::find(k_parts.begin(), k_parts.end(), part) != k_parts.end()) continue;
    return fail(Errc::invalid_argument, "--cases: \"" + part +
                                            "\" is unknown; known are saturated, load_1.05, bursty, head_start, "
                                            "maintenance, debts, years and windows");
  }
  return {};
}

Expected<std::vector<StabilityCase>> cases_of(const ExperimentArguments& arguments) {
  std::vector<StabilityCase> cases = made_cases(arguments.seed);
  std::erase_if(cases, [&](const StabilityCase& made) { return !has_part(arguments, made.name); });
  if (!has_part(arguments, "years")) return cases;
  SHAPLEY_TRY_ASSIGN(auto years, year_cases(arguments));
  std::move(years.begin(), years.end(), std::back_inserter(cases));
  return cases;
}

// Every case under every rule; nothing of a case that Ctrl-C cut short.
Expected<std::vector<CaseResult>> run_cases(const std::vector<StabilityCase>& cases, const Names& rules,
                                            const ExperimentArguments& arguments) {
  std::vector<std::optional<RuleMeasures>> slots(cases.size() * rules.size());
  Progress progress("schedules", slots.size());
  SHAPLEY_TRY(run_parallel(slots.size(), arguments.threads, [&](std::size_t i) -> Expected<void> {
    const StabilityCase& one = cases[i / rules.size()];
    const std::string& rule = rules[i % rules.size()];
    PolicyOptions options;
    options.seed = arguments.seed;
    SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rule, one.instance, options));
    const scheduling::SimulationResult result = scheduling::simulate(one.instance, *policy);
    slots[i] = RuleMeasures{rule, measure_stability(one.instance, result.schedule, k_week),
                            measure_stability(one.instance, result.schedule, k_hour).deviation_late};
    progress.one_more();
    return {};
  }));
  std::vector<CaseResult> results;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    CaseResult result{cases[c].name, cases[c].about, {}};
    for (std::size_t r = 0; r < rules.size(); ++r) {
      auto& slot = slots[c * rules.size() + r];
      if (slot) result.rules.push_back(std::move(*slot));
    }
    if (result.rules.size() == rules.size()) results.push_back(std::move(result));
  }
  return results;
}

Expected<WindowsResult> compare_with(const ExperimentTrace& source, const workload::Trace& trace, std::int64_t length,
                                     std::string reference, Names rules, const ExperimentArguments& arguments) {
  CompareArguments compared;
  compared.settings.processors = source.processors;
  compared.settings.length.value = length;
  compared.settings.windows = arguments.windows.value_or(k_windows);
  compared.settings.seed = arguments.seed;
  compared.settings.reference = std::move(reference);
  compared.settings.policies = std::move(rules);
  compared.baseline = compared.settings.policies.front();
  if (!arguments.organizations.empty()) compared.settings.organizations = arguments.organizations.front();
  SHAPLEY_TRY(complete(compared, trace));
  WindowsResult result{source.name, compared.settings, 0, {}};
  Progress progress(source.name + " against " + compared.settings.reference, compared.settings.windows);
  SHAPLEY_TRY_ASSIGN(const auto windows,
                     run_windows(trace, compared.settings, 0, compared.settings.windows, arguments.threads, progress));
  result.windows = windows.size();
  if (!windows.empty()) result.summaries = summarize_policies(compared.settings, windows, compared.baseline);
  return result;
}

// Against ref under the published rule: everything. Against ref with a horizon: the others with the same one.
Expected<void> run_on_windows(const ExperimentTrace& source, const Names& policies,
                              const ExperimentArguments& arguments, std::vector<WindowsResult>& results) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
  Names estimators = policies;
  std::erase(estimators, "ref");
  const auto lengths = arguments.length ? std::vector{*arguments.length} : std::vector<std::int64_t>{50'000, 500'000};
  for (const std::int64_t length : lengths) {
    Names rules = rules_of(estimators);
    for (const Duration horizon : stability_horizons())
      if (horizon.value > 0) rules.push_back(policy_text("ref", {horizon, {}}));
    const game::ServingRule& by_default = game::k_default_rule;
    rules.push_back(policy_text("ref", {by_default.horizon, {}, by_default.running}));
    rules.emplace_back(k_fair_share);
    SHAPLEY_TRY_ASSIGN(auto published, compare_with(source, trace, length, "ref", rules, arguments));
    results.push_back(std::move(published));
    for (const Duration horizon : stability_horizons()) {
      if (horizon.value == 0) continue;
      Names same;
      for (const std::string& policy : estimators)
        for (const game::Guarantee guarantee : stability_guarantees())
          same.push_back(policy_text(policy, {horizon, guarantee}));
      if (horizon == by_default.horizon) {
        // How near a rule comes to ref that looks as far ahead, what runs counted or not.
        for (const std::string& policy : estimators)
          for (const std::int32_t weight : {100'000, 250'000, 1'000'000})
            same.push_back(policy_text(policy, {horizon, {}, {weight}}));
      }
      same.emplace_back(k_fair_share);
      SHAPLEY_TRY_ASSIGN(auto ahead,
                         compare_with(source, trace, length, policy_text("ref", {horizon, {}}), same, arguments));
      results.push_back(std::move(ahead));
    }
  }
  return {};
}

Expected<void> draw(const ExperimentArguments& arguments, const Names& policies,
                    const std::vector<CaseResult>& results) {
  Names rules;
  for (const std::string& policy : policies) {
    if (policy == "ref") continue;
    rules.push_back(policy);
    rules.push_back(policy_text(policy, {game::k_default_rule.horizon, {}}));
    rules.push_back(policy_text(policy, game::k_default_rule));
  }
  rules.emplace_back(k_fair_share);
  for (const CaseResult& result : results)
    SHAPLEY_TRY(plot_case(arguments.plot / ("stability-" + result.name + ".svg"), result, rules));
  return {};
}

}  // namespace

Expected<int> experiment_stability(const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY(check_parts(arguments));
  const Names policies = arguments.policies.empty() ? Names{"direct_contr", "shapley_rate", "ref"} : arguments.policies;
  Names rules = rules_of(policies);
  rules.insert(rules.end(), {k_fair_share, "fair_tree"});
  SHAPLEY_TRY_ASSIGN(const auto cases, cases_of(arguments));
  SHAPLEY_TRY_ASSIGN(const auto results, run_cases(cases, rules, arguments));
  std::vector<DebtResult> debts;
  if (has_part(arguments, "debts") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(debts, run_debts(rules, arguments.seed, arguments.threads));
  }
  std::vector<MaintenanceResult> maintenance;
  if (has_part(arguments, "maintenance") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(maintenance, run_maintenance(arguments.seed, arguments.threads));
  }
  std::vector<WindowsResult> windows;
  if (has_part(arguments, "windows") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
    for (const ExperimentTrace& source : traces) SHAPLEY_TRY(run_on_windows(source, policies, arguments, windows));
  }
  const std::vector<Criterion> criteria = judge(rules, results, windows);
  if (arguments.json) {
    Json json = {{"experiment", arguments.name}, {"cases", Json::array()}, {"debts", Json::array()}};
    json["maintenance"] = Json::array();
    json["windows"] = Json::array();
    json["criteria"] = Json::array();
    for (const CaseResult& result : results) json["cases"].push_back(to_json(result));
    for (const DebtResult& result : debts) json["debts"].push_back(to_json(result));
    for (const MaintenanceResult& result : maintenance) json["maintenance"].push_back(to_json(result));
    for (const WindowsResult& result : windows) json["windows"].push_back(to_json(result));
    for (const Criterion& criterion : criteria) json["criteria"].push_back(to_json(criterion));
    out << json_text(json, 1) << '\n';
  } else {
    for (const CaseResult& result : results) print_case(result, out);
    print_maintenance(maintenance, out);
    print_debts(debts, out);
    for (const WindowsResult& result : windows) print_windows(result, out);
    print_criteria(criteria, out);
  }
  if (!arguments.plot.empty()) SHAPLEY_TRY(draw(arguments, policies, results));
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

}  // namespace shapley::sim
