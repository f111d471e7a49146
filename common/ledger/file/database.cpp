#include "ledger/file/database.hpp"

#include <utility>

#include <fmt/format.h>

#include "ledger/file/files.hpp"

namespace shapley::ledger {

namespace {

// SQLite reports a full disk by several codes. For the index beside the log (SHMSIZE) the only possible failure is that
// it cannot grow.
bool is_for_want_of_space(sqlite3* connection, int result) {
  const int primary = result & 0xff;
  if (primary == SQLITE_FULL || result == SQLITE_IOERR_SHMSIZE) return true;
  if (connection == nullptr || (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN)) return false;
  return is_out_of_space(sqlite3_system_errno(connection));
}

Errc errc_of(sqlite3* connection, int result) {
  if (is_for_want_of_space(connection, result)) return Errc::no_space;
  switch (result & 0xff) {  // the primary code
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::unavailable;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Errc::denied;
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT:  // only StepLimit interrupts
      return Errc::limit;
    default:
      return Errc::io;
  }
}

tl::unexpected<Error> failure(sqlite3* connection, int result) {
  const char* words = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(result);
  const Errc code = errc_of(connection, result);
  return fail(code, fmt::format("SQLite: {}{}", words, code == Errc::no_space ? "; make room on its disk" : ""));
}

}  // namespace

void Statement::note(int result) {
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  note(sqlite3_bind_int64(statement_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL; an empty text is not NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  note(sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::span<const unsigned char> bytes) {
  note(sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  note(sqlite3_bind_null(statement_.get(), parameter));
  return *this;
}

Expected<bool> Statement::step() {
  if (bind_result_ != SQLITE_OK) return failure(nullptr, bind_result_);
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_.get()), result);
}

Expected<void> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped) return tl::unexpected<Error>(std::move(stepped).error());
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  bind_result_ = SQLITE_OK;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}

std::string_view Statement::name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::is_text(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_.get(), column);
  if (data == nullptr) return {};
  return {reinterpret_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const unsigned char> Statement::blob(int column) const {
  const auto* data = static_cast<const unsigned char*>(sqlite3_column_blob(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Expected<Database> Database::open(const std::string& location, int flags) {
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(location.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection);  // SQLite returns a connection that has to be closed even when opening failed
  if (result != SQLITE_OK) return failure(connection, result);
  sqlite3_extended_result_codes(connection, 1);
  SHAPLEY_TRY(database.harden());
  return database;
}

Expected<void> Database::harden() const {
  for (const auto& [option, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}}) {
    const int result = sqlite3_db_config(connection_.get(), option, value, static_cast<int*>(nullptr));
    if (result != SQLITE_OK) return failure(nullptr, result);
  }
  return execute("PRAGMA cell_size_check = ON");
}

Expected<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return failure(connection_.get(), result);
  if (statement == nullptr) return fail(Errc::invalid_argument, "an empty SQL statement");
  return Statement(statement);
}

Expected<void> Database::execute(const std::string& sql) const {
  const int result = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return failure(connection_.get(), result);
  return {};
}

Expected<std::int64_t> Database::integer(std::string_view sql) const {
  SHAPLEY_TRY_ASSIGN(auto statement, prepare(sql));
  SHAPLEY_TRY_ASSIGN(const bool row, statement.step());
  if (!row) return fail(Errc::corrupt, "no row from: " + std::string(sql));
  return statement.integer(0);
}

Expected<void> Database::copy_to(const Database& target) const {
  sqlite3_backup* copy = sqlite3_backup_init(target.connection_.get(), "main", connection_.get(), "main");
  if (copy == nullptr) return failure(target.connection_.get(), sqlite3_errcode(target.connection_.get()));
  const int stepped = sqlite3_backup_step(copy, -1);
  const int finished = sqlite3_backup_finish(copy);
  if (stepped == SQLITE_DONE && finished == SQLITE_OK) return {};
  return failure(target.connection_.get(), stepped == SQLITE_DONE ? finished : stepped);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(connection_.get()) == 0;
}

namespace {

constexpr int k_steps_between_looks = 1000;

}  // namespace

StepLimit::StepLimit(const Database& database, std::uint64_t steps, const std::atomic<bool>* ended) : ended_(ended) {
  if (steps == 0 && ended == nullptr) return;
  if (steps > 0) thousands_left_ = (steps + k_steps_between_looks - 1) / k_steps_between_looks;
  connection_ = database.connection_.get();
  sqlite3_progress_handler(connection_, k_steps_between_looks, spend, this);
}

int StepLimit::spend(void* limit) {
  auto& self = *static_cast<StepLimit*>(limit);
  if (self.ended_ != nullptr && self.ended_->load()) return 1;
  if (!self.thousands_left_) return 0;
  if (*self.thousands_left_ == 0) return 1;
  --*self.thousands_left_;
  return 0;
}

StepLimit::~StepLimit() {
  if (connection_ != nullptr) sqlite3_progress_handler(connection_, 0, nullptr, nullptr);
}

StepNotice::StepNotice(const Database& database, std::function<void()> notice)
    : connection_(database.connection_.get()), notice_(std::move(notice)) {
  const auto call = [](void* function) -> int {
    (*static_cast<std::function<void()>*>(function))();
    return 0;
  };
  sqlite3_progress_handler(connection_, k_steps_between_looks, call, &notice_);
}

StepNotice::~StepNotice() {
  sqlite3_progress_handler(connection_, 0, nullptr, nullptr);
}

Expected<Transaction> Transaction::begin(const Database& database, Kind kind) {
  if (kind == Kind::read && database.in_transaction()) return Transaction(nullptr);
  SHAPLEY_TRY(database.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // Fails only if SQLite has already rolled back by itself.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Expected<void> Transaction::commit() {
  if (database_ != nullptr) SHAPLEY_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

std::string uri_of(const std::filesystem::path& file, std::string_view parameter) {
  std::string uri = "file:";
  // These characters must be escaped in a URI.
  for (const char c : std::filesystem::absolute(file).string()) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  return uri + '?' + std::string(parameter);
}

}  // namespace shapley::ledger
