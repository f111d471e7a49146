#include "ledger/archive/part.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/file/database.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/store/backup.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"
#include "ledger/store/start_check.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

// The ledger that it is made from is attached as a URI.
constexpr int k_written = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;

Expected<void> create_objects(const Database& to, const Schema& schema, std::string_view type) {
  for (const SchemaObject& object : schema) {
    // SQLite makes the indices of constraints by itself.
    if (object.type == type && !object.sql.empty()) SHAPLEY_TRY(to.execute(object.sql));
  }
  return {};
}

// ?1: the last archived event; ?2: the memory horizon. A segment is over when it ended, or was retracted, before the
// memory horizon.
constexpr std::string_view k_segments_not_over =
    "WITH kept AS (SELECT opened, closed, retracted FROM source.segment_events s WHERE NOT EXISTS ("
    "  SELECT 1 FROM source.event_rows e WHERE e.seq IN (s.closed, s.retracted) AND e.seq <= ?1 AND e.at < ?2)) "
    "INSERT INTO temp.copied SELECT seq FROM (SELECT opened AS seq FROM kept UNION ALL SELECT closed FROM kept "
    "UNION ALL SELECT retracted FROM kept) WHERE seq <= ?1";

constexpr std::string_view k_their_jobs =
    "INSERT INTO temp.copied SELECT j.seq FROM source.event_jobs j WHERE j.seq <= ?1 AND (j.submit >= ?2 "
    "OR j.job IN (SELECT e.job FROM temp.copied c JOIN source.event_rows e ON e.seq = c.seq))";

// Declarations stay in force. Changes of jobs are copied with their descriptions; of placements, what the books need;
// of a node, the last state before the memory horizon and the largest one, from which its owners' parts follow.
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

Expected<void> choose_copies(const Database& to, const LedgerPart& part) {
  SHAPLEY_TRY(to.execute("CREATE TEMP TABLE copied (seq INTEGER PRIMARY KEY)"));
  if (!part.genesis) return {};
  for (const std::string_view sql : {k_segments_not_over, k_their_jobs, k_declarations}) {
    SHAPLEY_TRY_ASSIGN(Statement insert, to.prepare(sql));
    SHAPLEY_TRY(insert.bind(1, part.genesis->sequence).bind(2, part.genesis->memory_horizon.value).run());
  }
  return {};
}

// Runs `sql`, in which own events are numbered from ?1 + 1 to ?2. A ledger that begins with event 1 may have been
// signed, or its day ended, before the first event.
Expected<void> copy(const Database& to, const std::string& sql, const LedgerPart& part) {
  SHAPLEY_TRY_ASSIGN(Statement insert, to.prepare(sql));
  return insert.bind(1, part.genesis ? part.genesis->sequence : -1).bind(2, part.last).run();
}

// Copies what belongs to the part besides events.
Expected<void> copy_details(const Database& to, const LedgerPart& part) {
  const std::string own = " WHERE sequence > ?1 AND sequence <= ?2";
  SHAPLEY_TRY(copy(to, "INSERT INTO main.heads SELECT * FROM source.heads" + own, part));
  SHAPLEY_TRY(copy(to, "INSERT INTO main.books_by_day SELECT * FROM source.books_by_day" + own, part));
  if (part.has_checkpoints) {
    SHAPLEY_TRY(copy(to, "INSERT INTO main.checkpoints SELECT * FROM source.checkpoints" + own, part));
    // Parts of older checkpoints are copied, too: the next checkpoint uses or removes them.
    SHAPLEY_TRY(to.execute("INSERT INTO main.checkpoint_parts SELECT * FROM source.checkpoint_parts"));
  }
  return to.execute(
      "INSERT INTO main.contributions_by_day SELECT * FROM source.contributions_by_day "
      "WHERE day IN (SELECT day FROM main.books_by_day)");
}

Expected<void> copy_rows(const Database& to, const LedgerPart& part, const OnProgress& on_progress) {
  const std::string chosen = " WHERE (seq > ?1 AND seq <= ?2) OR seq IN (SELECT seq FROM temp.copied) ORDER BY ";
  for (const auto& [table, order] : {std::pair{"event_rows", "seq"}, std::pair{"event_nodes", "seq, position"},
                                     std::pair{"event_jobs", "job, submit"}, std::pair{"event_texts", "seq"}}) {
    report_progress(on_progress, {.what = table});
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
  insert.bind(5, genesis.begin.value).bind(6, genesis.until.value).bind(7, genesis.memory_horizon.value);
  insert.bind(8, genesis.books).bind_blob(9, genesis.books_hash).bind(10, genesis.copies);
  return insert.bind_blob(11, genesis.copies_hash).run();
}

Expected<void> project(const Database& to, const OnProgress& on_progress) {
  Projector projector(to, "main");
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(to));
  std::int64_t done = 0;
  return reader.visit(0, std::numeric_limits<std::int64_t>::max(), [&](const StoredEvent& stored) {
    if (++done % k_events_between_calls == 0) report_progress(on_progress, {"events projected", done});
    return projector.project(stored.event, stored.sequence);
  });
}

