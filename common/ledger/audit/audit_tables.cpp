// Audit of what follows from the events: the schema around them and the projections made from them.
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "accounting/estimators/table.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/encoding/event_store.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"
#include "ledger/store/start_check.hpp"

namespace shapley::ledger {

namespace {

constexpr const char* k_segment_table = "segment_events";  // the one table that grows with the jobs
constexpr std::int64_t k_rows_shown = 5;                   // of each table and kind of difference

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
    text += fmt::format("{}{} {}", column > 0 ? ", " : "", row.name(column),
                        row.is_null(column) ? "NULL" : std::string(row.text(column)));
  }
  return text;
}

// Names the first rows of `select` and counts the others.
Expected<void> find_rows(Statement select, const std::string& check, const std::string& verdict, AuditReport& report) {
  std::int64_t count = 0;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    if (++count <= k_rows_shown) report.findings.push_back({check, fmt::format("{}: {}", verdict, cells_of(select))});
  }
  if (count > k_rows_shown) {
    report.findings.push_back({check, fmt::format("{}: {} rows in all", verdict, count)});
  }
  return {};
}

constexpr const char* k_contributions = "contributions_by_day";

// Rows of estimators that there are no more cannot be made again.
std::string of_present_estimators(const std::string& table) {
  std::string condition;
  if (table != k_contributions) return condition;
  for (const accounting::FormerEstimator& former : accounting::former_estimators())
    condition += fmt::format("{} estimator <> '{}'", condition.empty() ? " WHERE" : " AND", former.name);
  return condition;
}

Expected<void> note_unchecked(const Database& database, AuditReport& report) {
  for (const accounting::FormerEstimator& former : accounting::former_estimators()) {
    SHAPLEY_TRY_ASSIGN(Statement select,
                       database.prepare(fmt::format(
                           "SELECT COUNT(*), MIN(day), MAX(day) FROM main.{} WHERE estimator = ?1", k_contributions)));
    SHAPLEY_TRY(select.bind(1, former.name).step());
    if (select.integer(0) == 0) continue;
    report.leave_unchecked(fmt::format("{}: {} by {}, of {} to {}", k_contributions, counted(select.integer(0), "row"),
                                       former.name, format_instant({select.integer(1)}),
                                       format_instant({select.integer(2)})));
  }
  return {};
}

// The rows that `left` has and `right` has not.
Expected<void> rows_missing(const Database& database, const std::string& table, const std::string& left,
                            const std::string& right, const std::string& verdict, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT * FROM " + left + "." + table + of_present_estimators(table) +
                                      " EXCEPT SELECT * FROM " + right + "." + table));
  return find_rows(std::move(select), "projection", fmt::format("{}: {}", table, verdict), report);
}

// Compares a table with what follows from the events.
Expected<void> compare_table(const Database& database, const std::string& table, AuditReport& report) {
  SHAPLEY_TRY(rows_missing(database, table, "main", "temp", "a row that does not follow from the events", report));
  return rows_missing(database, table, "temp", "main", "a row that follows from the events is missing", report);
}

bool is_of_segment(const accounting::Event& event) {
  return std::holds_alternative<accounting::SegmentOpened>(event) ||
         std::holds_alternative<accounting::SegmentClosed>(event) ||
         std::holds_alternative<accounting::SegmentRetracted>(event);
}

struct Strays {
  const char* verdict;
  const char* sql;
};

// Rows that no hash covers because the view `events` takes nothing from them.
constexpr std::array k_strays{
    Strays{"event_rows: a member that events of this kind do not have, or lack",
           "SELECT seq, kind FROM main.event_rows WHERE (job IS NULL) <> (kind = 0) OR (anchor IS NULL) <> (kind < 2) "
           "OR (ordinal IS NULL) <> (kind < 2) OR (organization IS NULL) <> (kind NOT IN (2, 3)) "
           "OR (processors IS NULL) <> (kind NOT IN (2, 3)) OR (placement IS NOT NULL AND kind NOT IN (2, 3)) "
           "OR (released IS NOT NULL AND kind <> 2) OR (waited_as IS NOT NULL AND kind NOT IN (2, 3)) "
           "OR (tasks IS NOT NULL AND kind <> 3) "
           "OR (reason IS NULL) <> (kind NOT IN (4, 5)) OR (job_state IS NULL) <> (kind NOT IN (4, 5))"},
    Strays{"event_jobs: a row of no event",
           "SELECT j.job, j.submit, j.seq FROM main.event_jobs j LEFT JOIN main.event_rows e ON e.seq = j.seq "
           "WHERE e.kind IS NOT 1 OR e.job IS NOT j.job OR e.at IS NOT j.submit"},
    Strays{"event_nodes: a row of no event",
           "SELECT n.seq, n.position FROM main.event_nodes n LEFT JOIN main.event_rows e ON e.seq = n.seq "
           "WHERE e.kind IS NULL OR e.kind NOT IN (2, 3)"},
    Strays{"event_nodes: positions are not 0, 1, 2, ...",
           "SELECT seq FROM main.event_nodes GROUP BY seq HAVING MIN(position) <> 0 OR MAX(position) <> COUNT(*) - 1"},
    Strays{"event_texts: a row of no event",
           "SELECT t.seq, t.key FROM main.event_texts t LEFT JOIN main.event_rows e ON e.seq = t.seq "
           "WHERE e.kind IS NOT 0"},
};

