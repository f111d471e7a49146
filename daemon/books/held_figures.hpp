// The last figures of the books, which readers and ranks use while the books are rebuilt.
#pragma once

#include <vector>

#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::daemon {

struct HeldFigures {
  Instant at;
  std::vector<ledger::StatusReport> status;  // by EstimatorId
  std::vector<ledger::NoStart> no_start;     // of all organizations
};

}  // namespace shapley::daemon
