// Plain SQL over an open ledger, for the ledger's own reports and for tests. Not for other layers: they use the readers
// (ledger/readers), so that SQL text and the schema's names stay in this layer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// While it lives, all queries of the ledger's connection see the file as it was at the first of them. The log cannot
// begin anew meanwhile, so queries of others than its own process have a budget.
class Snapshot {
 public:
  [[nodiscard]] static Expected<Snapshot> begin(const Ledger& ledger);
  Snapshot(Snapshot&& other) noexcept;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot();

 private:
  struct Held;
  explicit Snapshot(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

// Rows of text; NULL reads as "". Errors: Errc::denied when `sql` would write, Errc::limit beyond the budget, and what
// SQLite says.
[[nodiscard]] Expected<std::vector<std::vector<std::string>>> query(const Ledger& ledger, const std::string& sql,
                                                                    QueryBudget budget = {});
// An integer of such a row; nullopt: NULL.
[[nodiscard]] std::optional<std::int64_t> integer_of(const std::string& cell);

}  // namespace shapley::ledger
