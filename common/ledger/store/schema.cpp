#include "ledger/store/schema.hpp"

#include "ledger/store/ledger_file.hpp"

namespace shapley::ledger {

Expected<Schema> schema_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT name, type, sql FROM main.sqlite_master WHERE sql IS NOT NULL"));
  Schema schema;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return schema;
    schema.emplace(select.text(0), SchemaObject{std::string(select.text(1)), std::string(select.text(2))});
  }
}

Expected<Schema> genuine_schema() {
  SHAPLEY_TRY_ASSIGN(const Database scratch, Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  SHAPLEY_TRY(migrate(scratch));
  return schema_of(scratch);
}

}  // namespace shapley::ledger
