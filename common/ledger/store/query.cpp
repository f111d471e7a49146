#include "ledger/store/query.hpp"

#include <cstdlib>
#include <utility>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

struct Snapshot::Held {
  Transaction transaction;
};

Expected<Snapshot> Snapshot::begin(const Ledger& ledger) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto transaction = Transaction::begin(impl.database, Transaction::Kind::read);
  if (!transaction) return impl.failed("begin to read", std::move(transaction).error());
  return Snapshot(std::make_unique<Held>(Held{*std::move(transaction)}));
}

Snapshot::Snapshot(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Expected<std::vector<std::vector<std::string>>> query(const Ledger& ledger, const std::string& sql,
                                                      QueryBudget budget) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto rows = [&]() -> Expected<std::vector<std::vector<std::string>>> {
    SHAPLEY_TRY_ASSIGN(Statement select, impl.database.prepare(sql));
    if (!select.read_only()) return fail(Errc::denied, "only reading is allowed here, not: " + sql);
    const StepLimit limit(impl.database, budget.steps, budget.ended);
    std::vector<std::vector<std::string>> result;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, select.step());
      if (!row) return result;
      if (budget.rows > 0 && result.size() == budget.rows) {
        return fail(Errc::limit, "more than " + std::to_string(budget.rows) + " rows");
      }
      auto& cells = result.emplace_back();
      for (int column = 0; column < select.columns(); ++column) cells.emplace_back(select.text(column));
    }
  }();
  if (!rows) return impl.failed("query", std::move(rows).error());
  return rows;
}

std::optional<std::int64_t> integer_of(const std::string& cell) {
  if (cell.empty()) return std::nullopt;
  return std::strtoll(cell.c_str(), nullptr, 10);
}

}  // namespace shapley::ledger
