// The worth of cooperation as a report: for `status --worth`, statements, the daemon's answers and the exporter.
// docs/reference/shapleyctl/status.md lists every member; ledger/reports/worth_report.hpp makes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// Bounds of what would have been got alone.
struct WorthBounds {
  double never_end_core_hours = 0;  // if what goes on never ended
  double end_now_core_hours = 0;    // if it ended now
  Utility never_end = {};
  Utility end_now = {};
};
SHAPLEY_DESCRIBE(WorthBounds, never_end_core_hours, end_now_core_hours, never_end, end_now);

// Amounts on average in hours and exact, and the gain of cooperating.
struct WorthComparison {
  double psi_core_hours = 0;
  double alone_core_hours = 0;
  double gain_core_hours = 0;
  std::optional<double> gain_percent = {};  // nullopt: nothing would have been got alone
  Utility psi = {};
  Utility alone = {};
  CpuTime got = {};
  CpuTime alone_work = {};
  bool provisional = false;
  std::optional<WorthBounds> bounds = {};  // nullopt: nothing can change it
};
SHAPLEY_DESCRIBE(WorthComparison, psi_core_hours, alone_core_hours, gain_core_hours, gain_percent, psi, alone,
                 (named, got, "got_processor_seconds"), (named, alone_work, "alone_processor_seconds"), provisional,
                 bounds);

struct WorthRow {
  std::string name = {};
  std::string title = {};
  std::string sentence = {};
  WorthComparison is = {};
};
SHAPLEY_DESCRIBE(WorthRow, name, title, sentence, (flattened, is));

struct WorthPair {
  std::vector<std::string> organizations = {};
  WorthComparison is = {};
};
SHAPLEY_DESCRIBE(WorthPair, organizations, (flattened, is));

struct WorthTogether {
  std::string sentence = {};
  WorthComparison is = {};
};
SHAPLEY_DESCRIBE(WorthTogether, sentence, (flattened, is));

// The gain is that of leaving the others.
struct WorthLeaving {
  std::vector<std::string> organizations = {};
  std::string sentence = {};
  WorthComparison is = {};
};
SHAPLEY_DESCRIBE(WorthLeaving, organizations, sentence, (flattened, is));

struct WorthReport {
  Dated begin = {};
  Dated end = {};
  bool all_coalitions = false;
  bool provisional = false;
  std::vector<WorthRow> organizations = {};
  std::vector<WorthPair> pairs = {};
  WorthTogether together = {};
  std::optional<WorthLeaving> leaving = {};
  std::string limits = {};  // what `alone` ignores; empty: nothing that makes it look better
};
SHAPLEY_DESCRIBE(WorthReport, begin, end, all_coalitions, provisional, organizations, pairs, together, leaving, limits);

}  // namespace shapley::ledger
