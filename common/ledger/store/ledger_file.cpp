#include "ledger/store/ledger_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/contract.hpp"
#include "ledger/store/backup.hpp"
#include "ledger/store/start_check.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

constexpr std::string_view k_sqlite_magic{"SQLite format 3\0", 16};
constexpr std::string_view k_who_may_read =
    "; a live ledger is for shapleyd's user and root alone: read a copy, which they make with shapleyctl backup";
constexpr std::string_view k_way_out =
    "; what is left can be looked at with shapleyctl audit, the way out is shapleyctl restore BACKUP, "
    "or to move this file away and begin a new ledger";

constexpr std::string_view k_other_program = "; use the program that wrote it, or a newer one";

// How a writer works: the log is flushed at every commit, so that what append() returned for is on disk. The log is
// folded into the file every 1,000 pages (4 MB): a damaged bit costs what follows it in the log (acknowledged.hpp), and
// each fold is a pause. While a reader stays, the log can only grow; the first commit after it cuts the log to 64 MiB.
// What is dropped holds no secrets and need not be overwritten.
constexpr const char* k_writer_settings =
    "PRAGMA busy_timeout = 5000;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 1000;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA cache_size = -16384;"
    "PRAGMA secure_delete = OFF;";

// Once it is open, a writer does not wait: only root can hold the lock that a commit needs, and the daemon would
// do nothing else meanwhile. A commit that fails is tried again.
constexpr const char* k_open_writer_settings = "PRAGMA busy_timeout = 50;";

// No query_only: an audit builds temporary tables, and the connection is opened for reading anyway.
constexpr const char* k_reader_settings = "PRAGMA busy_timeout = 5000;";

// For a thread that no other thread waits for. NORMAL: its commits are not synced (ledger_file.hpp).
constexpr const char* k_second_writer_settings =
    "PRAGMA busy_timeout = 5000;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA secure_delete = OFF;";

constexpr std::string_view k_no_such_file = "no such file; check the path";
constexpr std::string_view k_empty_file = "an empty file, not a ledger";

enum class FileKind { missing, empty, sqlite, other };

Expected<FileKind> kind_of_file(const path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return FileKind::missing;
  if (error == std::errc::permission_denied) return fail(Errc::io, error.message() + std::string(k_who_may_read));
  if (error) return fail(Errc::io, error.message());
  if (!std::filesystem::is_regular_file(status)) return FileKind::other;
  auto in = InputFile::open(file);
  if (!in) return fail(Errc::io, std::strerror(errno) + std::string(k_who_may_read));
  std::array<char, 16> magic{};
  in->read(magic.data(), magic.size());
  if (in->gcount() == 0) return FileKind::empty;
  const bool fits = std::string_view(magic.data(), static_cast<std::size_t>(in->gcount())) == k_sqlite_magic;
  // A power loss may tear the first sector; SQLite repairs it from the log or journal beside the file.
  const bool mendable = has_sound_log(file) || std::filesystem::exists(file.string() + "-journal", error);
  return fits || mendable ? FileKind::sqlite : FileKind::other;
}

tl::unexpected<Error> no_ledger(std::string_view why) {
  return fail(Errc::corrupt, std::string(why) + std::string(k_way_out));
}

// SQLite would create the file with its own permissions; its log and index get those of the file.
Expected<void> create(const path& file) {
  SHAPLEY_TRY(create_file(file, k_live_file_mode));
  return sync_file(std::filesystem::absolute(file).parent_path());
}

struct Version {
  std::int64_t application = 0;
  std::int64_t schema = 0;
  std::int64_t tables = 0;
};

Expected<Version> version_of(const Database& database) {
  Version version;
  SHAPLEY_TRY_ASSIGN(version.application, database.integer("PRAGMA application_id"));
  SHAPLEY_TRY_ASSIGN(version.schema, database.integer("PRAGMA user_version"));
  SHAPLEY_TRY_ASSIGN(version.tables, database.integer("SELECT COUNT(*) FROM sqlite_master"));
  return version;
}

Expected<void> check_version(const Version& version) {
  const bool fresh = version.application == 0 && version.schema == 0 && version.tables == 0;
  if (!fresh && version.application != k_application_id) return no_ledger("an SQLite data base, but no ledger");
  const std::int64_t newest = newest_schema();
  if (version.schema > newest || version.schema < 0) {
    return fail(Errc::corrupt, fmt::format("its schema has version {}, this program knows versions up to {}{}",
                                           version.schema, newest, k_other_program));
  }
  return {};
}

// Checks that the version is known and that the schema has no foreign object; after that the file can be read. Both
// come from one snapshot, since a daemon may be migrating it.
Expected<Version> check_genuine(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const Version version, version_of(database));
  SHAPLEY_TRY(check_version(version));
  SHAPLEY_TRY(check_nothing_foreign(database, version.schema));
  return version;
}

// Adds a remedy to errors that mean damage, or a log that cannot be read.
tl::unexpected<Error> explained(const path& file, Error error) {
  std::error_code ignored;
  const auto says = [&](std::string_view words) { return error.what.find(words) != std::string::npos; };
  if (error.code == Errc::corrupt && !says("shapleyctl restore BACKUP") && !says(k_other_program)) {
    error.what += k_way_out;
  }
  if (error.code == Errc::io && std::filesystem::exists(file.string() + "-wal", ignored)) {
    error.what += "; a log lies beside it: copy both files to a directory that this user may write";
  }
  return tl::unexpected<Error>(std::move(error));
}

