// A replay as a table for people and as JSON (docs/reference/shapley-sim.md).
#pragma once

#include <iosfwd>

#include "sim/json.hpp"
#include "sim/replay/replay.hpp"

namespace shapley::sim {

void print_replay(const SiteHistory& history, const Replay& replay, std::ostream& out);
[[nodiscard]] Json replay_json(const SiteHistory& history, const Replay& replay);

// Plain digits, so many after the point.
[[nodiscard]] std::string fixed_text(double value, int digits);
// "12 s", "34 min", "5.6 h", "7.8 d".
[[nodiscard]] std::string span_text(double seconds);

}  // namespace shapley::sim
