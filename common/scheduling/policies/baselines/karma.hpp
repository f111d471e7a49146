// KARMA, an outside baseline: credits of Vuppalapati et al., "Karma: Resource Allocation for Dynamic Demands" (OSDI
// 2023, Algorithm 1), carried from slices that are dealt anew each quantum to processors that jobs keep.
//
// u's fair share is m[u]; half of it is guaranteed (the paper's alpha = 1/2). Per second, u's credits
//     grow by  m[u] / 2                                   the shared half, dealt out as credit to everybody
//     grow by  u's donated processors that are borrowed   donated = max(0, m[u]/2 - demand[u]), lent by the poorest
//     donor first fall by  running[u] - m[u]/2, where positive        what is borrowed
// A free processor goes to a waiting organization below its guarantee first, else to the one with most credits. The
// quantum is the interval between two events. Deviations: jobs are not preempted and the schedule is greedy, so credits
// may fall below 0. Everything is kept in halves of a processor second: exact.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_karma(const Instance& instance);

}  // namespace shapley::scheduling
