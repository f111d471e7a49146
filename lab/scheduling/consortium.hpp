// Clusters of one consortium: jobs stay on their cluster, and each cluster ranks by its own figures and the others'.
//
// v(C) is the sum of what coalition C does on each cluster, and the Shapley value is linear, so that the key of u is
//
//     K[u] = sum over clusters c of  ( S + H R + k (rate - used) )[c][u]       [game/serving_order.hpp; k: its c]
//
// The guarantee is by cluster: it concerns what u owns and runs on the cluster that decides. k is by cluster, too, and
// so is the mean residual run time in it. By a rule that brakes (game/braking.hpp) S' and R' are such sums, and U is
// made of what u owns on all clusters.
//
// A cluster knows its own present figures. Those of the others it knows as of the last multiple of `every`, with
// everything that had happened by then; h seconds later they are taken to be
//
//     S + h R + h(h+1)/2 (rate - used),     R + h (rate - used),     rate - used
//
// which is exact as long as nothing starts or ends there and rates stay. After h = `stale_after` S and R stay as they
// are then, and rate - used counts no more, because what ran has ended by then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "game/serving_order.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/simulate.hpp"

namespace shapley::scheduling {

struct ConsortiumRule {
  game::ServingRule serving;
  bool by_sum = true;  // false: each cluster ranks by its own figures
  Duration every{60};  // >= 1 s
  Duration stale_after = k_end_of_time - Instant{0};
};

// One of the clusters. The organizations are the same on all, in one order; some may own nothing here.
struct ConsortiumCluster {
  const Instance* instance = nullptr;
  Policy* policy = nullptr;  // keeps the books: only its standings count, not what it would choose
};

// The figures h >= 0 seconds after `figures` were taken.
[[nodiscard]] KeyFigures extrapolated(const KeyFigures& figures, Duration h);

struct ConsortiumResult {
  std::vector<SimulationResult> clusters;
  std::vector<std::vector<Standings>> standings;  // by sampled instant, cluster
};

// `samples`: instants up to the end, ascending.
//
// REQUIRES: instances with one number of organizations, at most k_max_lattice_organizations, and one end, all jobs of
// one processor; policies of one kind, made for their instances, that have standings.
[[nodiscard]] ConsortiumResult simulate_consortium(std::span<const ConsortiumCluster> clusters,
                                                   const ConsortiumRule& rule, std::span<const Instant> samples);

}  // namespace shapley::scheduling
