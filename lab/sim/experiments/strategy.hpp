// `experiment strategy`: a small live cluster (strategy_world.cpp), the attacks on it (strategy_attacks.cpp), their
// measures, and the results for people and programs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"
#include "sim/comparison.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

// A small live cluster: jobs arrive, wait, run and are withdrawn, and books as shapleyd keeps them (accounting::State)
// determine which job is served next. The books learn what happens by the events that shapleyd's observer writes.
//
// The scheduler is a list without preemption and without reservations, like Slurm's sched/builtin, except that it skips
// jobs that do not fit: whenever something is free, jobs are tried in the order of their organizations' ranks, then as
// they came, each on the first nodes that it may use. Ranks are computed again after every start.
//
// Pure and deterministic. Time begins at Instant{0} and goes in whole seconds.
struct ClusterNode {
  std::string name;
  std::uint32_t owner = 0;  // index of an organization
  std::int64_t processors = 1;
};

struct ClusterJob {
  std::uint32_t organization = 0;  // the organization of the work and of its account
  Instant submit;
  Duration duration{1};
  std::int64_t processors = 1;       // may be spread over nodes
  std::vector<std::uint32_t> nodes;  // that it may use, ascending; empty: any
  std::int64_t useful = 1;           // processors that do useful work for its organization; 0: junk

  // Strategic actions of its user. 0 and nullopt: none.
  bool goes_last = false;                      // tried when no other job of any organization fits (--nice)
  Duration give_up_after;                      // cancelled when it has waited for so long
  std::optional<std::uint32_t> other_account;  // every k_move_every it is moved to the account with the better rank
};
inline constexpr Duration k_move_every{60};

struct ClusterScenario {
  std::vector<std::string> organizations;
  std::vector<ClusterNode> nodes;  // ascending by name
  std::vector<ClusterJob> jobs;    // at one instant they are submitted in this order
  Duration length;
};

// The rule by which the books rank, and the information that shapleyd gives them.
struct ClusterRules {
  std::string contribution = "direct_contr";
  game::ServingRule serving = game::k_horizon_rule;
  bool retraction = true;  // withdrawn demand is taken back; false: its wait only ends
  bool placements = true;  // waits and runs have the nodes that they may use; false: any
  bool nice = true;        // a job that goes last is no demand; false: it is
};

struct ClusterRun {
  std::size_t job = 0;        // index in the scenario
  std::uint32_t account = 0;  // the organization that is charged
  Instant begin;
  Instant end;                           // at most the scenario's length
  std::vector<std::int64_t> processors;  // by node
};

struct ClusterOutcome {
  std::vector<ClusterRun> runs;                 // as they began
  std::vector<accounting::Standing> standings;  // by organization of the scenario, at its end
};

// An event that the books refuse is an error: no scenario leads to one.
[[nodiscard]] Expected<ClusterOutcome> run_cluster(const ClusterScenario& scenario, const ClusterRules& rules);

// What an organization gains by an attack, compared with honest behaviour.
struct StrategyMeasures {
  double work = 0;  // useful processor seconds that were done for it
  double phi = 0;   // by the estimator that ranks, processor seconds squared
  // Mean over the useful processor seconds of its jobs: from the submission until that second was done; work that is
  // not done counts until the end.
  double delay_s = 0;
};
[[nodiscard]] StrategyMeasures measure_strategy(const ClusterScenario& scenario, const ClusterOutcome& outcome,
                                                std::uint32_t organization, std::string_view estimator);

struct StrategyChange {
  double work_percent = 0;
  std::optional<double> phi_percent;  // nullopt: the honest organization is credited nothing
  double delay_s = 0;
};
constexpr auto description_of(std::type_identity<StrategyChange>) {
  using C = StrategyChange;
  return describe(member("work_percent", &C::work_percent), member("phi_percent", &C::phi_percent),
                  member("delay_s", &C::delay_s));
}
// REQUIRES: the honest organization got work.
[[nodiscard]] StrategyChange change_of(const StrategyMeasures& honest, const StrategyMeasures& played);

// The results of `experiment strategy` for people and programs.
//
// The change of the attacker compared with honest behaviour, over seeds.
struct StrategyEffect {
  Summary work_percent;
  std::optional<Summary> phi_percent;  // nullopt: the honest organization is credited nothing
  Summary delay_s;
};
[[nodiscard]] Json json_value(const StrategyEffect& effect);
// REQUIRES: at least one change.
[[nodiscard]] StrategyEffect summarize_changes(const std::vector<StrategyChange>& changes);

struct AttackResult {
  std::string attack;
  std::string about;
  std::optional<std::string> remedy;
  StrategyEffect with;                   // with the remedy, or as it is
  std::optional<StrategyEffect> before;  // without the remedy
};
constexpr auto description_of(std::type_identity<AttackResult>) {
  using R = AttackResult;
  return describe(member("attack", &R::attack), member("about", &R::about), member("remedy", &R::remedy),
                  member("change", &R::with), member("change_without_remedy", &R::before));
}

// One case under one estimator.
struct StrategyTable {
  std::string name;
  std::string about;
  std::string contribution;
  std::size_t seeds = 0;  // that were finished
  std::vector<AttackResult> rows;
};
constexpr auto description_of(std::type_identity<StrategyTable>) {
  using T = StrategyTable;
  return describe(member("case", &T::name), member("about", &T::about), member("contribution", &T::contribution),
                  member("seeds", &T::seeds), member("attacks", &T::rows));
}
void print_strategy(const StrategyTable& table, std::ostream& out);
// Prints the attacks, a line each.
void print_attacks(const StrategyTable& table, std::ostream& out);

// The attacks of `experiment strategy` and the clusters on which they run.
//
// Three owners of a node of 8 processors each and an organization without nodes. The first owner sends more than it
// owns, the others less, so there is capacity to lend and to claim. Run times are uniform from 10 s to 310 s; jobs of
// 1, 2 or 4 processors. Same seed, same jobs, on any machine.
struct StrategyCase {
  std::string name;   // "load_0.80", "load_1.05", "saturated"
  std::string about;  // one line
  double load = 1;    // submitted work, as a part of what the cluster can do
};
[[nodiscard]] const std::vector<StrategyCase>& strategy_cases();

// The scenario without any attack.
[[nodiscard]] ClusterScenario honest_scenario(const StrategyCase& chosen, std::uint64_t seed);

// Attacks, as changes of one organization's honest jobs (docs/strategy.md). The work that it wants stays the same, to
// the processor second; junk is added to it.
//
// The mechanism that prevents a gain, which can be switched off in ClusterRules.
enum class Remedy { none, retraction, placements, nice };
[[nodiscard]] std::string_view name_of(Remedy remedy);  // "-", "retraction", ...

struct Attack {
  std::string_view name;
  std::string_view about;  // one line
  Remedy remedy = Remedy::none;
  std::uint32_t attacker = 0;  // an organization of honest_scenario
  void (*apply)(ClusterScenario& scenario, std::uint32_t attacker) = nullptr;
};
[[nodiscard]] std::span<const Attack> attacks();

// The same rules without the remedy.
[[nodiscard]] ClusterRules without(Remedy remedy, ClusterRules rules);

}  // namespace shapley::sim
