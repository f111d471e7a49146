#include "sim/experiments/strategy.hpp"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/contract.hpp"
#include "base/text.hpp"
#include "game/braking.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/registry.hpp"
#include "sim/system.hpp"

namespace shapley::sim {

namespace {

constexpr std::size_t k_seeds = 20;

struct Changes {
  StrategyChange with;
  std::optional<StrategyChange> before;
};
constexpr auto description_of(std::type_identity<Changes>) {
  return describe(member("with", &Changes::with), member("before", &Changes::before));
}
// The changes of one case, estimator and seed, by chosen attack.
using Played = std::vector<Changes>;
struct Seeds {
  Units<Played> seeds;  // of the first case and contribution first
};
constexpr auto description_of(std::type_identity<Seeds>) {
  return describe(member("seeds", &Seeds::seeds));
}

struct Plan {
  std::vector<StrategyCase> cases;
  std::vector<Attack> attacks;
  std::vector<std::string> contributions;  // with their rules, as the registry reads them
  std::size_t seeds = k_seeds;
  std::uint64_t first_seed = 1;

  [[nodiscard]] std::size_t tables() const { return cases.size() * contributions.size(); }
};

// --cases names cases and attacks; if it names none of one kind, all of that kind.
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
    const auto policy = parse_policy(name, game::k_horizon_rule);
    if (!policy) return tl::unexpected<Error>(policy.error());
    if (policy->rule.pace != game::Pace{} && policy->rule.pace != game::pace_under(policy->rule.guarantee)) {
      return fail(Errc::invalid_argument, "--policies: \"" + name +
                                              "\" has a pace, and shapleyd's books, which rank here, have that of the "
                                              "guarantee; leave it out, as in " +
                                              policy->name + "@braking/0.5");
    }
    if (accounting::parse_estimator(policy->name) && !policy->once) continue;
    std::string known;
    for (const std::string_view one : accounting::estimator_names())
      known.append(known.empty() ? "" : ", ").append(one);
    return fail(Errc::invalid_argument,
                "--policies: \"" + name + "\" cannot rank the cluster; name " + known +
                    ", with a rule as in hindsight@7d/0.5/0.1 where the default is not wanted, and without \"/once\"");
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

// Runs the honest scenario once, and every attack with its remedy and without it. nullopt after Ctrl-C.
Expected<std::optional<Played>> play(const StrategyCase& one, const std::vector<Attack>& chosen_attacks,
                                     const std::string& text, std::uint64_t seed) {
  const ClusterScenario honest = honest_scenario(one, seed);
  SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(text, game::k_horizon_rule));
  const std::string& contribution = named.name;
  const ClusterRules rules{.contribution = contribution, .serving = named.rule};
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
  AttackResult result{std::string(attack.name), std::string(attack.about), std::nullopt, summarize_changes(with),
                      std::nullopt};
  if (attack.remedy != Remedy::none) result.remedy = name_of(attack.remedy);
  if (!before.empty()) result.before = summarize_changes(before);
  return result;
}

Expected<Seeds> measure_seeds(const ExperimentArguments& arguments) {
  SHAPLEY_TRY(check_names(arguments));
  const Plan plan = plan_of(arguments);
  Seeds measured;
  SHAPLEY_TRY_ASSIGN(
      measured.seeds, run_units<Played>("seeds", plan.tables() * plan.seeds, arguments, [&](std::size_t i) {
        const std::size_t table = i / plan.seeds;
        return play(plan.cases[table / plan.contributions.size()], plan.attacks,
                    plan.contributions[table % plan.contributions.size()], plan.first_seed + i % plan.seeds);
      }));
  return measured;
}

Expected<std::vector<StrategyTable>> tables_of(const Plan& plan, const Units<Played>& seeds) {
  SHAPLEY_TRY(expect_units(seeds.size(), plan.tables() * plan.seeds));
  std::vector<StrategyTable> results;
  for (std::size_t table = 0; table < plan.tables(); ++table) {
    std::vector<Played> finished;
    for (std::size_t seed = 0; seed < plan.seeds; ++seed) {
      const auto& played = seeds[table * plan.seeds + seed];
      if (!played) continue;
      SHAPLEY_TRY(expect_units(played->size(), plan.attacks.size()));
      finished.push_back(*played);
    }
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

double percent(double from, double to) {
  return 100 * (to - from) / from;
}

constexpr int k_name_width = 14;
constexpr int k_remedy_width = 12;
constexpr int k_figure_width = 17;

// "+1.2 (0.3)": the mean with its sign, and its standard error.
std::string figure(const Summary& summary, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << std::showpos << summary.mean + 0.0 << std::noshowpos;
  if (summary.standard_error) text << " (" << *summary.standard_error << ')';
  return text.str();
}

void print_effect(const StrategyEffect& effect, std::ostream& out) {
  out << std::setw(k_figure_width) << figure(effect.work_percent, 2) << std::setw(k_figure_width)
      << (effect.phi_percent ? figure(*effect.phi_percent, 2) : "-") << std::setw(k_figure_width)
      << figure(effect.delay_s, 1);
}

Summary summarize_seeds(const std::vector<double>& values) {
  std::vector<std::int64_t> clusters;
  for (std::size_t i = 0; i < values.size(); ++i) clusters.push_back(static_cast<std::int64_t>(i));
  return summarize(values, clusters);
}

struct StrategyReport {
  std::string experiment;
  std::vector<StrategyTable> tables;
};
constexpr auto description_of(std::type_identity<StrategyReport>) {
  return describe(member("experiment", &StrategyReport::experiment), member("tables", &StrategyReport::tables));
}

Expected<void> report_seeds(const Seeds& measured, const ExperimentArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const auto tables, tables_of(plan_of(arguments), measured.seeds));
  if (arguments.json) {
    out << text_of(json_of<Json>(StrategyReport{arguments.name, tables}), 1) << '\n';
  } else if (!tables.empty()) {
    print_attacks(tables.front(), out);
    for (const StrategyTable& table : tables) print_strategy(table, out);
  }
  return {};
}

}  // namespace

Experiment strategy_experiment() {
  return experiment_of<measure_seeds, report_seeds>();
}

StrategyMeasures measure_strategy(const ClusterScenario& scenario, const ClusterOutcome& outcome,
                                  std::uint32_t organization, std::string_view estimator) {
  StrategyMeasures measures;
  double delays = 0;
  double wanted = 0;
  std::vector<std::int64_t> missing(scenario.jobs.size());
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) missing[j] = scenario.jobs[j].duration.value;
  for (const ClusterRun& run : outcome.runs) {
    const ClusterJob& job = scenario.jobs[run.job];
    if (job.organization != organization) continue;
    const auto done = (run.end - run.begin).value;
    missing[run.job] -= done;
    const double work = static_cast<double>(job.useful * done);
    measures.work += work;
    // The second that begins at s is done at s + 1.
    delays +=
        work * (static_cast<double>(run.begin.value + 1 + run.end.value) / 2 - static_cast<double>(job.submit.value));
  }
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const ClusterJob& job = scenario.jobs[j];
    if (job.organization != organization) continue;
    wanted += static_cast<double>(job.useful * job.duration.value);
    delays += static_cast<double>(job.useful * missing[j] * (scenario.length.value - job.submit.value));
  }
  if (wanted > 0) measures.delay_s = delays / wanted;
  if (const auto id = accounting::parse_estimator(estimator))
    measures.phi = static_cast<double>(outcome.standings[organization].phi(*id).value) / static_cast<double>(k_micro);
  return measures;
}

