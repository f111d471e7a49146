// Plain SQL over an open ledger, for the ledger's own reports and for tests. Not for other layers: they use the readers
// (ledger/readers), so that SQL text and the schema's names stay in this layer.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Rows of text; NULL reads as "". Errors: Errc::denied when `sql` would write, Errc::limit beyond the budget, and what
// SQLite says.
[[nodiscard]] Expected<std::vector<std::vector<std::string>>> query(const Ledger& ledger, const std::string& sql,
                                                                    QueryBudget budget = {});

}  // namespace shapley::ledger
