#include "ledger/archive/part.hpp"

#include <limits>
#include <string>
#include <string_view>

#include "ledger/audit/audit.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/store/copies.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/file_operations.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"
#include "ledger/store/schema.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

// The ledger that it is made from is attached as a URI.
constexpr int k_written = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;

Expected<void> create_objects(const Database& to, const Schema& schema, std::string_view type) {
  for (const SchemaObject& object : schema) {
    // SQLite makes the indices of constraints itself.
    if (object.type == type && !object.sql.empty()) SHAPLEY_TRY(to.execute(object.sql));
  }
  return {};
}

// ?1: the last archived event; ?2: the horizon. A segment is over when it ended, or was retracted, before the horizon.
constexpr std::string_view k_segments_not_over =
    "WITH kept AS (SELECT opened, closed, retracted FROM source.segment_events s WHERE NOT EXISTS ("
    "  SELECT 1 FROM source.event_rows e WHERE e.seq IN (s.closed, s.retracted) AND e.seq <= ?1 AND e.at < ?2)) "
    "INSERT INTO temp.copied SELECT seq FROM (SELECT opened AS seq FROM kept UNION ALL SELECT closed FROM kept "
    "UNION ALL SELECT retracted FROM kept) WHERE seq <= ?1";

constexpr std::string_view k_their_jobs =
    "INSERT INTO temp.copied SELECT j.seq FROM source.event_jobs j WHERE j.seq <= ?1 AND (j.submit >= ?2 "
    "OR j.job IN (SELECT e.job FROM temp.copied c JOIN source.event_rows e ON e.seq = c.seq))";

// Declarations hold on. Of jobs the changes stay whose descriptions do; of placements the books know what is needed; of
// a node the last state before the horizon and the largest, by which its owners' parts are told.
constexpr std::string_view k_declarations =
    "INSERT INTO temp.copied SELECT e.seq FROM source.event_texts t JOIN source.event_rows e ON e.seq = t.seq "
    "WHERE e.seq <= ?1 AND (e.at >= ?2 OR t.kind NOT IN ('placement_resolved', 'capacity_changed', 'job_changed') "
    "OR t.key IN (SELECT 'job_changed/' || d.job || '/' || d.submit || '/' || d.at FROM source.job_changes d "
    "  JOIN source.event_jobs j ON j.job = d.job AND j.submit = d.submit JOIN temp.copied c ON c.seq = j.seq) "
    "OR t.key IN ("
    "  SELECT 'capacity_changed/' || node || '/' || at || '/' || ordinal FROM ("
    "    SELECT node, at, ordinal, ROW_NUMBER() OVER (PARTITION BY node ORDER BY at DESC, ordinal DESC) AS newest, "
    "      ROW_NUMBER() OVER (PARTITION BY node ORDER BY whole DESC, at) AS largest "
    "    FROM source.capacity WHERE at < ?2) WHERE newest = 1 OR largest = 1))";

Expected<void> choose_copies(const Database& to, const Part& part) {
  SHAPLEY_TRY(to.execute("CREATE TEMP TABLE copied (seq INTEGER PRIMARY KEY)"));
  if (!part.genesis) return {};
  for (const std::string_view sql : {k_segments_not_over, k_their_jobs, k_declarations}) {
    SHAPLEY_TRY_ASSIGN(Statement insert, to.prepare(sql));
    SHAPLEY_TRY(insert.bind(1, part.genesis->sequence).bind(2, part.genesis->horizon.value).run());
  }
  return {};
}

// Runs `sql`, in which own events are numbered from ?1 + 1 to ?2. A ledger from the begin on may have been signed, or
// its day ended, before the first event.
Expected<void> copy(const Database& to, const std::string& sql, const Part& part) {
  SHAPLEY_TRY_ASSIGN(Statement insert, to.prepare(sql));
  return insert.bind(1, part.genesis ? part.genesis->sequence : -1).bind(2, part.last).run();
}

