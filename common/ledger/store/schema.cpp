#include "ledger/store/schema.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "ledger/store/ledger_file.hpp"

namespace shapley::ledger {

const SchemaObject* find_object(const Schema& schema, std::string_view type, std::string_view name) {
  const auto found = std::find_if(schema.begin(), schema.end(), [=](const SchemaObject& object) {
    return object.type == type && object.name == name;
  });
  return found == schema.end() ? nullptr : &*found;
}

Expected<Schema> schema_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_master"));
  Schema schema;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return schema;
    schema.insert({.type = std::string(select.text(0)),
                   .name = std::string(select.text(1)),
                   .table = std::string(select.text(2)),
                   .sql = std::string(select.text(3))});
  }
}

// Every file that is opened is compared with it, and making it takes longer than all else there is to opening one.
Expected<Schema> genuine_schema(std::int64_t version) {
  static std::mutex mutex;
  static std::map<std::int64_t, Schema> made;
  const std::scoped_lock lock(mutex);
  if (const auto known = made.find(version); known != made.end()) return known->second;
  SHAPLEY_TRY_ASSIGN(const Database scratch, Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  SHAPLEY_TRY(migrate(scratch, version));
  SHAPLEY_TRY_ASSIGN(Schema schema, schema_of(scratch));
  return made.emplace(version, std::move(schema)).first->second;
}

Expected<void> check_nothing_foreign(const Database& database, std::int64_t version) {
  SHAPLEY_TRY_ASSIGN(const Schema genuine, genuine_schema(version));
  SHAPLEY_TRY_ASSIGN(const Schema found, schema_of(database));
  for (const SchemaObject& object : found) {
    if (genuine.contains(object)) continue;
    const bool ours =
        std::any_of(genuine.begin(), genuine.end(), [&](const SchemaObject& o) { return o.name == object.name; });
    return fail(Errc::corrupt, object.type + ' ' + object.name +
                                   (ours ? " is not as the program makes it" : " was added by hand") +
                                   "; nothing of the file was read, since what is not the program's may stand for "
                                   "anything; the way out is " +
                                   (ours ? "" : "to drop it (with sqlite3), or ") + "shapleyctl restore BACKUP");
  }
  return {};
}

}  // namespace shapley::ledger
