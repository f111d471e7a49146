// What a standing statement cannot say, by what it says itself: a cluster of P processors whose books have counted for
// h seconds has done at most P h of work, so of each organization
//
//     |given - got|, less what was settled, <= k P h
//     |S|, likewise,                        <= k P h (h + 1) / 2
//     |rate - used|                         <= 2 P
//
// and between two statements, d seconds apart, R and S leave what they were carried on to by as much of d. P are all
// its nodes, whole (ClusterFigures::whole). Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "accounting/events/consortium_events.hpp"

namespace shapley::ledger {

// Nodes may have left since the begin of the period.
inline constexpr std::int64_t k_most_processors_left = 10;
// Facts reach the books some seconds late.
inline constexpr Duration k_facts_late{60};

// The first figure that no cluster's books say; empty: none is.
[[nodiscard]] std::string impossible(const accounting::ClusterFigures& figures);

// What an organization cannot have given or got between two statements of one ledger, the largest first; empty:
// nothing. That is named, not refused: runs that were imported, corrections of the past and settlements do it, too, and
// by hindsight the past is restated whenever a run ends, so then nothing is said.
[[nodiscard]] std::string jump(const accounting::ClusterFigures& next, const accounting::ClusterFigures& last);

}  // namespace shapley::ledger
