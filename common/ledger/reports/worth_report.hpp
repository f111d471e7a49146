// The worth of cooperation (accounting/worth/worth.hpp) as a report: for `status --worth`, statements, the daemon's
// answers and the exporter. docs/reference/shapleyctl/status.md lists every member.
//
// Utility in hours is its average over the period, as a standing's is (report.hpp):
//     psi / (t - period begin) / 3600        [hours]
// The gain of cooperating, psi - v({u}), has the sign and the per cent of the exact amounts. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "accounting/worth/worth.hpp"
#include "reports/amounts.hpp"
#include "reports/worth.hpp"

namespace shapley::ledger {

// nullopt: no estimator has it. Organizations and pairs in the configuration's order.
[[nodiscard]] std::optional<WorthReport> worth_report(const accounting::State& state,
                                                      const std::optional<accounting::CooperationWorth>& worth);

// Keeps only these organizations in it, and the pairs that one of them belongs to.
void keep_only(WorthReport& worth, const std::vector<std::string>& organizations);

// "has got 34 % more than it would have got alone: 12.4 core-hours instead of 9.3, on average this period". `gain` has
// the sign of the exact amount.
struct WorthSentence {
  double got = 0;    // hours, on average
  double alone = 0;  // likewise
  int gain = 0;      // < 0, 0, > 0
};
[[nodiscard]] std::string worth_sentence(const WorthSentence& of, const AmountUnit& in);

}  // namespace shapley::ledger
