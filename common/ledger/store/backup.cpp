#include "ledger/store/backup.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "ledger/encoding/chain_walk.hpp"
#include "ledger/file/database.hpp"
#include "ledger/store/acknowledged.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

tl::unexpected<Error> cannot(const path& file, std::string_view operation) {
  return system_failure(fmt::format("{}: cannot {}", file.string(), operation), errno);
}

// The mode of a copy, which no daemon works with: the group may read it.
constexpr unsigned k_copy_mode = 0640;

// Makes a copy, synced and verified, not yet under its name.
Expected<BackupResult> copy_verified(const Database& from, const PartialFile& partial, unsigned mode) {
  SHAPLEY_TRY(partial.create(mode));
  {
    SHAPLEY_TRY_ASSIGN(const Database to, Database::open(partial.file().string(), SQLITE_OPEN_READWRITE));
    // No process opens the file before it is complete, so it need not be crash-safe.
    SHAPLEY_TRY(to.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"));
    SHAPLEY_TRY(from.copy_to(to));
  }
  SHAPLEY_TRY(sync_file(partial.file()));
  auto verified = verify_copy(partial.file());
  if (!verified) return with_context("the copy does not verify", std::move(verified).error());
  return verified;
}

Expected<BackupResult> copy_ledger(const path& from, const PartialFile& partial, unsigned mode) {
  auto copied = [&]() -> Expected<BackupResult> {
    SHAPLEY_TRY_ASSIGN(const Database source, open_for_copying(from));
    return copy_verified(source, partial, mode);
  }();
  if (!copied) return with_context("copy " + from.string(), std::move(copied).error());
  return copied;
}

// Gives the old file and its log other names; the ledger's name exists at every moment.
Expected<path> keep_aside(const path& ledger, Instant now) {
  std::error_code error;
  if (!std::filesystem::exists(ledger, error)) return path();
  const path aside = fmt::format("{}.replaced-{}", ledger.string(), stamp_of(now));
  if (::link(ledger.c_str(), aside.c_str()) != 0) return cannot(aside, "keep the present ledger as this");
  const path log = ledger.string() + "-wal";
  if (std::filesystem::exists(log, error) && ::rename(log.c_str(), (aside.string() + "-wal").c_str()) != 0) {
    return cannot(log, "keep the present ledger's log aside");
  }
  // Without its log, the log's index would belong to no file.
  std::filesystem::remove(ledger.string() + "-shm", error);
  // A power loss must not leave the new file beside the old one's log: SQLite would fold the one into the other.
  SHAPLEY_TRY(sync_file(directory_of(ledger)));
  return aside;
}

// What came after the copy is in the file that was replaced, or nowhere: shapleyd records that time as a gap. What was
// acknowledged here says it more exactly, unless it is of another ledger or from before the copy; so does what the copy
// carries, once: of a second restore nothing is known.
Expected<void> note_restored(const path& file, const path& backup, const BackupResult& restored) {
  SHAPLEY_TRY_ASSIGN(const Database database, open_alone(file));
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT ledger FROM identity"));
  SHAPLEY_TRY_ASSIGN(const bool there, select.step());
  if (!there) return fail(Errc::corrupt, "it has no identity");
  const std::string identity(select.text(0));
  const auto known = read_acknowledged(file);
  if (known && known->ledger == identity && known->sequence >= restored.events) return {};
  auto last = read_carried(backup);
  const bool is_carried = last && last->ledger == identity;
  if (!is_carried) last = Acknowledged{.ledger = identity, .sequence = restored.events, .hash = {}};
  SHAPLEY_TRY(write_acknowledged(file, *last));
  take_owner_of(file, acknowledged_file(file));
  SHAPLEY_TRY(sync_file(acknowledged_file(file)));
  return is_carried ? write_carried(backup, std::nullopt) : Expected<void>();
}

Expected<path> put_in_place(const path& backup, const path& ledger, Instant now, BackupResult& restored) {
  std::error_code error;
  if (std::filesystem::exists(ledger, error) && !std::filesystem::is_regular_file(ledger, error))
    return fail(Errc::conflict, "it is no regular file and is not replaced; name the ledger's file");
  SHAPLEY_TRY_ASSIGN(const WriterLock lock, WriterLock::acquire(ledger));
  // If there was no ledger, root has just created the lock file.
  take_owner_of(directory_of(ledger), ledger.string() + ".lock");
  const PartialFile partial(ledger.string() + ".partial");
  SHAPLEY_TRY_ASSIGN(restored, copy_ledger(backup, partial, k_live_file_mode));
  take_owner_of(std::filesystem::exists(ledger) ? ledger : directory_of(ledger), partial.file());
  SHAPLEY_TRY_ASSIGN(const path aside, keep_aside(ledger, now));
  SHAPLEY_TRY(partial.become(ledger));
  SHAPLEY_TRY(note_restored(ledger, backup, restored));
  return aside;
}

// Whether the file is a copy of the ledger as it is now.
bool is_copy(const path& file, const Head& head, std::int64_t schema) {
  const auto database = open_alone(file);
  if (!database) return false;
  const auto version = database->integer("PRAGMA user_version");
  const auto copied = read_head(*database);
  return version && *version == schema && copied && copied->sequence == head.sequence && copied->hash == head.hash;
}

// A migration that is killed is tried again with every start of shapleyd: one copy is enough.
bool has_copy(const Database& database, const path& ledger, std::int64_t schema) {
  const auto head = read_head(database);
  if (!head) return false;
  const std::string prefix = fmt::format("{}.schema-{}-", ledger.filename().string(), schema);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_of(ledger), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".backup") && is_copy(entry.path(), *head, schema)) return true;
  }
  return false;
}

}  // namespace

