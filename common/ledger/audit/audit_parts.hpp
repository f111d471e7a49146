// The parts of audit(); each adds what it finds to the report. REQUIRES: one read transaction is open around all of
// them.
#pragma once

#include "base/error.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/projections/standings.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

// What a ledger with archives begins with: its opening books, and its copies of archived events. False: they are not
// those that it was made with.
[[nodiscard]] Expected<bool> audit_genesis(const Database& database, AuditReport& report);

// Walks all rows: the hash chain, and that each row says the same in its columns and in its payload. Surveys `facts`.
// False: a row cannot be read at all, so what hangs on the events cannot be checked.
[[nodiscard]] Expected<bool> audit_chain(const Database& database, Facts& facts, AuditReport& report,
                                         const AuditOptions& options = {});

// What stands beside the rows of events belongs to one of them each, and words mean what they say. False: a word does
// not, so events cannot be read.
[[nodiscard]] Expected<bool> audit_details(const Database& database, AuditReport& report);

// Tables, indices, views and triggers are those that the program makes: what is missing is a finding, what is foreign
// ends the audit (schema.hpp).
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

}  // namespace shapley::ledger