// Payloads, and so the chain, contain a word's json; views show its text.
Expected<bool> audit_words(const Database& database, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT word, json, text FROM main.words"));
  bool right = true;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return right;
    if (meaning_of(select.text(1)) == select.text(2)) continue;
    right = false;
    report.findings.push_back({"chain", "words: the text is not what the json means: " + cells_of(select)});
  }
}

// The events that segment_events names, row by row: each must be an event of that segment.
constexpr const char* k_segments =
    "FROM main.segment_events s LEFT JOIN main.event_rows o ON o.seq = s.opened "
    "LEFT JOIN main.event_rows c ON c.seq = s.closed LEFT JOIN main.event_rows r ON r.seq = s.retracted";

// The number of rows, of the events that they name, and of rows that name an event of another segment.
struct SegmentCounts {
  std::int64_t rows = 0;
  std::int64_t named = 0;
  std::int64_t wrong = 0;
  std::int64_t turned = 0;  // that end before they begin
};

Expected<SegmentCounts> count_segments(const Database& database) {
  const auto right = [](const std::string& column, const std::string& event, int kind) {
    return "(s." + column + " IS NULL OR (" + event + ".kind = s.kind + " + std::to_string(kind) + " AND " + event +
           ".job = s.job AND " + event + ".anchor = s.anchor AND " + event + ".ordinal = s.ordinal))";
  };
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT COUNT(*), COUNT(s.opened) + COUNT(s.closed) + COUNT(s.retracted), "
                                      "COUNT(*) - COUNT(CASE WHEN s.kind IN (0, 1) AND "
                                      "COALESCE(s.opened, s.closed, s.retracted) IS NOT NULL AND " +
                                      right("opened", "o", 2) + " AND " + right("closed", "c", 4) + " AND " +
                                      right("retracted", "r", 6) +
                                      " THEN 1 END), COUNT(CASE WHEN c.at < o.at THEN 1 END) " + k_segments));
  SHAPLEY_TRY(select.step());
  return SegmentCounts{select.integer(0), select.integer(1), select.integer(2), select.integer(3)};
}

// Makes the table again to show which rows differ. If two events state the same fact it names the later one only.
Expected<void> compare_segments(const Database& database, Projector& projector, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY(reader.visit(0, std::numeric_limits<std::int64_t>::max(), [&](const StoredEvent& stored) {
    return is_of_segment(stored.event) ? projector.project(stored.event, stored.sequence) : Expected<void>{};
  }));
  SHAPLEY_TRY_ASSIGN(report.segments, database.integer("SELECT COUNT(*) FROM temp.segment_events"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t repeated,
                     database.integer("SELECT (SELECT COUNT(*) FROM main.event_rows WHERE kind >= 2) - "
                                      "(SELECT COUNT(opened) + COUNT(closed) + COUNT(retracted) "
                                      "FROM temp.segment_events)"));
  if (repeated > 0) {
    report.findings.push_back({"chain", "events of segments that state a fact again: " + std::to_string(repeated)});
  }
  return compare_table(database, k_segment_table, report);
}

// Fills the other tables, which are made from few events.
Expected<void> project_others(const Database& database, Projector& projector) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq FROM main.event_rows WHERE kind = 0 ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return {};
    const std::int64_t sequence = select.integer(0);
    SHAPLEY_TRY(reader.visit(sequence - 1, sequence, [&](const StoredEvent& stored) {
      return projector.project(stored.event, stored.sequence);
    }));
  }
}

