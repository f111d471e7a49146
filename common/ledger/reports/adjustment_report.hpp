// Adjustments as JSON: what is asked, what is there, and what one would change. docs/reference/protocol.md, "adjust".
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/readers/past_adjustments.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Of a request: exactly one of its members `attribute`, `own`, `rename`, `merge` and `reverse` says what, and `reason`
// why. The author is for the caller to say. Errc::invalid_argument names the member.
[[nodiscard]] Expected<AdjustmentAsked> parse_adjustment(const nlohmann::json& request);

[[nodiscard]] nlohmann::json adjustment_object(const accounting::AdjustmentMade& made);

// All that the books know, the first one first, with `reversed_by` (null: it holds).
[[nodiscard]] nlohmann::json adjustments_report(const accounting::State& books);

// Those of these that a statement of [since, until) names, in the same way; with `later` (it was made after that time
// and changed amounts of it) and `work`, of the runs that are others' by it (null: of none).
[[nodiscard]] nlohmann::json adjustments_of(const std::vector<PastAdjustment>& all, Instant since, Instant until);

// Under which names runs of these organizations were booked: their own, and those of all that are a part of them today.
[[nodiscard]] std::vector<std::string> booked_names(const accounting::State& books,
                                                    const std::vector<std::string>& organizations);

// The adjustment as it would be made at `now`, the work of its runs, and everybody's standing without and with it, by
// the estimator that ranks. The ledger is only read. Errors: those of plan_adjustment, and of reading.
[[nodiscard]] Expected<nlohmann::json> preview_report(const Ledger& ledger, const AdjustmentAsked& asked, Instant now);

}  // namespace shapley::ledger
