#include "ledger/readers/days.hpp"

#include <utility>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

Expected<std::optional<Instant>> read_last_day(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT MAX(day) FROM books_by_day"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row || select.is_null(0)) return std::nullopt;
  return Instant{select.integer(0)};
}

}  // namespace

Expected<std::optional<Instant>> last_recorded_day(const Ledger& ledger) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto day = read_last_day(impl.database);
  if (!day) return impl.failed("read the days", std::move(day).error());
  return day;
}

}  // namespace shapley::ledger
