// Is a ledger sound enough to write on? What a start can afford to look at: the rest is the audit's.
//
// Looked at: the log's header; every page of a ledger of at most 64 MiB (larger ones as they are read); that no table,
// index or trigger is missing (check_nothing_foreign has seen to it that none is foreign); the hash chain over the
// newest 1,000 events; that the newest checkpoint and the newest signed head are of events that are there. Errors:
// Errc::corrupt says what is wrong.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

// Before SQLite opens the file: it takes a log with a damaged header for an empty one, and what was committed to it is
// silently gone. A header is written in one piece of 32 bytes, so a power loss leaves it as it was or as it was to be.
[[nodiscard]] Expected<void> check_log_header(const std::filesystem::path& ledger);

// Whether a log lies beside the ledger that SQLite can read. A power loss while it is folded into the file may tear the
// file's first sector; SQLite takes that page from the log.
[[nodiscard]] bool has_sound_log(const std::filesystem::path& ledger);

// Pages, before anything is written.
[[nodiscard]] Expected<void> check_pages(const Database& database, const std::filesystem::path& ledger);

// Schema, end of the chain, checkpoint, head. REQUIRES: migrated, nothing foreign.
[[nodiscard]] Expected<void> check_content(const Database& database);

// The tables, indices, triggers and views of a ledger as text, and whether they are those that the program makes.
//
// A file may come from anywhere, and what its schema says decides what a query does: a table `events` may be a view
// that never ends, a virtual table that runs code, an index with an expression. So before anything else of a file is
// read, check_nothing_foreign() compares its schema, which SQLite keeps as text, with one that the migrations make in
// memory.

// A row of sqlite_schema. NULL (the text of an index that SQLite makes for a constraint) reads as "".
struct SchemaObject {
  std::string type;  // table, index, trigger, view
  std::string name;
  std::string table;  // that an index or trigger belongs to; else its own name
  std::string sql;    // as SQLite keeps it: as it was written
  auto operator<=>(const SchemaObject&) const = default;
};
using Schema = std::set<SchemaObject>;

// Null: there is none of that type and name.
[[nodiscard]] const SchemaObject* find_object(const Schema& schema, std::string_view type, std::string_view name);

[[nodiscard]] Expected<Schema> schema_of(const Database& database);

// As the migrations make that version, from nothing. A ledger's own text is not to be trusted with this. REQUIRES: 0 to
// the newest version.
[[nodiscard]] Expected<Schema> genuine_schema(std::int64_t version);

// Errc::corrupt, with the way out, when the file holds an object that the program did not make so: one more, or one of
// the program's names with another type or text. What is missing is left to others (start_check.hpp, audit). REQUIRES:
// as above.
[[nodiscard]] Expected<void> check_nothing_foreign(const Database& database, std::int64_t version);

}  // namespace shapley::ledger
