// Whether a ledger is sound enough to write to: the checks that a start can afford; the audit does the rest.
//
// Checked are: the log's header; every page and index of a ledger of at most 64 MiB (of larger ones the pages that are
// read); that no table, index or trigger is missing (check_nothing_foreign has checked that none is foreign); the hash
// chain over the newest 1,000 events; that the events of the newest checkpoint and of the newest signed head exist.
// Errors: Errc::corrupt names the fault.
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

// Call it before SQLite opens the file: SQLite takes a log with a damaged header for an empty one, and silently loses
// what was committed to it. A header is written in one piece of 32 bytes, so after a power loss it is the old one or
// the new one.
[[nodiscard]] Expected<void> check_log_header(const std::filesystem::path& ledger);

// Whether a log lies beside the ledger that SQLite can read. A power loss while it is folded into the file may tear the
// file's first sector; SQLite takes that page from the log.
[[nodiscard]] bool has_sound_log(const std::filesystem::path& ledger);

// Checks pages, before anything is written.
[[nodiscard]] Expected<void> check_pages(const Database& database, const std::filesystem::path& ledger);

// Checks schema, end of the chain, checkpoint, head. REQUIRES: migrated, nothing foreign.
[[nodiscard]] Expected<void> check_content(const Database& database);

// The tables, indices, triggers and views of a ledger as text, and a check that they are those that the program makes.
//
// A file need not be trusted, and its schema determines what a query does: a table `events` may be a view that never
// ends, a virtual table that runs code, or an index with an expression. So before anything else of a file is read,
// check_nothing_foreign() compares its schema, which SQLite keeps as text, with one that the migrations make in memory.

// A row of sqlite_schema. NULL (the text of an index that SQLite makes for a constraint) reads as "".
struct SchemaObject {
  std::string type;  // table, index, trigger, view
  std::string name;
  std::string table;  // the table of an index or trigger; else its own name
  std::string sql;    // as SQLite keeps it: as it was written
  auto operator<=>(const SchemaObject&) const = default;
};
using Schema = std::set<SchemaObject>;

// nullptr: there is no object of that type and name.
[[nodiscard]] const SchemaObject* find_object(const Schema& schema, std::string_view type, std::string_view name);

[[nodiscard]] Expected<Schema> schema_of(const Database& database);

// The schema that the migrations make for that version, in an empty data base. A ledger's own text is not trusted for
// this. REQUIRES: 0 to the newest version.
[[nodiscard]] Expected<Schema> genuine_schema(std::int64_t version);

// Errc::corrupt, with a remedy, when the file has an object that the program did not make: an additional one, or one
// with the program's name and another type or text. Missing objects are checked elsewhere (check_content, audit).
// REQUIRES: as above.
[[nodiscard]] Expected<void> check_nothing_foreign(const Database& database, std::int64_t version);

}  // namespace shapley::ledger
