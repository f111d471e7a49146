// The worth of cooperation as a report: for `status --worth`, statements, the daemon's answers and the exporter.
// docs/reference/shapleyctl.md lists every member; ledger/reports/worth_report.hpp makes it.
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
constexpr auto description_of(std::type_identity<WorthBounds>) {
  return describe(member("never_end_core_hours", &WorthBounds::never_end_core_hours),
                  member("end_now_core_hours", &WorthBounds::end_now_core_hours),
                  member("never_end", &WorthBounds::never_end), member("end_now", &WorthBounds::end_now));
}

// Amounts on average in core-hours and exact, and the gain of cooperating.
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
constexpr auto description_of(std::type_identity<WorthComparison>) {
  return describe(member("psi_core_hours", &WorthComparison::psi_core_hours),
                  member("alone_core_hours", &WorthComparison::alone_core_hours),
                  member("gain_core_hours", &WorthComparison::gain_core_hours),
                  member("gain_percent", &WorthComparison::gain_percent), member("psi", &WorthComparison::psi),
                  member("alone", &WorthComparison::alone), member("got_processor_seconds", &WorthComparison::got),
                  member("alone_processor_seconds", &WorthComparison::alone_work),
                  member("provisional", &WorthComparison::provisional), member("bounds", &WorthComparison::bounds));
}

struct WorthRow {
  std::string name = {};
  std::string title = {};
  std::string sentence = {};
  WorthComparison is = {};
};
constexpr auto description_of(std::type_identity<WorthRow>) {
  return describe(member("name", &WorthRow::name), member("title", &WorthRow::title),
                  member("sentence", &WorthRow::sentence), flattened(&WorthRow::is));
}

struct WorthPair {
  std::vector<std::string> organizations = {};
  WorthComparison is = {};
};
constexpr auto description_of(std::type_identity<WorthPair>) {
  return describe(member("organizations", &WorthPair::organizations), flattened(&WorthPair::is));
}

struct WorthTogether {
  std::string sentence = {};
  WorthComparison is = {};
};
constexpr auto description_of(std::type_identity<WorthTogether>) {
  return describe(member("sentence", &WorthTogether::sentence), flattened(&WorthTogether::is));
}

// The gain is that of leaving the others.
struct WorthLeaving {
  std::vector<std::string> organizations = {};
  std::string sentence = {};
  WorthComparison is = {};
};
constexpr auto description_of(std::type_identity<WorthLeaving>) {
  return describe(member("organizations", &WorthLeaving::organizations), member("sentence", &WorthLeaving::sentence),
                  flattened(&WorthLeaving::is));
}

struct WorthReport {
  Dated begin = {};
  Dated end = {};
  bool all_coalitions = false;
  bool provisional = false;
  std::vector<WorthRow> organizations = {};
  std::vector<WorthPair> pairs = {};
  WorthTogether together = {};
  std::optional<WorthLeaving> leaving = {};
  std::string limits = {};
};
constexpr auto description_of(std::type_identity<WorthReport>) {
  return describe(member("begin", &WorthReport::begin), member("end", &WorthReport::end),
                  member("all_coalitions", &WorthReport::all_coalitions),
                  member("provisional", &WorthReport::provisional),
                  member("organizations", &WorthReport::organizations), member("pairs", &WorthReport::pairs),
                  member("together", &WorthReport::together), member("leaving", &WorthReport::leaving),
                  member("limits", &WorthReport::limits));
}

}  // namespace shapley::ledger
