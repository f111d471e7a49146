// Random small scenarios as sets of events, for the property tests. They shrink.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "fairness/event.hpp"
#include "fairness/state.hpp"

namespace shapley::fairness::scenario {

// Everything happens in [k_begin, k_begin + k_length]; a month ends in the middle.
inline constexpr Instant k_begin{1'711'929'580};  // 2024-03-31T23:59:40Z
inline constexpr Instant k_month_end{1'711'929'600};
inline constexpr std::int64_t k_length = 36;

struct Scenario {
  std::vector<Event> events;
};

// Jobs that wait, run, are suspended, resized, retracted; nodes that change hands while jobs run on them; capacities
// that change; a declared period. Facts of one scenario never contradict each other.
[[nodiscard]] rc::Gen<Scenario> arbitrary();

[[nodiscard]] std::vector<Event> shuffled(std::vector<Event> events);

// Applies all events; fails the property if State refuses one.
void apply_all(State& state, const std::vector<Event>& events);

// What State says, by name, in the witness's terms.
[[nodiscard]] std::map<std::string, std::string> rows_as_text(const State& state,
                                                              const std::vector<Standing>& standings);

}  // namespace shapley::fairness::scenario
