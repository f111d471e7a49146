// A file that holds a view, table, index or trigger that the program did not make is refused before it is read,
// whichever program opens it and for whatever. Some of these would keep a reader busy without end.
#include <gtest/gtest.h>

#include "ledger/store/backup.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/start_check.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;

namespace fs = std::filesystem;

std::string with_schema_written(const std::string& sql) {
  return "PRAGMA writable_schema = ON; " + sql + "; PRAGMA writable_schema = OFF";
}

struct Case {
  std::string what;
  std::string sql;
  std::string words;  // of the refusal; empty: they are SQLite's
};

std::vector<Case> cases() {
  const std::string endless =
      "WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq, 'k' || seq AS key, 0 AS at, 0 "
      "AS received, 'period_declared' AS kind, '' AS payload, x'' AS hash FROM n";
  return {
      {"an endless view in the place of events", "DROP VIEW events; CREATE VIEW events AS " + endless,
       "view events is not as the program makes it"},
      {"a table in the place of events", "DROP VIEW events; CREATE TABLE events(seq)",
       "table events is not as the program makes it"},
      {"an endless view in the place of the rows of events",
       "DROP TABLE event_rows; CREATE VIEW event_rows AS " + endless, "view event_rows is not as the program makes it"},
      {"another table in the place of the rows of events", "DROP TABLE event_rows; CREATE TABLE event_rows(seq)",
       "table event_rows is not as the program makes it"},
      {"an endless view in the place of words", "DROP TABLE words; CREATE VIEW words AS " + endless,
       "view words is not as the program makes it"},
      {"events that wait for a migration", "CREATE TABLE events_of_schema_4(seq)",
       "table events_of_schema_4 was added by hand"},
      {"a virtual table in the place of events",
       with_schema_written("DROP VIEW events; INSERT INTO sqlite_master VALUES ('table', 'events', 'events', 0, "
                           "'CREATE VIRTUAL TABLE events USING nowhere(seq)')"),
       "table events is not as the program makes it"},
      {"a virtual table", "CREATE VIRTUAL TABLE notes USING fts5(text)", "table notes was added by hand"},
      {"shadow tables",
       "CREATE VIRTUAL TABLE notes USING fts5(text);" +
           with_schema_written("DELETE FROM sqlite_master WHERE name = 'notes'"),
       "table notes_config was added by hand"},
      {"a trigger", "CREATE TRIGGER quietly AFTER INSERT ON event_rows BEGIN DELETE FROM checkpoints; END",
       "trigger quietly was added by hand"},
      {"a trigger with a table's name", "CREATE TRIGGER heads AFTER INSERT ON event_rows BEGIN DELETE FROM heads; END",
       "trigger heads is not as the program makes it"},
      {"an index with an expression", "CREATE INDEX by_hash ON event_rows(hex(hash))",
       "index by_hash was added by hand"},
      {"a table", "CREATE TABLE notes(text)", "table notes was added by hand"},
      {"a view", "CREATE VIEW notes AS SELECT 1", "view notes was added by hand"},
      {"a view that was replaced", "DROP VIEW balances; CREATE VIEW balances AS " + endless,
       "view balances is not as the program makes it"},
      {"the planner's statistics", "ANALYZE", "table sqlite_stat1 was added by hand"},
      {"a table with one more default",
       with_schema_written("UPDATE sqlite_master SET sql = replace(sql, 'payload TEXT', 'payload BLOB') || ' ' WHERE "
                           "name = 'event_texts'"),
       "table event_texts is not as the program makes it"},
      {"two tables of one name",
       with_schema_written("INSERT INTO sqlite_master SELECT type, name, tbl_name, rootpage, 'CREATE TABLE IF NOT "
                           "EXISTS event_rows(seq)' FROM sqlite_master WHERE name = 'capacity'"),
       ""},
  };
}

