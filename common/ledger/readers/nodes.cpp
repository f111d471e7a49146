#include "ledger/readers/nodes.hpp"

#include <utility>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

constexpr const char* k_owned_parts =
    "SELECT o.organization, o.node, o.parts_per_million, c.largest FROM ownership AS o "
    "JOIN (SELECT node, MAX(processors) AS largest FROM capacity WHERE at <= ?1 GROUP BY node) AS c ON c.node = o.node "
    "WHERE o.begin <= ?1 AND (o.end IS NULL OR o.end > ?1) ORDER BY o.organization, o.node";

Expected<std::vector<OwnedPart>> read_owned_parts(const Database& database, Instant at) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_owned_parts));
  select.bind(1, at.value);
  std::vector<OwnedPart> parts;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return parts;
    parts.push_back({.organization = std::string(select.text(0)),
                     .node = std::string(select.text(1)),
                     .parts_per_million = select.integer(2),
                     .largest = {select.integer(3)}});
  }
}

}  // namespace

Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant at) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto parts = read_owned_parts(impl.database, at);
  if (!parts) return impl.failed("read ownership", std::move(parts).error());
  return parts;
}

}  // namespace shapley::ledger
