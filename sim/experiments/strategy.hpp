// `experiment strategy`: a small cluster, live (strategy_world.cpp), the games that are played on it
// (strategy_attacks.cpp), what they are measured by, and the results for people and programs.
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

// A small cluster, live: jobs come, wait, run and are withdrawn, and books as shapleyd keeps them (accounting::State)
// say who is served next. The books learn what happens by the events that shapleyd's observer writes.
//
// The scheduler is a list without preemption and without reservations, as Slurm's sched/builtin that passes over what
// does not fit: whenever something is free, jobs are tried in the order of their organizations' ranks, then as they
// came, each on the first nodes that it may use. Ranks are asked for again after every start, or once for all that
// starts at one instant.
//
// Pure and deterministic. Time begins at Instant{0} and goes in whole seconds.
struct ClusterNode {
  std::string name;
  std::uint32_t owner = 0;  // index of an organization
  std::int64_t processors = 1;
};

struct ClusterJob {
  std::uint32_t organization = 0;  // whose work it is, and whose account it is submitted under
  Instant submit;
  Duration duration{1};
  std::int64_t processors = 1;       // may be spread over nodes
  std::vector<std::uint32_t> nodes;  // that it may use, ascending; empty: any
  std::int64_t useful = 1;           // processors that do what its organization wants; 0: junk
  double wanted = 0;                 // when that work came up, seconds: waits are measured from there

  // What its user does besides. 0 and nullopt: nothing.
  bool goes_last = false;      // tried when no other job fits, of whatever organization (--nice)
  Duration give_up_after;      // cancelled when it has waited so long
  Duration resubmit_every;     // cancelled and submitted again when it has waited so long, again and again
  std::uint32_t requeues = 0;  // so often it is requeued k_requeue_run after its start, and its work is lost
  std::optional<std::uint32_t> other_account;  // looked at every k_move_every: moved to the one with the better rank
};
inline constexpr Duration k_requeue_run{5};
inline constexpr Duration k_requeue_delay{120};  // Slurm's
inline constexpr Duration k_move_every{60};

// In [from, to) no job starts on the node and it offers nothing; what runs there goes on.
struct Drain {
  std::uint32_t node = 0;
  Instant from;
  Instant to;
};

struct ClusterScenario {
  std::vector<std::string> organizations;
  std::vector<ClusterNode> nodes;  // ascending by name
  std::vector<ClusterJob> jobs;    // at one instant they are submitted in this order
  std::vector<Drain> drains;       // after Instant{0}; of one node: apart
  Duration length;
};

// What the books rank by, and what shapleyd passes to them.
struct ClusterRules {
  std::string contribution = "direct_contr";
  game::ServingRule serving = game::k_default_rule;
  bool once_a_pass = false;  // ranks are asked for once an instant
  bool retraction = true;    // demand that is withdrawn is taken back; false: its wait only ends
  bool placements = true;    // waits and runs say which nodes they may use; false: any
  bool nice = true;          // what goes last is no demand; false: it is
};

struct ClusterRun {
  std::size_t job = 0;        // index in the scenario
  std::uint32_t account = 0;  // the organization that is charged
  Instant begin;
  Instant end;                           // at most the scenario's length
  std::vector<std::int64_t> processors;  // by node
  bool lost = false;                     // requeued: its work has to be done again
};

struct ClusterOutcome {
  std::vector<ClusterRun> runs;                 // as they began
  std::vector<accounting::Standing> standings;  // by organization of the scenario, at its end
};

// What the books refuse is an error: there is no such scenario.
[[nodiscard]] Expected<ClusterOutcome> run_cluster(const ClusterScenario& scenario, const ClusterRules& rules);

// What an organization has of a game, and how it compares with playing none.
struct StrategyMeasures {
  double work = 0;  // useful processor seconds that were done for it
  double phi = 0;   // by the estimator that ranks, processor seconds squared
  // Mean over the useful processor seconds of its jobs: from when the work came up until that second was done; what is
  // not done counts until the end. Cutting and joining jobs leaves it comparable, as it does not count jobs.
  double delay_s = 0;
};
[[nodiscard]] StrategyMeasures measure_strategy(const ClusterScenario& scenario, const ClusterOutcome& outcome,
                                                std::uint32_t organization, std::string_view estimator);

struct StrategyChange {
  double work_percent = 0;
  std::optional<double> phi_percent;  // none: the honest organization is credited nothing
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
// The attacker's change against playing honestly, over seeds.
struct StrategyEffect {
  Summary work_percent;
  std::optional<Summary> phi_percent;  // none: the honest organization is credited nothing
  Summary delay_s;
};
[[nodiscard]] Json json_value(const StrategyEffect& effect);
// REQUIRES: at least one.
[[nodiscard]] StrategyEffect summarize_changes(const std::vector<StrategyChange>& changes);

struct AttackResult {
  std::string attack;
  std::string about;
  std::optional<std::string> remedy;
  StrategyEffect with;                   // the remedy, or what there is
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
// What the attacks are, a line each.
void print_attacks(const StrategyTable& table, std::ostream& out);

// The games of `experiment strategy` and the clusters on which they are played.
//
// Three owners of a node of 8 processors each and an organization without nodes. The first owner sends more than it
// owns, the others less, so there is something to lend and to claim. Run times are uniform from 10 s to 310 s; jobs of
// 1, 2 or 4 processors. Same seed, same jobs, on any machine.
struct StrategyCase {
  std::string name;   // "load_0.80", "load_1.05", "saturated"
  std::string about;  // one line
  double load = 1;    // work that is submitted, as a part of what the cluster can do
};
[[nodiscard]] const std::vector<StrategyCase>& strategy_cases();

// What the organizations do who play no game.
[[nodiscard]] ClusterScenario honest_scenario(const StrategyCase& chosen, std::uint64_t seed);

// What a member could try, as changes of one organization's honest jobs (docs/strategy.md). The work that it wants done
// stays the same, to the processor second; what is junk comes on top.
//
// What keeps the member from gaining, and can be switched off in ClusterRules.
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
