// Adjustments (reports/adjustments.hpp): requests, the list of those made, and what one would change.
#pragma once

#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"
#include "reports/adjustments.hpp"
#include "reports/requests.hpp"

namespace shapley::ledger {

// The adjustment that the request asks for; the caller adds the author. Errc::invalid_argument names the wrong member.
[[nodiscard]] Expected<AdjustmentAsked> adjustment_asked(const AdjustRequest& request);

[[nodiscard]] AdjustmentRow adjustment_row(const accounting::AdjustmentMade& made);

// All adjustments in the books, the first one first.
[[nodiscard]] AdjustmentsReport adjustments_report(const accounting::State& books);

// Those of `all` that a statement of [since, until) lists.
[[nodiscard]] std::vector<ListedAdjustment> adjustments_of(const std::vector<PastAdjustment>& all, Instant since,
                                                           Instant until);

// The names under which runs of these organizations were booked: their own, and those of their present parts.
[[nodiscard]] std::vector<std::string> booked_names(const accounting::State& books,
                                                    const std::vector<std::string>& organizations);

// The adjustment as it would be made at `now`, the work of its runs, and every organization's standing without and with
// it, by the estimator that ranks. The ledger is only read. Errors: those of plan_adjustment, and of reading.
[[nodiscard]] Expected<PreviewReport> preview_report(const Ledger& ledger, const AdjustmentAsked& asked, Instant now);

// The other clusters of the consortium where an organization that this adjustment renames or merges has its former name
// still, and is not counted by the new one; empty: none.
[[nodiscard]] std::vector<std::string> clusters_with_former_name(const accounting::State& books,
                                                                 const accounting::AdjustmentMade& made);

}  // namespace shapley::ledger
