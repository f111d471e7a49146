// Rows of any SELECT over an open ledger as text, for tests: NULL reads as "".
#pragma once

#include <string>
#include <vector>

#include "ledger/store/rows.hpp"

namespace shapley::ledger {

// Errors: Errc::limit beyond the budget, and SQLite's own.
[[nodiscard]] inline Expected<std::vector<std::vector<std::string>>> query(const Ledger& ledger, const std::string& sql,
                                                                           QueryBudget budget = {}) {
  return ledger.rows().run("query", [&](const Database& database) -> Expected<std::vector<std::vector<std::string>>> {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
    const StepLimit limit(database, budget.steps, budget.ended);
    std::vector<std::vector<std::string>> result;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, select.step());
      if (!row) return result;
      auto& cells = result.emplace_back();
      for (int column = 0; column < select.columns(); ++column) cells.emplace_back(select.text(column));
    }
  });
}

}  // namespace shapley::ledger
