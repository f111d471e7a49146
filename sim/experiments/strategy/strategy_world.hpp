// A small cluster, live: jobs come, wait, run and are withdrawn, and books as shapleyd keeps them (accounting::State)
// say who is served next. What happens is told to the books by the events that shapleyd's observer writes.
//
// The scheduler is a list without preemption and without reservations, as Slurm's sched/builtin that passes over what
// does not fit: whenever something is free, jobs are tried in the order of their organizations' ranks, then as they
// came, each on the first nodes that it may use. Ranks are asked for anew after every start, or once for all that
// starts at one instant.
//
// Pure and deterministic. Time begins at Instant{0} and goes in whole seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"

namespace shapley::sim {

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

// By what the books rank, and what shapleyd tells them.
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

}  // namespace shapley::sim
