// What the organizations are owed on the other clusters of a consortium, as far as it is known here
// (events/consortium_events.hpp). Every cluster c ranks by
//
//     K[u](t) = sum over c of  w_c * [ S + H * R + k * (rate - used) ]_{c,u}(t)
//
// S = phi - psi, R = work given - work got; H and k: the terms of its own rule (game/serving_order.hpp). By a rule that
// brakes (game/braking.hpp) S' and R' are such sums, and U is a part of what u owns on all clusters. Here K is in
// processors of this cluster, so each w_c is divided by this cluster's own.
//
// Between two statements of a cluster its figures are extrapolated as those of these books are while nothing starts or
// ends: h seconds after the statement
//
//     S(t + h) = S(t) + h * R(t) + h(h+1)/2 * A,    R(t + h) = R(t) + h * A,    A = rate - used at t
//
// so only the change of A is not known: |error of K| <= w_c P_c h (H + h/2), P_c the cluster's processors. After
// `stale_after` S and R stay as they are and A counts no more, because what ran has ended by then: two clusters that
// both went on would both correct the same debt.
//
// A weight holds from its declaration on. When it changes from v to w at T, S and R become
//
//     w S(t) + (v - w) [S(T) + (t - T) R(T)],    w R(t) + (v - w) R(T),
//
// so nothing jumps at T; what the brackets add is recorded with the declaration (OtherCluster::earlier).
//
// Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// The other cluster of this name; nullptr: no such cluster.
[[nodiscard]] const OtherCluster* find_cluster(const ConsortiumDeclared& consortium, std::string_view cluster);
// The name here of the organization called `there` on the other cluster; nullptr: it is none of this cluster's, because
// the one that has its name here has another name there.
[[nodiscard]] const std::string* name_here(const OtherCluster& cluster, const std::string& there);

// `stale_after` of the cluster; if none is configured, the mean residual run time, an hour at least.
[[nodiscard]] Duration stale_after(const OtherCluster& cluster, Duration residual);

// The figures after `h` seconds in which nothing starts or ends. REQUIRES: h >= 0.
[[nodiscard]] KeyFigures figures_after(const KeyFigures& figures, Duration h);
// Figures of a cluster of `weight` in processors of one of weight `own`; rounded down. Processors are 2^56 millionths
// at most, so that those of all clusters of a consortium have a sum. REQUIRES: both are weights.
[[nodiscard]] KeyFigures weighted(const KeyFigures& figures, std::int64_t weight, std::int64_t own);
[[nodiscard]] ProcessorMillionths weighted(ProcessorMillionths processors, std::int64_t weight, std::int64_t own);

// `OtherCluster::earlier` of a cluster, for a declaration `after` at its instant, when `before` was in force: the
// weights of before hold for what was given and got until then, those of `after` for what follows. `statement`: the
// cluster's last one; nullptr: no statement came, and nothing was counted. Empty, too, of a cluster that `before` does
// not name.
[[nodiscard]] std::vector<EarlierFigures> earlier_figures(const ConsortiumDeclared& before,
                                                          const ConsortiumDeclared& after, std::string_view cluster,
                                                          const StandingReceived* statement, Duration residual,
                                                          Period period);

// What an organization has on one other cluster, in processors of this one.
struct FiguresElsewhere {
  std::string organization;  // its name here
  KeyFigures figures;
  ProcessorMillionths owned;
  friend bool operator==(const FiguresElsewhere&, const FiguresElsewhere&) = default;
};

// What one other cluster contributes to the keys of this one's organizations, at one instant.
struct ClusterShare {
  std::string cluster;
  const StandingReceived* statement = nullptr;  // the last one; nullptr: none came yet
  // From when on its figures do not change; k_end_of_time: never. At most the instant asked for: they are stale now.
  Instant stale_at = k_end_of_time;
  std::vector<FiguresElsewhere> organizations = {};  // ascending by the name there
};

// `statements`: the last one of each cluster. In the order of consortium.clusters. From a statement that is older than
// the present period only what its organizations held is used: its other figures are of an earlier period.
[[nodiscard]] std::vector<ClusterShare> shares_of(const ConsortiumDeclared& consortium,
                                                  std::span<const StandingReceived* const> statements,
                                                  Duration residual, Period period, Instant now);

}  // namespace shapley::accounting