Expected<void> attach_source(const Database& to, const path& from) {
  // Read-only: the ledger does not change while a part of it is written.
  const std::string source = uri_of(from, "mode=ro");
  SHAPLEY_TRY_ASSIGN(Statement attach, to.prepare("ATTACH ?1 AS source"));
  return attach.bind(1, source).run();
}

Expected<void> fill(const Database& to, const path& from, LedgerPart& part, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const Schema schema, genuine_schema(newest_schema()));
  // No process opens the file before it is complete, so it need not be crash-safe.
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
  report_progress(on_progress, {.what = "pages are being packed"});
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
         a->begin == b->begin && a->until == b->until && a->memory_horizon == b->memory_horizon &&
         a->books_hash == b->books_hash;
}

Expected<void> check_belongs(const path& from, const path& to, const LedgerPart& part) {
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
  return fail(Errc::corrupt, fmt::format("an audit of it finds: {}: {}; shapleyctl audit of the ledger says more",
                                         report.findings.front().check, report.findings.front().what));
}

}  // namespace

Expected<void> write_part(const path& from, const path& to, LedgerPart& part, const OnProgress& on_progress) {
  auto written = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(const Database database, Database::open(to.string(), k_written | SQLITE_OPEN_CREATE));
    return fill(database, from, part, on_progress);
  }();
  if (!written) return with_context("write " + to.string(), std::move(written).error());
  return sync_file(to);
}

Expected<void> check_part(const path& from, const path& to, const LedgerPart& part, const OnProgress& on_progress) {
  report_progress(on_progress, {.what = "what was written is read again and audited"});
  auto checked = check_belongs(from, to, part);
  if (checked) checked = audit_part(to);
  if (!checked) return with_context(to.string(), std::move(checked).error());
  return {};
}

namespace {

using accounting::State;
using accounting::StateOptions;

// The usual memory of a restart: late events that are so much older than the end of an archive are booked.
constexpr Duration k_usual_memory = StateOptions{}.memory_horizon;
// A bound, because the opening books hold all jobs of this time, in memory at every start and in the file.
constexpr Duration k_longest_memory{14 * k_day_s};

// SQL for the first instant at which an event after `sequence` changes the books; a run reaches back to its release,
// and so does its retraction.
std::string first_reach() {
  return "SELECT MIN(CASE WHEN e.kind >= :retracted THEN COALESCE((SELECT " + reach_of_segment("o") +
         " FROM main.segment_events s "
         "  JOIN main.event_rows o ON o.seq = s.opened "
         "  WHERE s.job = e.job AND s.anchor = e.anchor AND s.kind = e.kind - :retracted AND s.ordinal = e.ordinal), "
         "e.anchor) "
         "  ELSE " +
         reach_of_segment("e") +
         " END) "
         "FROM main.event_rows e WHERE e.seq > ?1 AND (e.kind >= :opened OR (e.kind = :text AND EXISTS ("
         "  SELECT 1 FROM main.event_texts t WHERE t.seq = e.seq AND t.kind IN ('organizations_declared', "
         "  'ownership_stated', 'capacity_changed', 'period_declared', 'placement_resolved'))))";
}

// The number that `sql` returns for ?1, ?2; nullopt for NULL.
Expected<std::optional<std::int64_t>> number(const Database& database, std::string_view sql, std::int64_t first,
                                             std::optional<std::int64_t> second = std::nullopt) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
  select.bind(1, first);
  if (second) select.bind(2, *second);
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row || select.is_null(0)) return std::nullopt;
  return select.integer(0);
}

class Planner {
 public:
  Planner(const Database& database, const std::filesystem::path& ledger) : database_(database), ledger_(ledger) {}

