// What hangs on the events: the schema around them and the projections made from them.
#include <string>

#include "ledger/audit/audit_parts.hpp"
#include "ledger/chain/signed_head.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/projections/standings.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"
#include "ledger/store/schema.hpp"

namespace shapley::ledger {

namespace {

constexpr std::int64_t k_rows_shown = 5;  // of each table and kind of difference

// Drops the temporary tables at the end of an audit, however it ends: their names hide those of the ledger.
class TemporaryTables {
 public:
  static Expected<TemporaryTables> create(const Database& database) {
    SHAPLEY_TRY_ASSIGN(const Schema schema, genuine_schema(newest_schema()));
    TemporaryTables tables(database);
    for (const std::string& table : all_tables()) {
      std::string sql = find_object(schema, "table", table)->sql;
      sql.insert(std::string_view("CREATE ").size(), "TEMP ");
      SHAPLEY_TRY(database.execute(sql));
    }
    return tables;
  }
  TemporaryTables(TemporaryTables&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  TemporaryTables(const TemporaryTables&) = delete;
  TemporaryTables& operator=(const TemporaryTables&) = delete;
  TemporaryTables& operator=(TemporaryTables&&) = delete;
  ~TemporaryTables() {
    if (database_ == nullptr) return;
    for (const std::string& table : all_tables()) {
      static_cast<void>(database_->execute("DROP TABLE IF EXISTS temp." + table));
    }
  }

  static std::vector<std::string> all_tables() {
    std::vector<std::string> tables(projection_tables().begin(), projection_tables().end());
    tables.insert(tables.end(), standing_tables().begin(), standing_tables().end());
    return tables;
  }

 private:
  explicit TemporaryTables(const Database& database) : database_(&database) {}
  const Database* database_;
};

std::string cells_of(const Statement& row) {
  std::string text;
  for (int column = 0; column < row.columns(); ++column) {
    text += (column > 0 ? ", " : "") + std::string(row.name(column)) + " " +
            (row.is_null(column) ? "NULL" : std::string(row.text(column)));
  }
  return text;
}

// The rows that `left` has and `right` has not.
Expected<void> rows_missing(const Database& database, const std::string& table, const std::string& left,
                            const std::string& right, const std::string& verdict, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT * FROM " + left + "." + table +
                                                        " EXCEPT SELECT * FROM " + right + "." + table));
  std::int64_t count = 0;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    if (++count <= k_rows_shown)
      report.findings.push_back({"projection", table + ": " + verdict + ": " + cells_of(select)});
  }
  if (count > k_rows_shown) {
    report.findings.push_back({"projection", table + ": " + verdict + ": " + std::to_string(count) + " rows in all"});
  }
  return {};
}

// What is wrong with a head that the file holds, given what its rows say; empty if nothing is.
std::string head_fault(const Statement& row) {
  const auto head = parse_head(row.text(2));
  if (!head) return head.error().what;
  if (head->ledger != row.text(3)) return "it speaks of ledger " + head->ledger;
  if (head->sequence != row.integer(0) || head->time.value != row.integer(1))
    return "its columns do not say what its text says";
  const bool fits = row.is_null(4) ? head->sequence == 0 && head->hash == to_hex(Digest{})
                                   : head->hash == to_hex(digest_from(row.blob(4)).value_or(Digest{}));
  return fits ? "" : "the event has another hash now: events were rewritten after it was signed";
}

}  // namespace

Expected<void> audit_heads(const Database& database, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t tables,
                     database.integer("SELECT COUNT(*) FROM main.sqlite_master WHERE name IN ('heads', 'identity')"));
  if (tables < 2) return {};  // audit_schema has said so
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare("SELECT h.sequence, h.at, h.text, (SELECT ledger FROM main.identity), e.hash "
                       "FROM main.heads h LEFT JOIN main.events e ON e.seq = h.sequence ORDER BY h.sequence"));
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return {};
    if (const std::string fault = head_fault(select); !fault.empty()) {
      report.findings.push_back({"head", "the signed head of event " + std::string(select.text(0)) + ": " + fault});
    }
  }
}

Expected<void> audit_schema(const Database& database, AuditReport& report) {
  // Once more: since the file was opened somebody may have changed it, up to the snapshot that is audited.
  SHAPLEY_TRY(check_nothing_foreign(database, newest_schema()));
  SHAPLEY_TRY_ASSIGN(const Schema genuine, genuine_schema(newest_schema()));
  SHAPLEY_TRY_ASSIGN(const Schema found, schema_of(database));
  for (const SchemaObject& object : genuine) {
    if (!found.contains(object)) report.findings.push_back({"schema", object.name + " is missing"});
  }
  return {};
}

Expected<void> audit_projections(const Database& database, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(const TemporaryTables tables, TemporaryTables::create(database));
  Projector projector(database, "temp");
  {
    SHAPLEY_TRY_ASSIGN(Statement select,
                       database.prepare("SELECT seq, received, kind, payload FROM main.events ORDER BY seq"));
    SHAPLEY_TRY(visit_events(select, [&](const StoredEvent& stored) { return projector.project(stored.event); }));
  }
  SHAPLEY_TRY(rebuild_standings(database, "temp"));
  for (const std::string& table : TemporaryTables::all_tables()) {
    SHAPLEY_TRY(rows_missing(database, table, "main", "temp", "a row that does not follow from the events", report));
    SHAPLEY_TRY(rows_missing(database, table, "temp", "main", "a row that follows from the events is missing", report));
  }
  return {};
}

}  // namespace shapley::ledger
