// What ranks count of the other clusters of a consortium, in words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ctl {

// The lines "Others:" of `status`, one for each cluster: all organizations, how old the statement is, and what is wrong
// with it.
[[nodiscard]] std::string other_cluster_lines(const ledger::StatusReport& report, bool colour);

// A sentence for each cluster that contributes to the ranks of these organizations, or of which no statement is known,
// each in a line of its own.
[[nodiscard]] std::string elsewhere_lines(std::span<const ledger::OtherClusterReport> clusters,
                                          std::span<const std::string> organizations, Instant at,
                                          const ledger::AmountUnit& in);

}  // namespace shapley::ctl