  Expected<Cuts> run(const OnProgress& on_progress) {
    SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(database_));
    if (genesis) last_ = {.sequence = genesis->sequence, .hash = genesis->hash};
    const Instant archived = genesis ? genesis->until : k_beginning_of_time;
    SHAPLEY_TRY_ASSIGN(const Recovered books, recover_books(database_, k_as_saved));
    const auto& closed = books.state.closed_periods();
    std::optional<Instant> begin;  // of the periods that are not in an archive yet
    for (std::size_t i = 0; i + 1 < closed.size(); ++i) {
      if (closed[i].end <= archived) continue;
      if (!begin) begin = closed[i].begin;
      report_progress(on_progress,
                      {"periods looked at", static_cast<std::int64_t>(i), static_cast<std::int64_t>(closed.size())});
      SHAPLEY_TRY_ASSIGN(const bool cut, try_cut(*begin, closed[i].end));
      cuts_.uncut = cut ? 0 : cuts_.uncut + 1;
      if (cut) begin.reset();
    }
    return std::move(cuts_);
  }

 private:
  // The last event before the first one whose `time` is the period's end or later; what is archived: no such event
  // follows.
  Expected<std::int64_t> last_before(const std::string& time, Instant until) {
    SHAPLEY_TRY_ASSIGN(const auto first,
                       number(database_, "SELECT MIN(seq) FROM main.event_rows WHERE seq > ?1 AND " + time + " >= ?2",
                              last_.sequence, until.value));
    return first ? *first - 1 : last_.sequence;
  }

  Expected<bool> try_cut(Instant begin, Instant until) {
    SHAPLEY_TRY_ASSIGN(std::int64_t sequence, last_before("received", until));
    if (sequence <= last_.sequence) {
      SHAPLEY_TRY_ASSIGN(sequence, last_before("at", until));
    }
    if (sequence <= last_.sequence) return false;
    SHAPLEY_TRY_ASSIGN(const auto reach, number(database_, with_kinds(first_reach()), sequence));
    const Instant needed = std::min(until - k_usual_memory, Instant{reach.value_or(until.value)});
    if (needed < until - k_longest_memory) return false;
    SHAPLEY_TRY_ASSIGN(const auto hash, hash_of_event(database_, sequence));
    if (!hash) return fail(Errc::corrupt, fmt::format("event {} is missing", sequence));
    Genesis genesis{.sequence = sequence,
                    .hash = *hash,
                    .events = sequence - last_.sequence,
                    .archive = archive_name(ledger_, until),
                    .begin = begin,
                    .until = until,
                    .memory_horizon = {},
                    .books = {}};
    SHAPLEY_TRY_ASSIGN(BooksAtCut books,
                       books_at_cut(database_, cuts_.made.empty() ? nullptr : &cuts_.made.back(), sequence, needed));
    genesis.books = std::move(books.text);
    genesis.memory_horizon = books.memory_horizon;
    SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
    SHAPLEY_TRY_ASSIGN(genesis.books_hash, hasher.checkpoint(*hash, until.value, genesis.books));
    last_ = {.sequence = sequence, .hash = *hash};
    cuts_.made.push_back(std::move(genesis));
    return true;
  }

  const Database& database_;
  const std::filesystem::path& ledger_;
  Head last_;  // the last event that is archived, or to be archived
  Cuts cuts_;
};

}  // namespace

std::string archive_name(const std::filesystem::path& ledger, Instant until) {
  constexpr std::size_t k_year_and_month = 7;
  return fmt::format("{}.{}.db.xz", ledger.stem().string(),
                     format_instant(until - Duration{1}).substr(0, k_year_and_month));
}

Expected<BooksAtCut> books_at_cut(const Database& database, const Genesis* from, std::int64_t sequence,
                                  Instant memory_horizon, const ReplayPace& pace) {
  Recovered books{.state = State(k_remembers_nothing)};
  if (from != nullptr) {
    SHAPLEY_TRY_ASSIGN(books.state, State::load(from->books, k_remembers_nothing));
    books.last_sequence = from->sequence;
  } else {
    SHAPLEY_TRY_ASSIGN(books, opening_books(database, k_remembers_nothing));
  }
  const EventRange events{.database = &database, .after = books.last_sequence, .upto = sequence};
  SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_time({events}, std::move(books), {.pace = pace, .keep = memory_horizon}));
  SHAPLEY_TRY(fold.advance_to(k_end_of_time));
  State& state = fold.books().state;
  state.compact(memory_horizon);
  return BooksAtCut{.text = state.save(), .memory_horizon = state.memory_horizon()};
}

Expected<Cuts> plan_cuts(const Database& database, const std::filesystem::path& ledger, const OnProgress& on_progress) {
  return Planner(database, ledger).run(on_progress);
}

}  // namespace shapley::ledger