StrategyChange change_of(const StrategyMeasures& honest, const StrategyMeasures& played) {
  StrategyChange change;
  change.work_percent = percent(honest.work, played.work);
  if (honest.phi > 0) change.phi_percent = percent(honest.phi, played.phi);
  change.delay_s = played.delay_s - honest.delay_s;
  return change;
}

StrategyEffect summarize_changes(const std::vector<StrategyChange>& changes) {
  SHAPLEY_REQUIRE(!changes.empty());
  std::vector<double> work;
  std::vector<double> phi;
  std::vector<double> delay;
  for (const StrategyChange& change : changes) {
    work.push_back(change.work_percent);
    if (change.phi_percent) phi.push_back(*change.phi_percent);
    delay.push_back(change.delay_s);
  }
  StrategyEffect effect{summarize_seeds(work), std::nullopt, summarize_seeds(delay)};
  if (phi.size() == changes.size()) effect.phi_percent = summarize_seeds(phi);
  return effect;
}

void print_strategy(const StrategyTable& table, std::ostream& out) {
  out << "## " << table.name << ", " << table.contribution << ": " << table.about << "; "
      << counted(table.seeds, "seed") << "\n\n"
      << std::left << std::setw(k_name_width) << "ATTACK" << std::setw(k_remedy_width) << "REMEDY" << std::right;
  for (const char* when : {"", "before: "}) {
    out << std::setw(k_figure_width) << std::string(when) + "WORK %" << std::setw(k_figure_width)
        << std::string(when) + "PHI %" << std::setw(k_figure_width) << std::string(when) + "DELAY s";
  }
  out << '\n';
  for (const AttackResult& row : table.rows) {
    out << std::left << std::setw(k_name_width) << row.attack << std::setw(k_remedy_width) << row.remedy.value_or("-")
        << std::right;
    print_effect(row.with, out);
    if (row.before) print_effect(*row.before, out);
    out << '\n';
  }
  out << '\n';
}

void print_attacks(const StrategyTable& table, std::ostream& out) {
  out << "Changes of the attacker's work, contribution and mean delay against playing honestly, mean (standard error)\n"
         "over seeds; before: without the remedy.\n\n";
  for (const AttackResult& row : table.rows)
    out << std::left << std::setw(k_name_width) << row.attack << row.about << '\n';
  out << '\n';
}

Json json_value(const StrategyEffect& effect) {
  const auto mean = [](const Summary& summary) -> Json {
    return {{"mean", summary.mean}, {"standard_error", json_of<Json>(summary.standard_error)}};
  };
  return {{"work_percent", mean(effect.work_percent)},
          {"phi_percent", effect.phi_percent ? mean(*effect.phi_percent) : Json(nullptr)},
          {"delay_s", mean(effect.delay_s)}};
}

}  // namespace shapley::sim
