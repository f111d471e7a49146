// The tables, indices, triggers and views of a ledger as text, and whether they are those that the program makes.
//
// A file may come from anywhere, and what its schema says decides what a query does: a table `events` may be a view
// that never ends, a virtual table that runs code, an index with an expression. So before anything else of a file is
// read, check_nothing_foreign() compares its schema, which SQLite keeps as text, with one that the migrations make in
// memory.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

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
