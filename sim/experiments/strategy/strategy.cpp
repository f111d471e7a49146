#include "sim/experiments/strategy/strategy.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "sim/exit_code.hpp"
#include "sim/experiments/strategy/strategy_attacks.hpp"
#include "sim/experiments/strategy/strategy_cases.hpp"
#include "sim/experiments/strategy/strategy_measures.hpp"
#include "sim/experiments/strategy/strategy_report.hpp"
#include "sim/output/progress.hpp"
#include "sim/registry.hpp"
#include "sim/system/interrupt.hpp"
#include "sim/system/parallel.hpp"

namespace shapley::sim {

namespace {

constexpr std::size_t k_seeds = 20;

struct Changes {
  StrategyChange with;
  std::optional<StrategyChange> before;
};
// Of one case, estimator and seed: by chosen attack.
using Played = std::vector<Changes>;

struct Plan {
  std::vector<StrategyCase> cases;
  std::vector<Attack> attacks;
  std::vector<std::string> contributions;  // with their rules, as the registry reads them
  std::size_t seeds = k_seeds;
  std::uint64_t first_seed = 1;
};

// --cases names cases and attacks; of the kind that it does not name, all.
template <typename Item>
std::vector<Item> chosen(std::span<const Item> all, const std::vector<std::string>& names) {
  std::vector<Item> items;
  for (const Item& item : all)
    if (std::find(names.begin(), names.end(), item.name) != names.end()) items.push_back(item);
  if (items.empty()) items.assign(all.begin(), all.end());
  return items;
}

template <typename Item>
bool is_named(std::span<const Item> all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const Item& item) { return item.name == name; });
}

Expected<void> check_names(const ExperimentArguments& arguments) {
  const std::span<const StrategyCase> cases(strategy_cases());
  for (const std::string& name : arguments.cases) {
    if (is_named(cases, name) || is_named(attacks(), name)) continue;
    std::string known;
    for (const StrategyCase& one : cases) known += (known.empty() ? "" : ", ") + one.name;
    for (const Attack& attack : attacks()) known.append(", ").append(attack.name);
    return fail(Errc::invalid_argument, "--cases: \"" + name + "\" is unknown; known are " + known);
  }
  for (const std::string& name : arguments.policies) {
    const auto policy = parse_policy(name, game::k_default_rule);
    if (!policy) return tl::unexpected<Error>(policy.error());
    if (accounting::parse_estimator(policy->name)) continue;
    std::string known;
    for (const std::string_view one : accounting::estimator_names())
      known.append(known.empty() ? "" : ", ").append(one);
    return fail(Errc::invalid_argument,
                "--policies: \"" + name + "\" is no contribution that shapleyd ranks by; these are " + known);
  }
  return {};
}

Plan plan_of(const ExperimentArguments& arguments) {
  Plan plan{chosen(std::span<const StrategyCase>(strategy_cases()), arguments.cases),
            chosen(attacks(), arguments.cases), arguments.policies, arguments.instances.value_or(k_seeds),
            arguments.seed};
  if (plan.contributions.empty()) {
    for (const std::string_view name : accounting::estimator_names()) plan.contributions.emplace_back(name);
  }
  return plan;
}

// The honest run once, and every attack with its remedy and without it. Nothing after Ctrl-C.
Expected<std::optional<Played>> play(const StrategyCase& one, const std::vector<Attack>& chosen_attacks,
                                     const std::string& text, std::uint64_t seed) {
  const ClusterScenario honest = honest_scenario(one, seed);
  SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(text, game::k_default_rule));
  const std::string& contribution = named.name;
  const ClusterRules rules{.contribution = contribution, .serving = named.rule, .once_a_pass = named.once};
  SHAPLEY_TRY_ASSIGN(const ClusterOutcome peace, run_cluster(honest, rules));
  Played played;
  for (const Attack& attack : chosen_attacks) {
    if (interrupted()) return std::optional<Played>{};
    ClusterScenario attacked = honest;
    attack.apply(attacked, attack.attacker);
    const StrategyMeasures fair = measure_strategy(honest, peace, attack.attacker, contribution);
    SHAPLEY_TRY_ASSIGN(const ClusterOutcome with, run_cluster(attacked, rules));
    Changes changes{change_of(fair, measure_strategy(attacked, with, attack.attacker, contribution)), std::nullopt};
    if (attack.remedy != Remedy::none) {
      SHAPLEY_TRY_ASSIGN(const ClusterOutcome before, run_cluster(attacked, without(attack.remedy, rules)));
      changes.before = change_of(fair, measure_strategy(attacked, before, attack.attacker, contribution));
    }
    played.push_back(changes);
  }
  return std::optional<Played>(std::move(played));
}

AttackResult result_of(const Attack& attack, std::size_t place, const std::vector<Played>& seeds) {
  std::vector<StrategyChange> with;
  std::vector<StrategyChange> before;
  for (const Played& played : seeds) {
    with.push_back(played[place].with);
    if (played[place].before) before.push_back(*played[place].before);
  }
  AttackResult result{std::string(attack.name), std::string(attack.about), std::string(name_of(attack.remedy)),
                      summarize_changes(with), std::nullopt};
  if (!before.empty()) result.before = summarize_changes(before);
  return result;
}

Expected<std::vector<StrategyTable>> run_plan(const Plan& plan, unsigned threads) {
  const std::size_t tables = plan.cases.size() * plan.contributions.size();
  std::vector<std::optional<Played>> slots(tables * plan.seeds);
  Progress progress("seeds", slots.size());
  SHAPLEY_TRY(run_parallel(slots.size(), threads, [&](std::size_t i) -> Expected<void> {
    const std::size_t table = i / plan.seeds;
    SHAPLEY_TRY_ASSIGN(slots[i],
                       play(plan.cases[table / plan.contributions.size()], plan.attacks,
                            plan.contributions[table % plan.contributions.size()], plan.first_seed + i % plan.seeds));
    progress.one_more();
    return {};
  }));
  const auto done = std::count_if(slots.begin(), slots.end(), [](const auto& slot) { return slot.has_value(); });
  say_unfinished(static_cast<std::size_t>(done), slots.size(), "seeds");
  std::vector<StrategyTable> results;
  for (std::size_t table = 0; table < tables; ++table) {
    std::vector<Played> finished;
    for (std::size_t seed = 0; seed < plan.seeds; ++seed)
      if (auto& slot = slots[table * plan.seeds + seed]) finished.push_back(std::move(*slot));
    if (finished.empty()) continue;
    const StrategyCase& one = plan.cases[table / plan.contributions.size()];
    StrategyTable result{
        one.name, one.about, plan.contributions[table % plan.contributions.size()], finished.size(), {}};
    for (std::size_t a = 0; a < plan.attacks.size(); ++a)
      result.rows.push_back(result_of(plan.attacks[a], a, finished));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

Expected<int> experiment_strategy(const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY(check_names(arguments));
  SHAPLEY_TRY_ASSIGN(const auto tables, run_plan(plan_of(arguments), arguments.threads));
  if (arguments.json) {
    Json json = {{"experiment", arguments.name}, {"tables", Json::array()}};
    for (const StrategyTable& table : tables) json["tables"].push_back(to_json(table));
    out << json_text(json, 1) << '\n';
  } else if (!tables.empty()) {
    print_attacks(tables.front(), out);
    for (const StrategyTable& table : tables) print_strategy(table, out);
  }
  return interrupted() ? k_exit_interrupted : k_exit_done;
}

}  // namespace shapley::sim
