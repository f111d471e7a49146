// Which waiting tasks go first [WF13 Sec. 2, Eq. 6, Algorithms 1 and 2].
//
// When eta > tau, every activity with w - W_min > tau of a workflow with W - W_min > tau gets
//     Delta = Q - floor((tau + W_min) (Q + R P) / T^)
// of its waiting tasks raised, the oldest: the least number that brings its estimated w down to W_min + tau.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workflow/pending_work.hpp"

namespace shapley::workflow {

struct Raise {
  std::size_t workflow = 0;
  std::size_t activity = 0;
  std::int64_t tasks = 0;  // Delta, 1 .. Q
};

// Whether the loop acts at all: eta > tau, strictly.
[[nodiscard]] inline bool is_unfair(const Unfairness& unfairness, const Fraction& threshold) {
  return unfairness.degree > threshold;
}

// How many waiting tasks must start, estimated, until w comes down to `bar`: Delta of the equation above, with `bar`
// for tau + W_min; 0 when w is no greater. REQUIRES: `state` was measured on `activity`, bar >= 0.
[[nodiscard]] std::int64_t tasks_above(const Activity& activity, const ActivityState& state, const Fraction& bar);

// Empty unless is_unfair; by workflow, then activity. REQUIRES: `unfairness` was measured on `workflows`, threshold >=
// 0.
[[nodiscard]] std::vector<Raise> reprioritize(const std::vector<Workflow>& workflows, const Unfairness& unfairness,
                                              const Fraction& threshold);

}  // namespace shapley::workflow