Expected<void> take_alone(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement mode, database.prepare("PRAGMA main.journal_mode = DELETE"));
  auto answered = mode.step();
  if (answered && *answered && mode.text(0) == "delete") return {};
  return fail(Errc::conflict, "a process reads it; end what reads it (fuser FILE names the processes) and try again");
}

Expected<BackupResult> verify_copy(const path& file) {
  SHAPLEY_TRY_ASSIGN(const Database database, open_alone(file));
  SHAPLEY_TRY_ASSIGN(Statement check, database.prepare("PRAGMA integrity_check(1)"));
  SHAPLEY_TRY_ASSIGN(const bool answered, check.step());
  if (!answered || check.text(0) != "ok") {
    return fail(Errc::corrupt, "a page is damaged: " + std::string(answered ? check.text(0) : "no answer"));
  }
  SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(database));
  if (genesis) SHAPLEY_TRY(check_genesis(database, *genesis));
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY(check_chain(database, begin.sequence, begin.hash));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  return BackupResult{.events = head.sequence, .hash = to_hex(head.hash)};
}

Expected<void> back_up_before_migration(const Database& database, const path& ledger, std::int64_t schema) {
  if (has_copy(database, ledger, schema)) return {};
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const Instant now{std::chrono::duration_cast<std::chrono::seconds>(clock).count()};
  const path target = fmt::format("{}.schema-{}-{}.backup", ledger.string(), schema, stamp_of(now));
  auto done = [&]() -> Expected<void> {
    // One name for all tries, so that killed ones do not fill the disk.
    const PartialFile partial(fmt::format("{}.schema-{}.backup.partial", ledger.string(), schema));
    SHAPLEY_TRY(copy_verified(database, partial, k_live_file_mode));
    return partial.become(target);
  }();
  if (!done) return with_context("backup before the migration: " + target.string(), std::move(done).error());
  return {};
}

Expected<BackupResult> back_up(const path& ledger, const path& target, Overwrite overwrite) {
  auto done = [&]() -> Expected<BackupResult> {
    std::error_code error;
    const bool exists = std::filesystem::exists(target, error);
    if (exists && std::filesystem::equivalent(ledger, target, error)) {
      return fail(Errc::conflict, "that is the ledger itself; name another file");
    }
    if (exists && !std::filesystem::is_regular_file(target, error))
      return fail(Errc::conflict, "exists already and is no regular file; name another file");
    if (exists && overwrite == Overwrite::no) {
      return fail(Errc::conflict, "exists already; name another file, or overwrite it with --force");
    }
    const PartialFile partial(target.string() + ".partial");
    SHAPLEY_TRY(write_carried(target, std::nullopt));
    // A copy of a copy carries nothing, and where shapleyd goes on the copy lacks what comes.
    const auto known = read_acknowledged(ledger);
    const auto lock = known ? WriterLock::acquire(ledger) : fail(Errc::not_found, {});
    SHAPLEY_TRY_ASSIGN(BackupResult result, copy_ledger(ledger, partial, k_copy_mode));
    SHAPLEY_TRY(partial.become(target));
    if (lock) SHAPLEY_TRY(write_carried(target, known));
    return result;
  }();
  if (!done) return with_context("backup: " + target.string(), std::move(done).error());
  return done;
}