// SQLite needs files of its own beside a ledger in WAL mode. If it cannot create them and no log is left, no process is
// writing, and the file alone is complete.
bool must_be_immutable(const path& file) {
  std::error_code error;
  const path wal = file.string() + "-wal";
  const path directory = std::filesystem::absolute(file).parent_path();
  return !std::filesystem::exists(wal, error) && ::access(directory.c_str(), W_OK) != 0;
}

// Opens, checks and migrates.
Expected<Database> open_sound(const path& file, const OnProgress& on_progress) {
  SHAPLEY_TRY(check_log_header(file));
  SHAPLEY_TRY_ASSIGN(Database database, Database::open(file.string(), SQLITE_OPEN_READWRITE));
  // The check comes before the settings, which would write into a foreign data base.
  SHAPLEY_TRY_ASSIGN(const Version version, check_genuine(database));
  SHAPLEY_TRY(database.execute(k_writer_settings));
  SHAPLEY_TRY(check_pages(database, file));
  if (version.schema > 0 && version.schema < newest_schema()) {
    report_progress(on_progress, {.what = "a copy of the ledger as it is is being made"});
    SHAPLEY_TRY(back_up_before_migration(database, file, version.schema));
  }
  SHAPLEY_TRY(migrate(database, newest_schema()));
  // The schema and the ledger's identity are then not in the log.
  if (version.schema < newest_schema()) SHAPLEY_TRY(database.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  SHAPLEY_TRY(check_content(database));
  SHAPLEY_TRY(database.execute(k_open_writer_settings));
  return database;
}

Expected<Database> open_reading_connection(const path& file) {
  SHAPLEY_TRY_ASSIGN(const FileKind kind, kind_of_file(file));
  if (kind == FileKind::missing) return fail(Errc::not_found, std::string(k_no_such_file));
  if (kind == FileKind::other) return no_ledger("not a ledger (no SQLite data base)");
  if (kind == FileKind::empty) return no_ledger(k_empty_file);
  const bool immutable = must_be_immutable(file);
  SHAPLEY_TRY_ASSIGN(Database database,
                     immutable ? Database::open(uri_of(file, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
                               : Database::open(file.string(), SQLITE_OPEN_READONLY));
  if (auto set = database.execute(k_reader_settings); !set) return explained(file, std::move(set).error());
  return database;
}

Expected<void> check_exists(const path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) return {};
  return fail(Errc::not_found, file.string() + ": no such file");
}

}  // namespace

std::int64_t newest_schema() {
  return static_cast<std::int64_t>(migrations().size());
}

Expected<void> migrate(const Database& database, std::int64_t target) {
  SHAPLEY_TRY_ASSIGN(const Version version, version_of(database));
  SHAPLEY_TRY(check_version(version));
  SHAPLEY_REQUIRE(version.schema <= target && target <= newest_schema());
  const auto steps = migrations().first(static_cast<std::size_t>(target));
  if (static_cast<std::size_t>(version.schema) == steps.size()) return {};
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  for (auto step = static_cast<std::size_t>(version.schema); step < steps.size(); ++step) {
    if (auto done = database.execute(std::string(steps[step])); !done) {
      return with_context("migration " + std::to_string(step + 1), std::move(done).error());
    }
  }
  SHAPLEY_TRY(database.execute("PRAGMA application_id = " + std::to_string(k_application_id)));
  SHAPLEY_TRY(database.execute("PRAGMA user_version = " + std::to_string(steps.size())));
  return transaction.commit();
}

Expected<Database> open_for_writing(const path& file, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const FileKind kind, kind_of_file(file));
  if (kind == FileKind::other) return no_ledger("not a ledger (no SQLite data base)");
  if (kind == FileKind::missing) SHAPLEY_TRY(create(file));
  auto database = open_sound(file, on_progress);
  if (!database) return explained(file, std::move(database).error());
  return database;
}

Expected<Database> open_old_for_writing(const path& file, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const FileKind kind, kind_of_file(file));
  if (kind == FileKind::missing) return fail(Errc::not_found, std::string(k_no_such_file));
  if (kind == FileKind::empty) return no_ledger(k_empty_file);
  return open_for_writing(file, on_progress);
}

Expected<Database> open_for_copying(const path& file) {
  SHAPLEY_TRY_ASSIGN(Database database, open_reading_connection(file));
  SHAPLEY_TRY(check_genuine(database));
  return database;
}

Expected<Database> open_alone(const path& file) {
  SHAPLEY_TRY_ASSIGN(Database database,
                     Database::open(uri_of(file, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  SHAPLEY_TRY(check_genuine(database));
  return database;
}

Expected<Database> open_beside_writer(const path& file) {
  SHAPLEY_TRY(check_exists(file));
  return Database::open(file.string(), SQLITE_OPEN_READONLY);
}

Expected<Database> open_second_writer(const path& file) {
  SHAPLEY_TRY(check_exists(file));
  SHAPLEY_TRY_ASSIGN(Database database, Database::open(file.string(), SQLITE_OPEN_READWRITE));
  SHAPLEY_TRY(database.execute(k_second_writer_settings));
  return database;
}

Expected<Database> open_for_reading(const path& file) {
  SHAPLEY_TRY_ASSIGN(Database database, open_reading_connection(file));
  auto version = check_genuine(database);
  if (!version) return explained(file, std::move(version).error());
  if (version->schema < newest_schema()) {
    return fail(
        Errc::corrupt,
        fmt::format("its schema has version {}, this program reads {}; let shapleyd open it once, which migrates it",
                    version->schema, newest_schema()));
  }
  return database;
}

}  // namespace shapley::ledger