// What belongs to the part, and is no event.
Expected<void> copy_details(const Database& to, const Part& part) {
  const std::string own = " WHERE sequence > ?1 AND sequence <= ?2";
  SHAPLEY_TRY(copy(to, "INSERT INTO main.heads SELECT * FROM source.heads" + own, part));
  SHAPLEY_TRY(copy(to, "INSERT INTO main.books_by_day SELECT * FROM source.books_by_day" + own, part));
  if (part.has_checkpoints) {
    SHAPLEY_TRY(copy(to, "INSERT INTO main.checkpoints SELECT * FROM source.checkpoints" + own, part));
    // Also those that only older checkpoints name: the next checkpoint uses or removes them.
    SHAPLEY_TRY(to.execute("INSERT INTO main.checkpoint_parts SELECT * FROM source.checkpoint_parts"));
  }
  return to.execute(
      "INSERT INTO main.contributions_by_day SELECT * FROM source.contributions_by_day "
      "WHERE day IN (SELECT day FROM main.books_by_day)");
}

Expected<void> copy_rows(const Database& to, const Part& part, const OnProgress& on_progress) {
  const std::string chosen = " WHERE (seq > ?1 AND seq <= ?2) OR seq IN (SELECT seq FROM temp.copied) ORDER BY ";
  for (const auto& [table, order] : {std::pair{"event_rows", "seq"}, std::pair{"event_nodes", "seq, position"},
                                     std::pair{"event_jobs", "job, submit"}, std::pair{"event_texts", "seq"}}) {
    tell(on_progress, {.what = table});
    const std::string name(table);
    SHAPLEY_TRY(copy(to, "INSERT INTO main." + name + " SELECT * FROM source." + name + chosen + order, part));
  }
  SHAPLEY_TRY(copy_details(to, part));
  return to.execute(
      "INSERT INTO main.words SELECT * FROM source.words ORDER BY word;"
      "INSERT INTO main.identity SELECT * FROM source.identity");
}

Expected<void> write_genesis(const Database& to, Genesis& genesis) {
  SHAPLEY_TRY_ASSIGN(const Copies copies, copies_up_to(to, genesis.sequence));
  genesis.copies = copies.count;
  genesis.copies_hash = copies.hash;
  SHAPLEY_TRY_ASSIGN(Statement insert,
                     to.prepare("INSERT INTO main.genesis(sequence, hash, events, archive, begin, until, horizon, "
                                "books, books_hash, copies, copies_hash) "
                                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"));
  insert.bind(1, genesis.sequence).bind_blob(2, genesis.hash).bind(3, genesis.events).bind(4, genesis.archive);
  insert.bind(5, genesis.begin.value).bind(6, genesis.until.value).bind(7, genesis.horizon.value);
  insert.bind(8, genesis.books).bind_blob(9, genesis.books_hash).bind(10, genesis.copies);
  return insert.bind_blob(11, genesis.copies_hash).run();
}

Expected<void> project(const Database& to, const OnProgress& on_progress) {
  Projector projector(to, "main");
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(to));
  std::int64_t done = 0;
  return reader.visit(0, std::numeric_limits<std::int64_t>::max(), [&](const StoredEvent& stored) {
    if (++done % k_events_between_calls == 0) tell(on_progress, {"events projected", done});
    return projector.project(stored.event, stored.sequence);
  });
}

Expected<void> attach_source(const Database& to, const path& from) {
  // Read-only: else a transaction that writes `to` would keep a daemon from writing `from`.
  const std::string source = uri_of(from, "mode=ro");
  SHAPLEY_TRY_ASSIGN(Statement attach, to.prepare("ATTACH ?1 AS source"));
  return attach.bind(1, source).run();
}

Expected<void> fill(const Database& to, const path& from, Part& part, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const Schema schema, genuine_schema(newest_schema()));
  // Until it is whole nobody knows it: it need not be safe page by page.
  SHAPLEY_TRY(to.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"));
  SHAPLEY_TRY(attach_source(to, from));
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(to, Transaction::Kind::write));
  SHAPLEY_TRY(create_objects(to, schema, "table"));
  SHAPLEY_TRY(choose_copies(to, part));
  SHAPLEY_TRY(copy_rows(to, part, on_progress));
  SHAPLEY_TRY(create_objects(to, schema, "view"));
  if (part.genesis) SHAPLEY_TRY(write_genesis(to, *part.genesis));
  SHAPLEY_TRY(project(to, on_progress));
  SHAPLEY_TRY(create_objects(to, schema, "index"));
  SHAPLEY_TRY(create_objects(to, schema, "trigger"));
  SHAPLEY_TRY(to.execute("PRAGMA main.application_id = " + std::to_string(k_application_id)));
  SHAPLEY_TRY(to.execute("PRAGMA main.user_version = " + std::to_string(newest_schema())));
  SHAPLEY_TRY(transaction.commit());
  tell(on_progress, {.what = "pages are being packed"});
  return to.execute("DETACH source; VACUUM main");
}

