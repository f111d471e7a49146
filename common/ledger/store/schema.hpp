// The tables, indices, triggers and views of a ledger as text.
#pragma once

#include <map>
#include <string>

#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

struct SchemaObject {
  std::string type;  // table, index, trigger, view
  std::string sql;
};
using Schema = std::map<std::string, SchemaObject>;  // by name

[[nodiscard]] Expected<Schema> schema_of(const Database& database);

// As the migrations make it, from nothing. A ledger's own text is not to be trusted with this.
[[nodiscard]] Expected<Schema> genuine_schema();

}  // namespace shapley::ledger
