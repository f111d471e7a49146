// Which waiting tasks go first [WF13 Sec. 2, Eq. 6, Algorithms 1 and 2].
//
// When eta > tau, every activity with w - W_min > tau of a workflow with W - W_min > tau gets
//     Delta = Q - floor((tau + W_min) (Q + R P) / T^)
// of its waiting tasks raised, the oldest: the least number that brings its estimated w down to W_min + tau.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "workflow/settings.hpp"

namespace shapley::workflow {

// How unfairly an organization's workflows share what runs: fractions of pending work [WF13 Sec. 2, Eq. 1 to 5].
//
// A workflow consists of activities, an activity of tasks that wait, run or are completed. With Q waiting and R running
// tasks, the median duration t~ of the completed ones, and t_u the estimated duration of a running one,
//     w = Q / (Q + R P) T^,   P = 2 (1 - max t_u / (t~ + t_u)),   T^ = t~ / max t~ of all active activities,
// W of a workflow is the greatest w of its active activities, and the unfairness eta = W_max - W_min. P and T^ are 1
// until two tasks are completed. Exact fractions of any size; tasks count once each, or with a weight (processors).

using Fraction = boost::multiprecision::cpp_rational;

// Setup, input, execution, output, in any unit of time; a phase that has not begun is 0.
using Phases = std::array<std::int64_t, 4>;

struct Activity {
  std::int64_t waiting = 0;          // Q, eligible tasks only
  std::vector<Phases> running;       // R of them, elapsed so far
  std::vector<Phases> completed;     // durations
  std::int64_t running_weight = -1;  // R when tasks count in processors; -1: one each

  [[nodiscard]] std::int64_t running_count() const {
    return running_weight >= 0 ? running_weight : static_cast<std::int64_t>(running.size());
  }
  [[nodiscard]] bool active() const { return waiting > 0 || !running.empty(); }
};

struct Workflow {
  std::vector<Activity> activities;
};

struct ActivityState {
  std::optional<Fraction> median;   // t~, with two completed tasks or more
  std::vector<Fraction> estimates;  // t_u of the running tasks, where the median is known
  Fraction relative_duration = 1;   // T^
  Fraction performance = 1;         // P
  Fraction pending = 0;             // w
};

struct Unfairness {
  std::vector<std::vector<ActivityState>> activities;  // as the input's
  std::vector<std::optional<Fraction>> pending;        // W of each workflow; none when it has no active activity
  Fraction least = 0;                                  // W_min
  Fraction degree = 0;                                 // eta; 0 with fewer than two active workflows
};

// REQUIRES: no negative duration or count.
[[nodiscard]] Unfairness measure_unfairness(const std::vector<Workflow>& workflows, const Measure& measure);

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