Expected<std::string> identity_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT ledger FROM main.identity"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  return std::string(row ? select.text(0) : std::string_view());
}

bool same_begin(const std::optional<Genesis>& a, const std::optional<Genesis>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->sequence == b->sequence && a->hash == b->hash && a->events == b->events && a->archive == b->archive &&
         a->begin == b->begin && a->until == b->until && a->horizon == b->horizon && a->books_hash == b->books_hash;
}

Expected<void> check_belongs(const path& from, const path& to, const Part& part) {
  SHAPLEY_TRY_ASSIGN(const BackupResult verified, verify_copy(to));
  SHAPLEY_TRY_ASSIGN(const Database ledger, open_for_copying(from));
  SHAPLEY_TRY_ASSIGN(const Database written, open_alone(to));
  SHAPLEY_TRY_ASSIGN(const std::string identity, identity_of(ledger));
  SHAPLEY_TRY_ASSIGN(const std::string copied, identity_of(written));
  SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(written));
  const bool same_end = verified.events == part.last && verified.hash == to_hex(part.hash);
  if (identity == copied && same_end && same_begin(genesis, part.genesis)) return {};
  return fail(Errc::corrupt, "it is not this part of this ledger");
}

Expected<void> audit_part(const path& to) {
  SHAPLEY_TRY_ASSIGN(const Ledger ledger, Ledger::open(to, OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const AuditReport report, audit(ledger));
  if (report.clean()) return {};
  return fail(Errc::corrupt, "an audit of it finds: " + report.findings.front().check + ": " +
                                 report.findings.front().what + "; shapleyctl audit of the ledger says more");
}

}  // namespace

Expected<void> write_part(const path& from, const path& to, Part& part, const OnProgress& on_progress) {
  auto written = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(const Database database, Database::open(to.string(), k_written | SQLITE_OPEN_CREATE));
    return fill(database, from, part, on_progress);
  }();
  if (!written) return with_context("write " + to.string(), std::move(written).error());
  return sync_file(to);
}

Expected<void> check_part(const path& from, const path& to, const Part& part, const OnProgress& on_progress) {
  tell(on_progress, {.what = "what was written is read again and audited"});
  auto checked = check_belongs(from, to, part);
  if (checked) checked = audit_part(to);
  if (!checked) return with_context(to.string(), std::move(checked).error());
  return {};
}

Expected<void> renew_details(const path& from, const path& to, const Part& part) {
  SHAPLEY_TRY_ASSIGN(const Database database, Database::open(to.string(), k_written));
  SHAPLEY_TRY(attach_source(database, from));
  {
    SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
    SHAPLEY_TRY(
        database.execute("DELETE FROM main.heads; DELETE FROM main.books_by_day; DELETE FROM "
                         "main.contributions_by_day; DELETE FROM main.checkpoints; DELETE FROM main.checkpoint_parts"));
    SHAPLEY_TRY(copy_details(database, part));
    SHAPLEY_TRY(transaction.commit());
  }
  return database.execute("DETACH source");
}

}  // namespace shapley::ledger
