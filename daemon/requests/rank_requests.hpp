// "Why is my job waiting?": explain, compare and forecast (ledger/reports/explain_report.hpp, compare_report.hpp).
//
// The present comes from the books in memory, as a copy; what a job is, and everything of the past, from the ledger's
// tables and events, in the thread that reads them. Events are read up to the budget of the one who asks: beyond it an
// answer about the past is Errc::limit, and one about the present does without it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

// {"request": "explain", "job": "4711"[, "at": SECONDS]}
[[nodiscard]] Answer explain(Service& service, const Question& question);
// {"request": "compare", "a": NAME, "b": NAME[, "at": SECONDS]}
[[nodiscard]] Answer compare(Service& service, const Question& question);
// {"request": "forecast"[, "at": SECONDS]}
[[nodiscard]] Answer forecast(Service& service, const Question& question);

}  // namespace shapley::daemon
