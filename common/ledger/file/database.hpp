// SQLite as values: a connection and prepared statements that return Expected instead of codes.
//
// Nothing here depends on the ledger. Single-threaded, like the connection that it wraps (opened without SQLite's
// mutexes). Statements must not outlive their Database. Every error text ends with SQLite's own message.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/error.hpp"

namespace shapley::ledger {

class Statement {
 public:
  // Parameters count from 1, columns from 0. Bound text and blobs must stay alive until the next reset().
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::span<const unsigned char> bytes);
  Statement& bind_null(int parameter);

  // True: there is a row. False: done. A failed bind is reported here.
  [[nodiscard]] Expected<bool> step();
  // Runs a statement without result rows to its end and resets it.
  [[nodiscard]] Expected<void> run();
  // Makes it ready for the next execution, even after an error.
  void reset();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string_view name(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  // Views are valid until the next step or reset; NULL reads as empty.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const unsigned char> blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void note(int result);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_result_ = SQLITE_OK;
};

class Database {
 public:
  // `location` is a path or, with SQLITE_OPEN_URI in `flags`, a file: URI. The file need not be trusted: its schema
  // cannot run functions with side effects, no statement can write SQLite's own tables, and cells of a page are checked
  // before they are used.
  [[nodiscard]] static Expected<Database> open(const std::string& location, int flags);

  [[nodiscard]] Expected<Statement> prepare(std::string_view sql) const;
  // Runs one or more statements without parameters or results.
  [[nodiscard]] Expected<void> execute(const std::string& sql) const;
  // The single integer that `sql` returns.
  [[nodiscard]] Expected<std::int64_t> integer(std::string_view sql) const;
  // Copies the whole data base, as it is at one moment, over `target`. Other connections may write meanwhile.
  [[nodiscard]] Expected<void> copy_to(const Database& target) const;
  [[nodiscard]] bool in_transaction() const;

 private:
  friend class StepLimit;
  friend class StepNotice;
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}
  [[nodiscard]] Expected<void> harden() const;

  std::unique_ptr<sqlite3, Close> connection_;
};

// During its life, interrupts statements of the connection (Errc::limit) once they took `steps` steps of SQLite's
// virtual machine in all, rounded up to thousands, or once `ended` is set, which is tested every thousand steps. 0 and
// null: no bound. One at a time.
class StepLimit {
 public:
  StepLimit(const Database& database, std::uint64_t steps, const std::atomic<bool>* ended = nullptr);
  ~StepLimit();
  StepLimit(const StepLimit&) = delete;
  StepLimit& operator=(const StepLimit&) = delete;

 private:
  static int spend(void* limit);

  sqlite3* connection_ = nullptr;  // null: no bound
  std::optional<std::uint64_t> thousands_left_;
  const std::atomic<bool>* ended_;
};

// Calls `notice` every thousand steps of a statement of the connection during its life, some ten
// thousand times a second. Not together with a StepLimit.
class StepNotice {
 public:
  StepNotice(const Database& database, std::function<void()> notice);
  ~StepNotice();
  StepNotice(const StepNotice&) = delete;
  StepNotice& operator=(const StepNotice&) = delete;

 private:
  sqlite3* connection_;
  std::function<void()> notice_;
};

// The file: URI of a file with a parameter of SQLite's ("immutable=1").
[[nodiscard]] std::string uri_of(const std::filesystem::path& file, std::string_view parameter);

// Rolls back at the end of its scope unless committed.
class Transaction {
 public:
  // write takes the write lock at once. read pins one snapshot from the first read on, and joins a transaction that is
  // open already.
  enum class Kind { read, write };
  [[nodiscard]] static Expected<Transaction> begin(const Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Expected<void> commit();

 private:
  explicit Transaction(const Database* database) : database_(database) {}
  const Database* database_;  // null once finished, or when it joined another
};

}  // namespace shapley::ledger