// If every name is right, and there are as many names as events, then no event is missing and no fact is stated twice,
// because an event determines the row and column in which it must be named. So nothing need be made again.
Expected<void> audit_segments(const Database& database, Projector& projector, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(const SegmentCounts counts, count_segments(database));
  SHAPLEY_TRY_ASSIGN(const std::int64_t events,
                     database.integer("SELECT COUNT(*) FROM main.event_rows WHERE kind >= 2"));
  if (counts.turned > 0) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT s.opened, s.closed, o.at AS begin, c.at AS end " +
                                                          std::string(k_segments) + " WHERE c.at < o.at"));
    SHAPLEY_TRY(find_rows(std::move(select), "rebuild", "events by which a segment ends before it begins", report));
  }
  report.segments = counts.rows;
  if (counts.wrong == 0 && counts.named == events) return {};
  return compare_segments(database, projector, report);
}

// The fault of a head in the file, given the row of its event; empty if there is no fault.
std::string head_fault(const Statement& row) {
  const auto head = parse_head(row.text(2));
  if (!head) return head.error().what;
  if (head->ledger != row.text(3)) return "it is of ledger " + head->ledger;
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
  if (tables < 2) return {};  // audit_schema has reported it
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare("SELECT h.sequence, h.at, h.text, (SELECT ledger FROM main.identity), e.hash "
                       "FROM main.heads h LEFT JOIN main.event_rows e ON e.seq = h.sequence ORDER BY h.sequence"));
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return {};
    if (const std::string fault = head_fault(select); !fault.empty()) {
      report.findings.push_back({"head", fmt::format("the signed head of event {}: {}", select.text(0), fault)});
    }
  }
}

Expected<bool> audit_genesis(const Database& database, AuditReport& report) {
  auto genesis = read_genesis(database);
  if (genesis && !*genesis) return true;
  const Expected<void> sound = genesis ? check_genesis(database, **genesis) : tl::unexpected<Error>(genesis.error());
  if (!sound) {
    if (sound.error().code != Errc::corrupt) return tl::unexpected<Error>(sound.error());
    report.findings.push_back({"genesis", sound.error().what});
    return false;
  }
  const Genesis& begin = **genesis;
  report.notes.push_back(
      fmt::format("it begins after event {} with hash {}, the last one of its archive {}, with the books of {} and "
                  "copies of {} archived events",
                  begin.sequence, to_hex(begin.hash), begin.archive, format_instant(begin.until), begin.copies));
  return true;
}

Expected<void> audit_schema(const Database& database, AuditReport& report) {
  // Checked again: since the file was opened a process may have changed it, up to the snapshot that is audited.
  SHAPLEY_TRY(check_nothing_foreign(database, newest_schema()));
  SHAPLEY_TRY_ASSIGN(const Schema genuine, genuine_schema(newest_schema()));
  SHAPLEY_TRY_ASSIGN(const Schema found, schema_of(database));
  for (const SchemaObject& object : genuine) {
    if (!found.contains(object)) report.findings.push_back({"schema", object.name + " is missing"});
  }
  return {};
}

Expected<bool> audit_pages(const Database& database, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(Statement check, database.prepare("PRAGMA main.integrity_check(20)"));
  bool sound = true;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, check.step());
    if (!there) return sound;
    if (check.text(0) == "ok") continue;
    sound = false;
    report.findings.push_back({"pages", std::string(check.text(0))});
  }
}

Expected<bool> audit_details(const Database& database, AuditReport& report) {
  for (const Strays& strays : k_strays) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(strays.sql));
    SHAPLEY_TRY(find_rows(std::move(select), "chain", strays.verdict, report));
  }
  return audit_words(database, report);
}

Expected<void> audit_projections(const Database& database, AuditReport& report, const AuditOptions& options,
                                 const DaysWatch& watch) {
  SHAPLEY_TRY_ASSIGN(const TemporaryTables tables, TemporaryTables::create(database));
  Projector projector(database, "temp");
  report_progress(options.on_progress, {.what = "segments"});
  SHAPLEY_TRY(audit_segments(database, projector, report));
  SHAPLEY_TRY(project_others(database, projector));
  SHAPLEY_TRY(rebuild_standings(database, "temp", options.pace, options.on_progress, watch));
  SHAPLEY_TRY(note_unchecked(database, report));
  for (const std::string& table : TemporaryTables::all_tables()) {
    if (table != k_segment_table) SHAPLEY_TRY(compare_table(database, table, report));
  }
  return {};
}

}  // namespace shapley::ledger
