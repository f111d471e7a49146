// A ledger that holds what the program did not make, asked by every command that reads a file: refused at once, with
// one sentence and the exit code of a file that cannot be read. Some of these kept a reader busy until it was killed.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::must;

struct Case {
  std::string sql;
  std::string words;
};

class ForeignSchema : public testing::Test {
 protected:
  void SetUp() override {
    {
      auto ledger = ledger::testing::writer(file());
      must(ledger.append(example_events(), k_example_begin + Duration{40}));
    }
    fs::copy_file(file(), sound());
  }

  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] fs::path sound() const { return directory.path() / "sound.db"; }
  Outcome run(const std::string& arguments) const { return run_shapleyctl(directory.path(), arguments); }

  // Every command that reads a ledger's file.
  [[nodiscard]] std::vector<std::string> commands() const {
    const std::string path = file().string();
    return {"audit " + path,
            "audit --json " + path,
            "audit --head " + path,
            "audit " + path + " --against /dev/null",
            "status --ledger " + path,
            "status --at 2026-11-18T11:07:00 --ledger " + path,
            "jobs -a --ledger " + path,
            "advise --ledger " + path,
            "backup --ledger " + path + " " + (directory.path() / "copy.db").string(),
            "restore --ledger " + sound().string() + " " + path};
  }

  ledger::testing::TemporaryDirectory directory;
};

TEST_F(ForeignSchema, IsRefusedByEveryCommand) {
  const std::string original = content_of(sound());
  for (const Case& c :
       {Case{"DROP VIEW events; CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM "
             "n) SELECT seq, seq AS key, 0 AS at, 0 AS received, '' AS kind, '' AS payload, x'' AS hash FROM n",
             "view events is not as the program makes it"},
        Case{"CREATE VIRTUAL TABLE notes USING fts5(text)", "table notes was added by hand"},
        Case{
            "CREATE VIRTUAL TABLE notes USING fts5(text); PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE "
            "name = 'notes'; PRAGMA writable_schema = OFF",
            "table notes_config was added by hand"},
        Case{"CREATE TRIGGER quietly AFTER INSERT ON event_rows BEGIN DELETE FROM checkpoints; END",
             "trigger quietly was added by hand"},
        Case{"CREATE INDEX by_hash ON event_rows(hex(hash))", "index by_hash was added by hand"},
        Case{"CREATE VIEW mine AS SELECT * FROM balances", "view mine was added by hand"}}) {
    fs::copy_file(sound(), file(), fs::copy_options::overwrite_existing);
    ledger::testing::tamper(file(), c.sql);
    for (const std::string& command : commands()) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.exit_code, code(ExitCode::unreadable)) << command << outcome.out << outcome.err;
      EXPECT_EQ(outcome.out, "") << command;
      EXPECT_TRUE(contains(outcome.err, c.words)) << command << ": " << outcome.err;
      EXPECT_TRUE(contains(outcome.err, "shapleyctl restore BACKUP")) << command << ": " << outcome.err;
    }
    EXPECT_FALSE(fs::exists(directory.path() / "copy.db"));
    EXPECT_EQ(content_of(sound()), original) << "restore replaced a sound ledger";
  }
}

TEST_F(ForeignSchema, TheWayOutLeadsOut) {
  ledger::testing::tamper(file(), "DROP VIEW events; CREATE VIEW events AS SELECT 1 AS seq");
  const Outcome restored = run("restore --ledger " + file().string() + " " + sound().string());
  EXPECT_EQ(restored.exit_code, code(ExitCode::success)) << restored.err;
  EXPECT_EQ(run("audit " + file().string()).exit_code, code(ExitCode::success));

  ledger::testing::tamper(file(), "CREATE VIEW mine AS SELECT * FROM balances");
  EXPECT_EQ(run("audit " + file().string()).exit_code, code(ExitCode::unreadable));
  ledger::testing::tamper(file(), "DROP VIEW mine");
  EXPECT_EQ(run("audit " + file().string()).exit_code, code(ExitCode::success));
}

}  // namespace
}  // namespace shapley::ctl
