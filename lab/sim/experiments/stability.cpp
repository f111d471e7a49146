#include "sim/experiments/stability.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "charts/plot.hpp"
#include "game/serving_order.hpp"
#include "scheduling/simulate.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/registry.hpp"
#include "sim/system.hpp"

namespace shapley::sim {

namespace {

using Names = std::vector<std::string>;

constexpr std::array<const char*, 11> k_cases{"saturated", "load_1.05", "bursty", "head_start", "maintenance", "debts",
                                              "years",     "windows",   "worlds", "members",    "search"};
constexpr Duration k_hour{3600};
constexpr Duration k_week{7 * k_day_s};
// A few windows carry the mean: with 100 of them its standard error is a half and more.
constexpr std::size_t k_windows = 400;

bool is_chosen(const ExperimentArguments& arguments, const std::string& name) {
  return arguments.cases.empty() ||
         std::find(arguments.cases.begin(), arguments.cases.end(), name) != arguments.cases.end();
}

// Of those that are about the rule that brakes: only by their names.
bool is_named(const ExperimentArguments& arguments, const std::string& name) {
  return !arguments.cases.empty() && is_chosen(arguments, name);
}

Expected<void> check_cases(const ExperimentArguments& arguments) {
  for (const std::string& name : arguments.cases) {
    if (std::find(k_cases.begin(), k_cases.end(), name) != k_cases.end()) continue;
    return fail(Errc::invalid_argument, "--cases: \"" + name +
                                            "\" is unknown; known are saturated, load_1.05, bursty, head_start, "
                                            "maintenance, debts, years, windows, worlds, members and search");
  }
  return {};
}

Expected<std::vector<StabilityCase>> cases_of(const ExperimentArguments& arguments) {
  std::vector<StabilityCase> cases = made_cases(arguments.seed);
  std::erase_if(cases, [&](const StabilityCase& made) { return !is_chosen(arguments, made.name); });
  if (!is_chosen(arguments, "years")) return cases;
  SHAPLEY_TRY_ASSIGN(auto years, year_cases(arguments));
  std::move(years.begin(), years.end(), std::back_inserter(cases));
  return cases;
}

struct MeasuredCase {
  std::string name;
  std::string about;
  std::string jobs;  // their digest
  std::size_t rules = 0;
};
constexpr auto description_of(std::type_identity<MeasuredCase>) {
  using C = MeasuredCase;
  return describe(member("case", &C::name), member("about", &C::about), member("jobs", &C::jobs),
                  member("rules", &C::rules));
}
struct MeasuredStability {
  std::vector<MeasuredCase> cases{};
  Units<RuleMeasures> schedules{};  // of the first case under all rules, then of the next one
  Units<Settled> debts{};
  Units<MaintenanceResult> maintenance{};
  Units<DebtMeasures> worlds{};
  Units<MemberMeasures> members{};
  Units<SearchedWorld> search{};
  std::vector<ComparedWindows> windows{};
};
constexpr auto description_of(std::type_identity<MeasuredStability>) {
  using M = MeasuredStability;
  return describe(member("cases", &M::cases), member("schedules", &M::schedules), member("debts", &M::debts),
                  member("maintenance", &M::maintenance), member("worlds", &M::worlds), member("members", &M::members),
                  member("search", &M::search), member("windows", &M::windows));
}

Expected<void> run_cases(const Names& rules, const ExperimentArguments& arguments, MeasuredStability& measured) {
  SHAPLEY_TRY_ASSIGN(const auto cases, cases_of(arguments));
  for (const StabilityCase& one : cases)
    measured.cases.push_back({one.name, one.about, digest_of(one.instance), rules.size()});
  const auto run = [&](std::size_t i) -> Expected<RuleMeasures> {
    const StabilityCase& one = cases[i / rules.size()];
    const std::string& rule = rules[i % rules.size()];
    PolicyOptions options;
    options.seed = arguments.seed;
    SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rule, one.instance, options));
    const scheduling::SimulationResult result = scheduling::simulate(one.instance, *policy);
    return RuleMeasures{rule, measure_stability(one.instance, result.schedule, k_hour).deviation_late,
                        measure_stability(one.instance, result.schedule, k_week)};
  };
  SHAPLEY_TRY_ASSIGN(measured.schedules,
                     run_units<RuleMeasures>("schedules", cases.size() * rules.size(), arguments, run));
  return {};
}

