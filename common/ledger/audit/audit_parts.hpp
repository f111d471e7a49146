// The parts of audit(); each adds its findings to the report. REQUIRES: one read transaction is open around all of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/file/database.hpp"
#include "ledger/recovery/standings.hpp"

namespace shapley::ledger {

// Checks what a ledger with archives begins with: its opening books, and its copies of archived events. False: they are
// not the original ones.
[[nodiscard]] Expected<bool> audit_genesis(const Database& database, AuditReport& report);

// Walks over all rows: the hash chain, and whether each row's columns agree with its payload. Surveys `facts`. False: a
// row cannot be read at all, so what follows from the events cannot be checked.
[[nodiscard]] Expected<bool> audit_chain(const Database& database, Facts& facts, AuditReport& report,
                                         const AuditOptions& options = {});

// Computes the hash of each wanted event, from the rows' content alone; "" stays where there is no such row. Returns
// the number of events.
[[nodiscard]] Expected<std::int64_t> compute_hashes(const Database& database,
                                                    std::map<std::int64_t, std::string>& wanted);

// Checks that each row beside the rows of events belongs to one of them, and that interned texts are intact. False: a
// text is not, so events cannot be read.
[[nodiscard]] Expected<bool> audit_details(const Database& database, AuditReport& report);

// Checks that tables, indices, views and triggers are those that the program makes: a missing one is a finding, a
// foreign one ends the audit (start_check.hpp).
[[nodiscard]] Expected<void> audit_schema(const Database& database, AuditReport& report);

// SQLite's own check of every page, and of every index against its table: what is read by an index may otherwise lack
// rows that are there. False: there is a finding.
[[nodiscard]] Expected<bool> audit_pages(const Database& database, AuditReport& report);

// Checks that the signed heads in the file name this ledger and the hashes of its events. (Signatures need a public
// key.)
[[nodiscard]] Expected<void> audit_heads(const Database& database, AuditReport& report);

// Compares every projection with the events; counts the segments. `watch` receives the books that days are made from.
[[nodiscard]] Expected<void> audit_projections(const Database& database, AuditReport& report,
                                               const AuditOptions& options, const DaysWatch& watch);

// Compares the books with naive sums over the ledger's runs and the surveyed `facts`, checks Sum(psi) = Sum(phi), and
// compares the books that shapleyd would recover now; calls audit_projections() on the way.
[[nodiscard]] Expected<void> audit_books(const Ledger& ledger, const Facts& facts, AuditReport& report,
                                         const AuditOptions& options = {});

// What an audit says of corrections of the books: they are no findings, but every reader should see them.

// A sentence for each, by number; if there are many, the last ones, and the number of those before.
[[nodiscard]] std::vector<std::string> adjustment_notes(
    const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

// One sentence that names the adjustments which moved runs to another organization; "" if there are none.
[[nodiscard]] std::string attribution_note(const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

}  // namespace shapley::ledger