Expected<path> restore(const path& backup, const path& ledger, Instant now, BackupResult& restored) {
  auto aside = put_in_place(backup, ledger, now, restored);
  if (!aside) return with_context("restore: " + ledger.string(), std::move(aside).error());
  return aside;
}

namespace {

using std::filesystem::path;

Expected<void> write_compact(const Database& from, const path& to, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t pages, from.integer("PRAGMA main.page_count"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t unused, from.integer("PRAGMA main.freelist_count"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t page_size, from.integer("PRAGMA main.page_size"));
  const StepNotice notice(from, [&] {
    std::error_code error;
    const std::uintmax_t written = std::filesystem::file_size(to, error);
    if (!error)
      report_progress(on_progress, {"bytes written", static_cast<std::int64_t>(written), (pages - unused) * page_size});
  });
  const std::string target = to.string();
  SHAPLEY_TRY_ASSIGN(Statement vacuum, from.prepare("VACUUM main INTO ?1"));
  SHAPLEY_TRY(vacuum.bind(1, target).run());
  return sync_file(to);
}

Expected<std::vector<std::string>> tables_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"));
  std::vector<std::string> tables;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return tables;
    tables.emplace_back(select.text(0));
  }
}

bool same_row(const Statement& a, const Statement& b) {
  if (a.columns() != b.columns()) return false;
  for (int column = 0; column < a.columns(); ++column) {
    if (a.is_null(column) != b.is_null(column) || a.text(column) != b.text(column)) return false;
  }
  return true;
}

Expected<void> compare_table(const Database& a, const Database& b, const std::string& table,
                             const OnProgress& on_progress) {
  const std::string sql = "SELECT * FROM main." + table;
  SHAPLEY_TRY_ASSIGN(Statement left, a.prepare(sql));
  SHAPLEY_TRY_ASSIGN(Statement right, b.prepare(sql));
  std::int64_t rows = 0;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool more, left.step());
    SHAPLEY_TRY_ASSIGN(const bool as_many, right.step());
    if (more != as_many || (more && !same_row(left, right))) {
      return fail(Errc::corrupt, fmt::format("the new file differs in row {} of {}", rows + 1, table));
    }
    if (!more) return {};
    if (++rows % k_events_between_calls == 0) report_progress(on_progress, {"rows compared", rows});
  }
}

Expected<void> compare_files(const Database& a, const path& file, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const Database b, open_alone(file));
  SHAPLEY_TRY_ASSIGN(const std::vector<std::string> tables, tables_of(a));
  SHAPLEY_TRY_ASSIGN(const std::vector<std::string> copied, tables_of(b));
  if (tables != copied) return fail(Errc::corrupt, "the new file has other tables");
  for (const std::string& table : tables) SHAPLEY_TRY(compare_table(a, b, table, on_progress));
  return {};
}

Expected<CompactResult> rewrite(const path& ledger, const OnProgress& on_progress) {
  std::error_code error;
  CompactResult result;
  result.bytes_before = std::filesystem::file_size(ledger, error);
  if (error) return fail(Errc::not_found, error.message() + "; check the path");
  SHAPLEY_TRY_ASSIGN(const WriterLock lock, WriterLock::acquire(ledger));
  // If there was no lock file, root has just created it.
  take_owner_of(ledger, ledger.string() + ".lock");
  const PartialFile partial(ledger.string() + ".compact");
  {
    SHAPLEY_TRY_ASSIGN(const Database database, open_old_for_writing(ledger, on_progress));
    SHAPLEY_TRY(take_alone(database));
    SHAPLEY_TRY(partial.create(k_live_file_mode));
    SHAPLEY_TRY(write_compact(database, partial.file(), on_progress));
    SHAPLEY_TRY(compare_files(database, partial.file(), on_progress));
  }
  report_progress(on_progress, {.what = "the new file's hash chain is being computed"});
  SHAPLEY_TRY_ASSIGN(result.verified, verify_copy(partial.file()));
  take_owner_of(ledger, partial.file());
  result.bytes_after = std::filesystem::file_size(partial.file(), error);
  SHAPLEY_TRY(partial.become(ledger));
  return result;
}

}  // namespace

Expected<CompactResult> compact(const path& ledger, const OnProgress& on_progress) {
  auto result = rewrite(ledger, on_progress);
  if (!result) return with_context("compact: " + ledger.string(), std::move(result).error());
  return result;
}

}  // namespace shapley::ledger
