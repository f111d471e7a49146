// The parts of audit(); each adds what it finds to the report. REQUIRES: one read transaction is open around all of
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

// What a ledger with archives begins with: its opening books, and its copies of archived events. False: they are not
// those that it was made with.
[[nodiscard]] Expected<bool> audit_genesis(const Database& database, AuditReport& report);

// Walks all rows: the hash chain, and that each row says the same in its columns and in its payload. Surveys `facts`.
// False: a row cannot be read at all, so what follows from the events cannot be checked.
[[nodiscard]] Expected<bool> audit_chain(const Database& database, Facts& facts, AuditReport& report,
                                         const AuditOptions& options = {});

// Fills in the hash of each wanted event, from the rows' content alone; "" stays where there is no such row. The number
// of events.
[[nodiscard]] Expected<std::int64_t> compute_hashes(const Database& database,
                                                    std::map<std::int64_t, std::string>& wanted);

// Each row beside the rows of events belongs to one of them, and interned texts are intact. False: a text is not, so
// events cannot be read.
[[nodiscard]] Expected<bool> audit_details(const Database& database, AuditReport& report);

// Tables, indices, views and triggers are those that the program makes: what is missing is a finding, what is foreign
// ends the audit (start_check.hpp).
[[nodiscard]] Expected<void> audit_schema(const Database& database, AuditReport& report);

// The signed heads that the file holds name this ledger and the hashes of its events. (Their signatures need a public
// key.)
[[nodiscard]] Expected<void> audit_heads(const Database& database, AuditReport& report);

// Every projection against what the events say; counts the segments. `watch` sees the books that days are made of.
[[nodiscard]] Expected<void> audit_projections(const Database& database, AuditReport& report,
                                               const AuditOptions& options, const DaysWatch& watch);

// The books against naive sums over the ledger's runs and what was surveyed in `facts`, Sum(psi) = Sum(phi), the books
// as shapleyd would recover them now, and audit_projections() on the way.
[[nodiscard]] Expected<void> audit_books(const Ledger& ledger, const Facts& facts, AuditReport& report,
                                         const AuditOptions& options = {});

// What an audit says of corrections of the books: they are no findings, but every reader should see them.

// A sentence for each, by number; of many the last ones, and how many there are before them.
[[nodiscard]] std::vector<std::string> adjustment_notes(
    const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

// One sentence that names those by which runs are booked under another organization; "" where there are none.
[[nodiscard]] std::string attribution_note(const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

}  // namespace shapley::ledger