// A case that Ctrl-C cut short is left out.
Expected<std::vector<CaseResult>> cases_of(const MeasuredStability& measured) {
  std::vector<CaseResult> results;
  std::size_t unit = 0;
  for (const MeasuredCase& one : measured.cases) {
    CaseResult result{one.name, one.about, {}};
    for (std::size_t r = 0; r < one.rules && unit < measured.schedules.size(); ++r)
      if (const auto& schedule = measured.schedules[unit++]) result.rules.push_back(*schedule);
    if (result.rules.size() == one.rules) results.push_back(std::move(result));
  }
  SHAPLEY_TRY(expect_units(unit, measured.schedules.size()));
  return results;
}

Expected<void> compare_with(const ExperimentTrace& source, const workload::Trace& trace, std::int64_t length,
                            std::string reference, Names rules, const ExperimentArguments& arguments,
                            std::vector<ComparedWindows>& windows) {
  if (interrupted()) return {};
  ComparisonSettings settings;
  settings.length.value = length;
  settings.windows = k_windows;
  settings.reference = std::move(reference);
  settings.policies = std::move(rules);
  if (!arguments.organizations.empty()) settings.organizations = arguments.organizations.front();
  SHAPLEY_TRY_ASSIGN(ComparedWindows compared, compare_windows(source, trace, settings, arguments));
  windows.push_back(std::move(compared));
  return {};
}

// Against ref under the published rule: all rules. Against ref with a horizon: the rules with that horizon.
Expected<void> run_on_windows(const ExperimentTrace& source, const Names& policies,
                              const ExperimentArguments& arguments, std::vector<ComparedWindows>& results) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
  Names estimators = policies;
  std::erase(estimators, "ref");
  const auto lengths = arguments.length ? std::vector{*arguments.length} : std::vector<std::int64_t>{50'000, 500'000};
  for (const std::int64_t length : lengths) {
    Names rules = rules_of(estimators);
    for (const Duration horizon : stability_horizons())
      if (horizon.value > 0) rules.push_back(policy_text("ref", {horizon, {}}));
    const game::ServingRule& by_default = game::k_horizon_rule;
    rules.push_back(policy_text("ref", {by_default.horizon, {}, by_default.running}));
    rules.emplace_back(k_fair_share);
    SHAPLEY_TRY(compare_with(source, trace, length, "ref", rules, arguments, results));
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
      SHAPLEY_TRY(compare_with(source, trace, length, policy_text("ref", {horizon, {}}), same, arguments, results));
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
    rules.push_back(policy_text(policy, {game::k_horizon_rule.horizon, {}}));
    rules.push_back(policy_text(policy, game::k_horizon_rule));
  }
  rules.emplace_back(k_fair_share);
  for (const CaseResult& result : results)
    SHAPLEY_TRY(plot_case(arguments.plot / ("stability-" + result.name + ".svg"), result, rules));
  return {};
}

constexpr int k_rule_width = 32;

double days(Duration duration) {
  return static_cast<double>(duration.value) / static_cast<double>(k_day_s);
}

// nullptr if the case was not run under this rule.
const StabilityMeasures* measures_of(const CaseResult& result, const std::string& rule) {
  const auto place =
      std::find_if(result.rules.begin(), result.rules.end(), [&](const RuleMeasures& m) { return m.rule == rule; });
  return place == result.rules.end() ? nullptr : &place->measures;
}

const PolicySummary* summary_of(const WindowsResult& result, const std::string& rule) {
  const auto place = std::find_if(result.summaries.begin(), result.summaries.end(),
                                  [&](const PolicySummary& s) { return s.policy == rule; });
  return place == result.summaries.end() ? nullptr : &*place;
}

std::string place_of(const WindowsResult& result) {
  return result.trace + ", windows of " + short_number(static_cast<double>(result.settings.length.value)) + " s";
}

