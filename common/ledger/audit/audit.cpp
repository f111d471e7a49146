#include "ledger/audit/audit.hpp"

#include <algorithm>

#include "ledger/audit/adjustment_notes.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/chain/chain_walk.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

Expected<std::int64_t> count_stated_segments(const Database& database) {
  return database.integer(
      "SELECT COUNT(*) FROM (SELECT DISTINCT kind & 1, job, anchor, ordinal FROM main.event_rows "
      "WHERE kind >= 2)");
}

Expected<void> audit_all(const Ledger& ledger, const Database& database, AuditReport& report,
                         const AuditOptions& options) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY(audit_schema(database, report));
  SHAPLEY_TRY_ASSIGN(const bool begun, audit_genesis(database, report));
  Facts facts;
  SHAPLEY_TRY_ASSIGN(const bool whole, audit_chain(database, facts, report, options));
  tell(options.on_progress, {.what = "what belongs to no event"});
  SHAPLEY_TRY_ASSIGN(const bool meant, audit_details(database, report));
  SHAPLEY_TRY(audit_heads(database, report));
  if (!begun || !whole || !meant) {
    SHAPLEY_TRY_ASSIGN(report.segments, count_stated_segments(database));
    report.notes.emplace_back(
        begun ? "books and projections were not checked, since not every event can be read"
              : "books and projections were not checked, since what the ledger begins with is not what it was");
    return {};
  }
  return audit_books(ledger, facts, report, options);
}

}  // namespace

Expected<bool> audit_chain(const Database& database, Facts& facts, AuditReport& report, const AuditOptions& options) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t all, database.integer("SELECT COALESCE(MAX(seq), 0) FROM main.event_rows"));
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT " + std::string(k_event_columns) + " FROM events ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  Digest previous = begin.hash;
  std::int64_t bad = 0;
  bool readable = true;
  const auto find = [&](std::int64_t sequence, const std::string& what) {
    if (bad++ == 0) report.findings.push_back({"chain", "event " + std::to_string(sequence) + ": " + what});
  };
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) break;
    const EventRow row = event_row_of(select);
    // A copy of an archived event: audit_genesis() sees to these.
    if (const bool own = row.sequence > begin.sequence; own) {
      if (report.events % k_events_between_calls == 0) {
        tell(options.on_progress, {.what = "hash chain", .done = report.events, .all = all - begin.sequence});
      }
      const std::int64_t place = begin.sequence + ++report.events;
      if (row.sequence != place) find(row.sequence, "it stands at place " + std::to_string(place));
      SHAPLEY_TRY_ASSIGN(const Digest expected, hasher.link(previous, row));
      const auto stored = stored_hash_of(select);
      if (!std::ranges::equal(stored, expected)) {
        find(row.sequence,
             "its hash does not follow from the row before it and its content: it was edited, or a row before "
             "it was taken away");
      }
      // Going on from the hash that is there keeps one edited row from hiding the next.
      previous = digest_from(stored).value_or(expected);
    }
    const auto event = decode(row.kind, row.payload);
    if (!event) {
      find(row.sequence, event.error().what);
      readable = false;
      continue;
    }
    if (const std::string fault = row_fault(row, *event); !fault.empty()) find(row.sequence, fault);
    facts.survey(*event);
  }
  if (bad > 1) report.notes.push_back("the chain of events has " + std::to_string(bad) + " faults; the first is named");
  report.notes.push_back("the chain ends at event " + std::to_string(begin.sequence + report.events) + " with hash " +
                         to_hex(previous) +
                         "; whoever keeps this hash can prove later that nothing before it was changed");
  for (std::string& note : adjustment_notes(facts.adjustments)) report.notes.push_back(std::move(note));
  return readable;
}

Expected<AuditReport> audit(const Ledger& ledger, const AuditOptions& options) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  AuditReport report;
  if (auto done = audit_all(ledger, impl.database, report, options); !done)
    return impl.failed("audit", std::move(done).error());
  return report;
}

}  // namespace shapley::ledger
