// What the books say, kept as text: readers and the plugin's ranks go on with it while the books are rebuilt.
#pragma once

#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

struct HeldFigures {
  Instant at;
  std::vector<std::string> status;  // ledger::status_report by EstimatorId
  std::string no_start;             // ledger::no_start_report of all organizations
};

// The figures at max(now, state.now()) by those that are able (State::caught_up).
[[nodiscard]] HeldFigures hold_figures(accounting::State& state, Instant now, const accounting::EstimatorSet& able);

}  // namespace shapley::daemon