void judge_case(const CaseResult& result, const std::string& rule, std::vector<Criterion>& criteria) {
  const StabilityMeasures* found = measures_of(result, rule);
  const StabilityMeasures* fair = measures_of(result, k_fair_share);
  if (found == nullptr || fair == nullptr) return;
  criteria.push_back({k_wait, result.name, rule, days(found->longest_wait), k_wait_factor * days(fair->longest_wait)});
  criteria.push_back({k_deviation, result.name, rule, 100 * found->deviation_late,
                      100 * (k_deviation_factor * fair->deviation_late + k_deviation_margin)});
}

// shapleyd's.
game::ServingRule default_rule() {
  const game::Guarantee guarantee = game::k_default_guarantee;
  return {.horizon = {}, .guarantee = guarantee, .pace = game::pace_under(guarantee)};
}
bool is_default(const std::string& rule) {
  const auto parsed = parse_policy(rule, {});
  return parsed && parsed->rule == default_rule() && !parsed->once;
}

// Prints for every rule "failed / tested" by criterion. REQUIRES: the criteria of a rule are adjacent.
void print_broken(const std::vector<Criterion>& criteria, std::ostream& out) {
  constexpr std::array k_kinds{k_wait, k_deviation, k_unfairness};
  out << "## Criteria broken, of those asked\n\n" << std::left << std::setw(k_rule_width) << "RULE" << std::right;
  for (const char* kind : k_kinds) out << std::setw(30) << kind;
  out << '\n';
  for (auto first = criteria.begin(); first != criteria.end();) {
    const auto last =
        std::find_if(first, criteria.end(), [&](const Criterion& criterion) { return criterion.rule != first->rule; });
    out << std::left << std::setw(k_rule_width) << first->rule << std::right;
    for (const char* kind : k_kinds) {
      const auto of_kind = [&](const Criterion& criterion) { return criterion.what == kind; };
      const auto asked = std::count_if(first, last, of_kind);
      const auto broken = std::count_if(first, last, [&](const Criterion& c) { return of_kind(c) && !c.holds(); });
      out << std::setw(30) << std::to_string(broken) + " / " + std::to_string(asked);
    }
    out << '\n';
    first = last;
  }
}

std::size_t most_varying(const StabilityMeasures& measures) {
  std::size_t most = 0;
  for (std::size_t u = 1; u < measures.shares.size(); ++u)
    if (deviation_of(measures.shares[u]) > deviation_of(measures.shares[most])) most = u;
  return most;
}

struct StabilityReport {
  std::string experiment;
  std::vector<CaseResult> cases{};
  std::vector<DebtResult> debts{};
  std::vector<MaintenanceResult> maintenance{};
  Units<DebtMeasures> worlds{};
  Units<MemberMeasures> members{};
  std::vector<SearchedWorld> search{};
  std::vector<WindowsResult> windows{};
  std::vector<Criterion> criteria{};
};
constexpr auto description_of(std::type_identity<StabilityReport>) {
  using R = StabilityReport;
  return describe(member("experiment", &R::experiment), member("cases", &R::cases), member("debts", &R::debts),
                  member("maintenance", &R::maintenance), member("worlds", &R::worlds), member("members", &R::members),
                  member("search", &R::search), member("windows", &R::windows), member("criteria", &R::criteria));
}

Names policies_of(const ExperimentArguments& arguments) {
  return arguments.policies.empty() ? Names{"direct_contr", "shapley_rate", "ref"} : arguments.policies;
}

Names all_rules(const ExperimentArguments& arguments) {
  Names rules = rules_of(policies_of(arguments));
  rules.insert(rules.end(), {k_fair_share, "fair_tree"});
  return rules;
}

Expected<MeasuredStability> measure_all(const ExperimentArguments& arguments) {
  SHAPLEY_TRY(check_cases(arguments));
  const Names rules = all_rules(arguments);
  MeasuredStability measured;
  SHAPLEY_TRY(run_cases(rules, arguments, measured));
  if (is_chosen(arguments, "debts") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(measured.debts, run_debts(rules, arguments));
  }
  if (is_chosen(arguments, "maintenance") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(measured.maintenance, run_maintenance(arguments));
  }
  if (is_named(arguments, "worlds") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(measured.worlds, run_worlds(rules_for_debts(policies_of(arguments)), arguments));
  }
  if (is_named(arguments, "members") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(measured.members, run_members(rules_for_members(policies_of(arguments)), arguments));
  }
  if (is_named(arguments, "search") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(measured.search, run_search(arguments));
  }
  if (is_chosen(arguments, "windows") && !interrupted()) {
    SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
    for (const ExperimentTrace& source : traces)
      SHAPLEY_TRY(run_on_windows(source, policies_of(arguments), arguments, measured.windows));
  }
  return measured;
}

