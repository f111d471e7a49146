// What the other clusters of a consortium contribute to the ranks here: how much of each, and which of them decide.
//
// Pure functions of the books.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// At state.now(), in the order of the configuration; without what the daemon adds.
[[nodiscard]] std::vector<OtherClusterReport> other_clusters(const accounting::State& state);

// What one other cluster of the consortium contributes to the figures of one organization, by the row's name.
struct ShareElsewhere {
  std::string cluster;
  std::string organization;
  accounting::KeyFigures figures;
  ProcessorMillionths owned;
};
[[nodiscard]] std::vector<ShareElsewhere> shares_elsewhere(const accounting::State& state);

// Empty if `first` goes before `second` by the books of this cluster alone, too. Else the clusters without each of
// which `second` would go first; where only several together decide that, all that contribute to one of the two.
// Indices of the outlook's rows, of which `first` goes first.
[[nodiscard]] std::vector<std::string> deciding_clusters(const accounting::Outlook& outlook,
                                                         std::span<const ShareElsewhere> shares, std::size_t first,
                                                         std::size_t second);

// "south states", "south and west state", "north, south and west state".
[[nodiscard]] std::string states_text(const std::vector<std::string>& clusters);

// Where the greatest key is another organization's than by the books of this cluster alone: which one it is, and the
// clusters whose figures decide that, in a sentence; "" elsewhere.
[[nodiscard]] std::string sentence_of_clusters(const accounting::State& state, accounting::EstimatorId estimator);

// What ranks count of a cluster now, and what they would by `first`, once `accepted` is in the books.
[[nodiscard]] LineReport line_report(const accounting::State& state, const accounting::LedgerReplaced& accepted,
                                     const accounting::StandingReceived& first);

}  // namespace shapley::ledger
