// Every policy with its rule, its paper and its cost, but those of simulated coalitions (coalition_policy.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/utility_functions.hpp"

namespace shapley::scheduling {

// REF, the exact fair schedule for psi_sp [SR13 Fig. 3]: serve the organization with the greatest phi - psi, where phi
// is the Shapley value over the schedules that every subcoalition would have had by this same rule. So horizon and
// guarantee apply in every subcoalition, too: v and psi of each are taken a horizon ahead, and its members that are
// below their guarantee are served first.
//
// How, and at what cost: fair_schedules.hpp. k <= 16 and memory within k_max_ref_memory; beyond, use RAND or
// ShapleyRate.
inline constexpr std::uint64_t k_max_ref_memory = std::uint64_t{4} << 30U;

// Bytes that make_ref's policy takes at most, for 1 <= organizations <= k_max_lattice_organizations.
[[nodiscard]] std::uint64_t ref_memory_bound(const Instance& instance);

// REQUIRES: 1 <= organizations <= k_max_lattice_organizations. The caller checks ref_memory_bound.
[[nodiscard]] std::unique_ptr<Policy> make_ref(const Instance& instance, const game::ServingRule& rule = {});

// REF for an arbitrary utility [SR13 Fig. 1]: every coalition has a schedule of its own, and a free processor goes to
// the organization that brings the utilities nearest to the contributions.
//
// Starting u's first job in C changes u's utility, and v(C), by d = psi(new) - psi(old), and so every member's phi by
// d/|C|. u minimizes the Manhattan distance  sum over w in C of | phi[w] + d/|C| - psi[w] - (w == u ? d : 0) |.
//
// Where the figure is ambiguous: its last sum is taken over w != u, as its text says; phi keeps its d/|C| when the next
// job of the instant is placed; and ties, which are the rule where d = 0, go to the greatest phi - psi (Figure 3's
// rule), then to the lowest organization. So with psi_sp, whose d is always 0, the schedule is that of Figure 3
// (make_ref, which is faster).
//
// Smaller coalitions decide first, since their v at t may depend on what they start at t. Exact integers, phi in
// |C|!-ths. 2^k schedules, and a sweep over all of them wherever one has a choice: for studies of utilities, k <= 10.

inline constexpr std::size_t k_ref_arbitrary_organizations = 10;

// REQUIRES: 1 <= organizations <= k_ref_arbitrary_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_ref_arbitrary(const Instance& instance, const UtilityFunction& utility);

// RAND(N), the randomized approximation of REF [SR13 Fig. 6]: phi[u] is the mean marginal contribution of u over N
// permutations of the organizations. Every coalition that is a prefix of one of them, the grand one included, is valued
// by a simplified greedy schedule: FCFS by (release, input position). At most N*k schedules.
//
// For unit jobs, N = ceil( k^2 / eps^2 * ln(k / (1 - lambda)) ) keeps |phi - psi| within eps*|v| of REF's with
// probability lambda [SR13 Thm. 5.6].

using Permutation = std::vector<std::uint32_t>;

// N permutations drawn uniformly from `seed`.
[[nodiscard]] std::vector<Permutation> draw_permutations(std::size_t organizations, std::size_t count,
                                                         std::uint64_t seed);

struct RandAccuracy {
  double epsilon = 0.1;  // > 0
  double lambda = 0.9;   // in (0, 1)
};
[[nodiscard]] std::size_t permutations_for(std::size_t organizations, const RandAccuracy& accuracy);

// REQUIRES: organizations <= k_coalition_organizations; every permutation holds each organization once.
[[nodiscard]] std::unique_ptr<Policy> make_rand(const Instance& instance, const std::vector<Permutation>& permutations,
                                                const game::ServingRule& rule = {});

// Hindsight: the Shapley value of what coalitions would have done alone, strictly online. Every coalition has a virtual
// schedule under FCFS, made from what is known: a job whose duration is not known yet never ends there, and when it
// becomes known the schedules are made again from where it matters (virtual_schedules.hpp). The gap between what the
// real schedule did and the virtual one of all is shared by those that were present (gap_shares.hpp): organizations
// with processors always, the others while they have open jobs. It serves the greatest phi - psi, subject to horizon
// and guarantee.
//
// All coalitions (up to k_hindsight_organizations), or those of COALITIONS(pairs), O(k^2) of them
// (coalition_policy.hpp).

inline constexpr std::size_t k_hindsight_organizations = 12;

class HindsightPolicy : public Policy {
 public:
  // At t, the time reached, by organization: of those that wait the smallest is served first (lattice_keys.hpp).
  [[nodiscard]] virtual const std::vector<Int128>& keys(std::int64_t t) = 0;
  // v of every coalition that has a virtual schedule, at t.
  [[nodiscard]] virtual std::vector<std::pair<Coalition, std::int64_t>> virtual_values(std::int64_t t) = 0;
};

// REQUIRES: 1 <= organizations <= k_hindsight_organizations; no rigid jobs.
[[nodiscard]] std::unique_ptr<HindsightPolicy> make_hindsight(const Instance& instance,
                                                              const game::ServingRule& rule = {});
// REQUIRES: 1 <= organizations <= k_coalition_organizations; no rigid jobs.
[[nodiscard]] std::unique_ptr<HindsightPolicy> make_hindsight_pair(const Instance& instance,
                                                                   const game::ServingRule& rule = {});

// DIRECTCONTR [FS13 Algorithm 1]: phi[u] is psi over the processors that u owns, no matter whose jobs run on them;
// serve the greatest phi - psi, as the rule says of horizon and guarantee.
//
// The printed algorithm exchanges phi and psi in lines 15-16 and counts each job's first unit twice (lines 13-14 and
// 22-23); this is the definition those lines mean. A started job takes a processor at random among the free ones: the
// owner is drawn with probability free[o] / free, the same law as a random permutation of the processors. `identity`
// takes the lowest-numbered free processor instead (processors numbered organization by organization).
//
// A cluster chooses nodes in its own way, and the credit follows them. With `taken`, the owners of the processors that
// were taken on it in each second, in order, a job that starts in that second takes the first of these that is free.
// When none is left it takes a processor of the owner with the fewest free ones, as Slurm fills nodes.
using TakenProcessors = std::map<std::int64_t, std::vector<std::uint32_t>>;

struct DirectContrOptions {
  bool identity = false;
  std::uint64_t seed = 1;
  game::ServingRule rule{};
  TakenProcessors taken{};  // empty: it is not known
};

[[nodiscard]] std::unique_ptr<Policy> make_direct_contr(const Instance& instance, DirectContrOptions options);

// ShapleyRate (ours): contribution accrues at the Shapley value of the instantaneous game
//     v_t(C) = min( sum over u in C of d[u](t),  sum over u in C of m[u] ),   d[u] = running + waiting processors of u
// and the greatest phi - psi is served, as the rule says of horizon and guarantee. It needs no durations and no
// simulated coalitions (docs/equations.md).
//
//   exact         rates in k!-ths of a processor, O(2^k) when a demand changed
//   sampled       mean of one random permutation and its reverse per interval: unbiased, O(k)
//   leave_one_out r[u] = 1/2 ( min(d,m) + min(D,M) - min(D-d, M-m) )
enum class RateMethod { exact, sampled, leave_one_out };

struct ShapleyRateOptions {
  RateMethod method = RateMethod::exact;
  std::uint64_t seed = 1;
  game::ServingRule rule{};
};

// REQUIRES for exact: organizations <= k_max_lattice_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_shapley_rate(const Instance& instance, ShapleyRateOptions options);

// The rules that the papers compare with, and two that others use; none of them has a contribution.
//
// The fair shares serve the smallest  measure[u] / m[u]. Ratios are compared by cross-multiplication, exactly. m[u] = 0
// makes a ratio infinite (served last). Ties go to the lowest organization.
//
// FAIRSHARE [SR13 Sec. 7, FS13 Sec. 5]: serve the smallest (processor time used up to t) / m[u].
[[nodiscard]] std::unique_ptr<Policy> make_fair_share(const Instance& instance);

// UTFAIRSHARE [FS13 Sec. 5]: serve the smallest psi[u](t) / m[u].
[[nodiscard]] std::unique_ptr<Policy> make_ut_fair_share(const Instance& instance);

// CURRFAIRSHARE [SR13 Sec. 7]: serve the smallest (running jobs of u) / m[u], which changes within an instant.
[[nodiscard]] std::unique_ptr<Policy> make_curr_fair_share(const Instance& instance);

// ROUNDROBIN [SR13 Sec. 7]: the organizations in turn. The pointer starts at organization 0 and moves past the one
// served.
[[nodiscard]] std::unique_ptr<Policy> make_round_robin(const Instance& instance);

// FCFS: the earliest (release, position in the input), of whichever organization.
[[nodiscard]] std::unique_ptr<Policy> make_fcfs(const Instance& instance);

// FAIRTREE, an outside baseline: what Slurm's priority/multifactor does by default (PriorityFlags without
// NO_FAIR_TREE), with the organizations as sibling accounts whose raw shares are their processors.
//
// Siblings are ranked by level fairshare  LF[u] = S[u] / U[u],  S = m[u] / M and U = usage[u] / sum of usage, so by
// m[u] / usage[u]: the largest is served. No usage makes LF infinite, no shares make it 0. As in Slurm, usage changes
// only every PriorityCalcPeriod and forgets with PriorityDecayHalfLife, by the factor that slurmctld uses:
//     usage[u] <- ( usage[u] + processor seconds of the period ) * (1 - 0.693 / half_life) ^ period
// Usage is a double, as in Slurm; every operation is an IEEE product or sum, so results are the same on every machine.
struct FairTreeOptions {  // Slurm's defaults
  Duration period{300};
  Duration half_life{std::int64_t{7} * 24 * 3600};
  // Of equals, as all are until the first period ends, the organization goes first whose first job was submitted first:
  // so does Slurm. Otherwise the lowest one.
  bool ties_by_submission = false;
};
// REQUIRES: both positive.
[[nodiscard]] std::unique_ptr<Policy> make_fair_tree(const Instance& instance, const FairTreeOptions& options = {});

// KARMA, an outside baseline: credits of Vuppalapati et al., "Karma: Resource Allocation for Dynamic Demands" (OSDI
// 2023, Algorithm 1), carried from slices that are dealt again each quantum to processors that jobs keep.
//
// u's fair share is m[u]; half of it is guaranteed (the paper's alpha = 1/2). Per second, u's credits
//     grow by  m[u] / 2                                   the shared half, dealt out as credit, equally
//     grow by  u's donated processors that are borrowed   donated = max(0, m[u]/2 - demand[u]), the poorest lends first
//     fall by  running[u] - m[u]/2, where positive        what is borrowed
// A free processor goes to a waiting organization below its guarantee first, else to the one with most credits. The
// quantum is the interval between two events. Deviations: jobs are not preempted and the schedule is greedy, so credits
// may fall below 0. Everything is kept in halves of a processor second: exact.
[[nodiscard]] std::unique_ptr<Policy> make_karma(const Instance& instance);

}  // namespace shapley::scheduling