Expected<void> report_all(const MeasuredStability& measured, const ExperimentArguments& arguments, std::ostream& out) {
  const Names rules = all_rules(arguments);
  StabilityReport report{.experiment = arguments.name,
                         .maintenance = finished_units(measured.maintenance),
                         .worlds = measured.worlds,
                         .members = measured.members,
                         .search = finished_units(measured.search)};
  SHAPLEY_TRY_ASSIGN(report.cases, cases_of(measured));
  SHAPLEY_TRY_ASSIGN(report.debts, debts_of(rules, measured.debts));
  for (const ComparedWindows& compared : measured.windows) {
    SHAPLEY_TRY_ASSIGN(ComparedOutcome outcome, outcome_of(compared, compared.policies.front(), arguments));
    report.windows.push_back({compared.trace, outcome.settings, outcome.results.size(), std::move(outcome.summaries)});
  }
  report.criteria = judge(rules, report.cases, report.windows);
  if (arguments.json) {
    out << text_of(json_of<Json>(report), 1) << '\n';
  } else {
    for (const CaseResult& result : report.cases) print_case(result, out);
    print_maintenance(report.maintenance, out);
    print_debts(report.debts, out);
    print_worlds(rules_for_debts(policies_of(arguments)), measured.worlds, arguments, out);
    print_members(rules_for_members(policies_of(arguments)), measured.members, arguments.seed, out);
    print_search(measured.search, out);
    for (const WindowsResult& result : report.windows) print_windows(result, out);
    print_criteria(report.criteria, out);
  }
  if (arguments.plot.empty()) return {};
  SHAPLEY_TRY(plot_worlds(rules_for_debts(policies_of(arguments)), measured.worlds, arguments));
  return draw(arguments, policies_of(arguments), report.cases);
}

}  // namespace

Experiment stability_experiment() {
  return experiment_of<measure_all, report_all>();
}

std::vector<Criterion> judge(const std::vector<std::string>& rules, const std::vector<CaseResult>& cases,
                             const std::vector<WindowsResult>& windows) {
  std::vector<Criterion> criteria;
  for (const std::string& rule : rules) {
    for (const CaseResult& result : cases) judge_case(result, rule, criteria);
    for (const WindowsResult& result : windows) {
      const PolicySummary* found = summary_of(result, rule);
      const PolicySummary* measure = summary_of(result, k_measure);
      if (result.settings.reference != "ref" || found == nullptr || measure == nullptr) continue;
      criteria.push_back({k_unfairness, place_of(result), rule, found->unfairness.mean,
                          k_unfairness_factor * measure->unfairness.mean});
    }
  }
  return criteria;
}

void print_case(const CaseResult& result, std::ostream& out) {
  out << "## " << result.name << ": " << result.about << "\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::right << std::setw(10) << "LONGEST" << std::setw(10)
      << "NO START" << std::setw(9) << "SD LATE" << std::setw(9) << "SD ALL" << std::setw(9) << "SD HOUR"
      << "  MEAN WAIT OF EACH ORGANIZATION\n"
      << std::left << std::setw(k_rule_width) << "" << std::right << std::setw(10) << "days" << std::setw(10) << "days"
      << std::setw(9) << "points" << std::setw(9) << "points" << std::setw(9) << "points"
      << "  hours\n";
  for (const auto& [rule, hourly, measures] : result.rules) {
    out << std::left << std::setw(k_rule_width) << rule << std::right << std::setw(10)
        << fixed(days(measures.longest_wait), 1) << std::setw(10) << fixed(days(measures.longest_without_start), 1)
        << std::setw(9) << fixed(100 * measures.deviation_late, 1) << std::setw(9) << fixed(100 * measures.deviation, 1)
        << std::setw(9) << fixed(100 * hourly, 1) << ' ';
    for (const double wait : measures.mean_wait_s) out << std::setw(7) << fixed(wait / 3600, 0);
    out << '\n';
  }
  out << '\n';
}

