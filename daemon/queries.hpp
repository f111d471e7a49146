// Answers to readers' requests: JSON text in, JSON text out. docs/reference/protocol.md, "Queries", lists them.
//
// Never fails: what cannot be answered is answered with {"error": {"code": ..., "what": ...}}.
#pragma once

#include <string>
#include <string_view>

#include "base/types.hpp"
#include "daemon/service.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

// `budget` bounds the work in the ledger; beyond it the answer is an error of code `limit`.
[[nodiscard]] std::string answer(Service& service, std::string_view request, Instant now,
                                 ledger::QueryBudget budget = {});

}  // namespace shapley::daemon
