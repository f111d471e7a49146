// Random small scenarios as sets of events, for the property tests. They shrink.
#pragma once

#include <algorithm>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rapidcheck.h>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting::scenario {

// Everything happens in steps 0 to k_steps from k_begin on; in steps of a second a month ends in the middle.
inline constexpr Instant k_begin{1'711'929'580};  // 2024-03-31T23:59:40Z
inline constexpr Instant k_month_end{1'711'929'600};
inline constexpr int k_steps = 36;

struct Shape {
  Duration step{1};
  int organizations = 3;
  int declarations = 1;    // of periods, at most
  int always_waiting = 0;  // so many organizations have a job that never starts
  bool sharing = true;     // nodes may be worth less than their runs claim
  bool counting = true;    // CPUs of nodes may be counted
  int asked_every = 1;     // event or so, on the way: for many organizations an answer takes long
  [[nodiscard]] constexpr Instant at(int steps) const {
    return {k_begin.value + std::min(steps, k_steps) * step.value};
  }
  // After everything that happens.
  [[nodiscard]] constexpr Instant end() const { return at(k_steps) + Duration{3 * step.value}; }
};

// Periods are crossed many times: a step is eleven days and some.
inline constexpr Shape k_years{Duration{1'000'003}, 3, 4};
// More organizations at once than the Shapley value is computed exactly for.
inline constexpr Shape k_crowd{Duration{1}, 25, 1, 25, true, true, 26};

struct Scenario {
  std::vector<Event> events;
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);  // for RapidCheck's counterexamples

// Jobs that wait, run, are suspended, resized, retracted; waits that are withdrawn in part; runs that say since when
// they could have started, whether they were seen to wait or not; tasks of arrays that start out of one wait; nodes
// that change hands while jobs run on them; capacities that change, and count the node's CPUs or not; waits that may
// use some nodes only, and which; amounts that are settled, and taken back; a declared period. Facts of one scenario
// never contradict each other.
[[nodiscard]] rc::Gen<Scenario> arbitrary(Shape shape = {});

[[nodiscard]] std::vector<Event> shuffled(std::vector<Event> events);

// Applies all events; fails the property if State refuses one.
void apply_all(State& state, const std::vector<Event>& events);

// What State says, by name, in the witness's terms; contributions by these estimators.
[[nodiscard]] std::map<std::string, std::string> rows_as_text(
    const State& state, const std::vector<Standing>& standings,
    std::span<const std::string_view> estimators = estimator_names());

}  // namespace shapley::accounting::scenario