void print_windows(const WindowsResult& result, std::ostream& out) {
  out << "## " << place_of(result) << ": unfairness of " << counted(result.windows, "window") << " against "
      << result.settings.reference << "\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::right << std::setw(11) << "MEAN, s" << std::setw(11)
      << "STD.ERR" << std::setw(9) << "RATIO" << std::setw(9) << "STD.ERR" << '\n';
  for (const PolicySummary& summary : result.summaries) {
    const auto& error = summary.unfairness.standard_error;
    out << std::left << std::setw(k_rule_width) << summary.policy << std::right << std::setw(11)
        << short_number(summary.unfairness.mean) << std::setw(11) << (error ? short_number(*error) : "-")
        << std::setw(9) << fixed(summary.ratio, 2) << std::setw(9)
        << (summary.ratio_error ? fixed(*summary.ratio_error, 2) : "-") << '\n';
  }
  out << "\nRATIO is to the first rule.\n\n";
}

void print_criteria(const std::vector<Criterion>& criteria, std::ostream& out) {
  if (criteria.empty()) return;
  out << "## Does the default hold (braking, guarantee " << game::format_guarantee(game::k_default_guarantee)
      << ")?\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::setw(34) << "WHERE" << std::setw(30) << "WHAT"
      << std::right << std::setw(10) << "FOUND" << std::setw(10) << "ALLOWED"
      << "\n";
  std::size_t kept = 0;
  std::size_t asked = 0;
  for (const Criterion& criterion : criteria) {
    if (!is_default(criterion.rule)) continue;
    ++asked;
    kept += criterion.holds() ? 1U : 0U;
    out << std::left << std::setw(k_rule_width) << criterion.rule << std::setw(34) << criterion.where << std::setw(30)
        << criterion.what << std::right << std::setw(10) << fixed(criterion.found, 2) << std::setw(10)
        << fixed(criterion.allowed, 2) << (criterion.holds() ? "  holds" : "  BROKEN") << '\n';
  }
  out << '\n' << kept << " of " << asked << " hold.\n\n";
  print_broken(criteria, out);
}

Json json_value(const WindowsResult& result) {
  Json rules = Json::array();
  for (const PolicySummary& summary : result.summaries) {
    rules.push_back({{"rule", summary.policy},
                     {"mean", summary.unfairness.mean},
                     {"standard_error", json_of<Json>(summary.unfairness.standard_error)},
                     {"ratio", summary.ratio},
                     {"ratio_standard_error", json_of<Json>(summary.ratio_error)}});
  }
  return {{"trace", result.trace},
          {"length", result.settings.length.value},
          {"reference", result.settings.reference},
          {"windows", result.windows},
          {"rules", rules}};
}

Json json_value(const Criterion& criterion) {
  return {{"rule", criterion.rule},   {"where", criterion.where},     {"what", criterion.what},
          {"found", criterion.found}, {"allowed", criterion.allowed}, {"holds", criterion.holds()}};
}

Expected<void> plot_case(const std::filesystem::path& file, const CaseResult& result,
                         const std::vector<std::string>& rules) {
  std::vector<charts::PlotLine> lines;
  std::size_t organization = 0;
  for (const std::string& rule : rules) {
    const StabilityMeasures* measures = measures_of(result, rule);
    if (measures == nullptr) continue;
    if (lines.empty()) organization = most_varying(*measures);
    charts::PlotLine line{.label = rule, .x = {}, .y = {}, .dashed = rule == k_fair_share, .color = lines.size()};
    for (std::size_t week = 0; week < measures->shares[organization].size(); ++week) {
      line.x.push_back(static_cast<double>(week + 1));
      line.y.push_back(100 * measures->shares[organization][week]);
    }
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  return charts::plot_lines(
      file,
      {.title = "Organization " + std::to_string(organization) + "'s share of the machine: " + result.about,
       .x = "week",
       .y = "per cent"},
      lines);
}

}  // namespace shapley::sim