class ForeignSchema : public LedgerTest {
 protected:
  void make() const {
    fs::remove(file());
    Ledger ledger = writer(file());
    must(ledger.append(std::vector<accounting::Event>{opened(1, 10'000, "a", 1)}, {30'000}));
  }

  template <typename T>
  void expect_refusal(const Expected<T>& opened, const std::string& words) const {
    ASSERT_FALSE(opened) << "opened as if nothing were wrong";
    EXPECT_EQ(opened.error().code, Errc::corrupt) << opened.error().what;
    EXPECT_NE(opened.error().what.find(words), std::string::npos) << opened.error().what;
    if (words.empty()) return;  // SQLite itself refused it
    EXPECT_NE(opened.error().what.find("shapleyctl restore BACKUP"), std::string::npos) << opened.error().what;
  }

  void expect_refused_by_all(const std::string& words) const {
    const std::string before = content_of(file());
    const fs::path copy = directory() / "copy.db";
    expect_refusal(Ledger::open(file(), OpenMode::create_or_write), words);
    expect_refusal(Ledger::open(file(), OpenMode::read_only), words);
    expect_refusal(open_for_copying(file()), words);
    expect_refusal(open_alone(file()), words);
    EXPECT_FALSE(back_up(file(), copy, Overwrite::no));
    BackupResult restored;
    EXPECT_FALSE(restore(file(), copy, {0}, restored));
    EXPECT_TRUE(before == content_of(file())) << "the file was changed";
    EXPECT_FALSE(fs::exists(copy));
  }
};

TEST_F(ForeignSchema, IsRefusedByEveryProgramThatOpensTheFile) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    make();
    tamper(file(), c.sql);
    expect_refused_by_all(c.words);
  }
}

fs::path dump_of(std::int64_t version) {
  const std::string digits = std::to_string(version);
  return fs::path(SHAPLEY_LEDGER_DUMPS) / (std::string(3 - digits.size(), '0') + digits + ".sql");
}

TEST_F(ForeignSchema, OfAnOldLedgerIsRefusedBeforeItIsMigrated) {
  for (std::int64_t version = 1; version <= newest_schema(); ++version) {
    SCOPED_TRACE(version);
    fs::remove(file());
    tamper(file(), content_of(dump_of(version)));
    {
      const Database old = must(open_for_copying(file()));
      EXPECT_EQ(must(schema_of(old)), must(genuine_schema(version))) << "the dump is as that release made it";
    }
    tamper(file(), "CREATE VIEW notes AS SELECT 1");
    expect_refused_by_all("view notes was added by hand");
    for (const auto& entry : fs::directory_iterator(directory())) {
      EXPECT_EQ(entry.path().string().find(".schema-"), std::string::npos) << "it was about to migrate";
    }
  }
}

// However a ledger came to the present schema, nothing of the way there is left in it.
TEST_F(ForeignSchema, IsInNoLedgerThatWasMigratedOrCompacted) {
  const Schema present = must(genuine_schema(newest_schema()));
  const auto schema = [this] { return must(schema_of(must(open_for_copying(file())))); };
  for (std::int64_t version = 1; version <= newest_schema(); ++version) {
    SCOPED_TRACE(version);
    fs::remove(file());
    tamper(file(), content_of(dump_of(version)));
    const std::int64_t last = writer(file()).last_sequence();
    EXPECT_EQ(schema(), present);
    must(compact(file()));
    EXPECT_EQ(schema(), present);
    EXPECT_EQ(reader(file()).last_sequence(), last);
    EXPECT_EQ(writer(file()).last_sequence(), last);
  }
  fs::remove(file());
  make();
  EXPECT_EQ(schema(), present);
}

TEST_F(ForeignSchema, WhatWasAddedCanBeDropped) {
  make();
  tamper(file(), "CREATE VIEW notes AS SELECT 1");
  ASSERT_FALSE(Ledger::open(file(), OpenMode::read_only));
  tamper(file(), "DROP VIEW notes");
  EXPECT_EQ(reader(file()).last_sequence(), 1);
  EXPECT_EQ(writer(file()).last_sequence(), 1);
}

// What a schema names is not only its tables: each has another text in each version, or none.
TEST(GenuineSchema, IsThatOfItsVersion) {
  EXPECT_TRUE(must(genuine_schema(0)).empty());
  for (std::int64_t version = 1; version <= newest_schema(); ++version) {
    const Schema schema = must(genuine_schema(version));
    EXPECT_NE(find_object(schema, "view", "events"), nullptr) << version;
    EXPECT_NE(schema, must(genuine_schema(version - 1)));
  }
}

TEST(HardenedDatabase, NoStatementWritesTheSchemaAsText) {
  const Database database = must(Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  must(database.execute("CREATE TABLE t(x); PRAGMA writable_schema = ON"));
  EXPECT_FALSE(database.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t(y)'"));
  EXPECT_EQ(must(database.integer("PRAGMA trusted_schema")), 0);
  EXPECT_EQ(must(database.integer("PRAGMA cell_size_check")), 1);
}

}  // namespace
}  // namespace shapley::ledger
