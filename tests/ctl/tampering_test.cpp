// What a stranger can do to a ledger, and what a member with nothing but the file, a head and a public key finds out.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <openssl/sha.h>

#include "ctl/environment.hpp"
#include "ledger/chain/signing.hpp"
#include "program.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::must;
using ledger::testing::rows;
using nlohmann::json;

std::string sha256(const std::string& text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string hex_of(const std::string& bytes) {
  std::string digits;
  for (const char c : bytes) {
    constexpr const char* k_digits = "0123456789abcdef";
    digits += {k_digits[static_cast<unsigned char>(c) >> 4U], k_digits[static_cast<unsigned char>(c) & 15U]};
  }
  return digits;
}

class Tampering : public testing::Test {
 protected:
  // The example's 14 events, and a head of them signed with a key that stays here.
  void SetUp() override {
    {
      auto ledger = ledger::testing::writer(original());
      must(ledger.append(example_events(), k_example_begin + Duration{40}));
    }
    ASSERT_EQ(run("keygen " + key().string()).exit_code, code(ExitCode::success));
    ASSERT_EQ(run("audit --head --ledger " + original().string() + " --sign-with " + key().string() + " -o " +
                  head().string())
                  .exit_code,
              code(ExitCode::success));
  }

  [[nodiscard]] fs::path original() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] fs::path copy() const { return directory.path() / "copy.db"; }
  [[nodiscard]] fs::path key() const { return directory.path() / "head.key"; }
  [[nodiscard]] fs::path head() const { return directory.path() / "head"; }
  [[nodiscard]] std::string against(const fs::path& file) const {
    return "audit --ledger " + copy().string() + " --against-head " + file.string() + " --public-key " +
           key().string() + ".pub";
  }

  Outcome run(const std::string& arguments) const { return run_shapleyctl(directory.path(), arguments); }

  // A fresh copy on which `sql` ran.
  void tamper(const std::string& sql) const {
    fs::remove(copy());
    fs::copy_file(original(), copy());
    edit(sql);
  }

  // Runs `sql` on the copy without the triggers that guard events, and puts them back.
  void edit(const std::string& sql) const {
    std::string triggers;
    std::string drops;
    for (const std::string& name : rows(copy(), "SELECT name FROM sqlite_master WHERE type = 'trigger'")) {
      drops += "DROP TRIGGER " + name + ";";
      triggers += rows(copy(), "SELECT sql FROM sqlite_master WHERE name = '" + name + "'").at(0) + ";";
    }
    ledger::testing::tamper(copy(), drops + sql + ";" + triggers);
  }

  // Computes every hash again, as an attacker who has our source would; by code of its own, from the reference page.
  void make_the_chain_fit() const {
    std::string previous(32, '\0');
    std::string sql;
    for (const std::string& seq : rows(copy(), "SELECT seq FROM events ORDER BY seq")) {
      const std::string row = rows(copy(),
                                   "SELECT seq || x'0a' || at || x'0a' || received || x'0a' || kind || x'0a' || key || "
                                   "x'0a' || payload FROM events WHERE seq = " +
                                       seq)
                                  .at(0);
      previous = sha256(previous + row);
      sql += "UPDATE event_rows SET hash = x'" + hex_of(previous) + "' WHERE seq = " + seq + ";";
    }
    edit(sql);
  }

  ledger::testing::TemporaryDirectory directory;
};

void expect_first_bad_row(const Outcome& outcome, int event, const std::string& what) {
  EXPECT_EQ(outcome.exit_code, code(ExitCode::findings)) << what << ": " << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "FINDING chain: event " + std::to_string(event) + ": "))
      << what << ": " << outcome.out;
}

TEST_F(Tampering, ATrueCopyFitsItsHead) {
  tamper("");
  const Outcome outcome = ends(ExitCode::success, run(against(head())));
  EXPECT_PRED2(contains, outcome.out, "events 1 to 14 are those that were signed then");
  EXPECT_TRUE(json::parse(run(against(head()) + " --json").out)["clean"].get<bool>());
}

TEST_F(Tampering, AChangeOfAnyColumnOfAnyRowIsNamed) {
  const std::vector<std::string> columns = rows(original(), "SELECT name FROM pragma_table_info('event_rows')");
  ASSERT_EQ(columns.size(), 16U);
  for (const std::string& column : columns) {
    for (const int event : {1, 7, 8, 9, 14}) {
      const std::string where = " WHERE seq = " + std::to_string(event);
      // Another value of the same kind; the row that moves to the end is the first that is in a wrong place.
      std::string change = "UPDATE event_rows SET " + column + " = COALESCE(" + column + ", 0) + 1" + where;
      if (column == "seq") change = "UPDATE event_rows SET seq = 99" + where;
      if (column == "hash") change = "UPDATE event_rows SET hash = zeroblob(32)" + where;
      tamper(change);
      const Outcome outcome = ends(ExitCode::findings, run("audit " + copy().string()));
      const int first = column == "seq" ? (event == 14 ? 99 : event + 1) : event;
      const bool named = contains(outcome.out, "FINDING chain: event " + std::to_string(first) + ": ");
      // A member that events of this kind do not have changes no payload.
      const bool superfluous = contains(
          outcome.out, "FINDING chain: event_rows: a member that events of this kind do not have, or lack: seq " +
                           std::to_string(event));
      EXPECT_TRUE(named || superfluous) << change << ": " << outcome.out;
    }
  }
}

TEST_F(Tampering, AChangeOfAnythingThatAnEventIsMadeOfIsNamed) {
  for (const std::string table : {"event_nodes", "event_jobs", "event_texts", "words"}) {
    const std::vector<std::string> columns = rows(original(), "SELECT name FROM pragma_table_info('" + table + "')");
    ASSERT_GE(columns.size(), 3U);
    const std::string key = table == "words" ? "word" : "seq";
    const std::string last = rows(original(), "SELECT MAX(" + key + ") FROM " + table).at(0);
    for (const std::string& column : columns) {
      const bool text = !rows(original(), "SELECT 1 FROM " + table + " WHERE typeof(" + column + ") = 'text'").empty();
      const std::string changed = text ? column + " || 'x'" : "COALESCE(" + column + ", 0) + 17";
      const std::string change =
          "UPDATE " + table + " SET " + column + " = " + changed + " WHERE " + key + " = " + last;
      tamper(change);
      const Outcome outcome = ends(ExitCode::findings, run("audit " + copy().string()));
      EXPECT_TRUE(contains(outcome.out, "FINDING chain: ")) << change << ": " << outcome.out;
    }
  }
}

TEST_F(Tampering, ARemovedRowIsNamed) {
  tamper("DELETE FROM event_rows WHERE seq = 5");
  expect_first_bad_row(run("audit " + copy().string()), 6, "a hole");
  tamper("DELETE FROM event_rows WHERE seq = 5; UPDATE event_rows SET seq = seq - 1 WHERE seq > 5");
  expect_first_bad_row(run("audit " + copy().string()), 5, "the hole closed");
}

TEST_F(Tampering, AnInsertedRowIsNamed) {
  const auto inserted = [](int seq) {
    const std::string number = std::to_string(seq);
    return "INSERT INTO event_rows(seq, kind, received, at, hash) SELECT " + number +
           ", 0, received, 2000000000, hash FROM event_rows WHERE seq = " + std::to_string(seq - 1) +
           "; INSERT INTO event_texts VALUES (" + number +
           ", 'period_declared', 'period_declared/2000000000', '{\"at\":2000000000,\"period\":\"none\"}')";
  };
  tamper(inserted(15));
  expect_first_bad_row(run("audit " + copy().string()), 15, "at the end");
  tamper(
      "UPDATE event_rows SET seq = -seq WHERE seq > 5; UPDATE event_rows SET seq = 1 - seq WHERE seq < 0;UPDATE "
      "event_texts SET seq = -seq WHERE seq > 5; UPDATE event_texts SET seq = 1 - seq WHERE seq < 0;" +
      inserted(6));
  expect_first_bad_row(run("audit " + copy().string()), 6, "in the middle");
}

TEST_F(Tampering, ReorderedRowsAreNamed) {
  tamper(
      "UPDATE event_rows SET seq = -1 WHERE seq = 7; UPDATE event_rows SET seq = 7 WHERE seq = 9;UPDATE event_rows SET "
      "seq = 9 WHERE seq = -1");
  expect_first_bad_row(run("audit " + copy().string()), 7, "exchanged");
}

// One line of SQL adds a day of work: the chain fits again, and only a head that was kept elsewhere does not.
TEST_F(Tampering, AWhollyRewrittenLedgerIsCaughtByAnOldHead) {
  tamper("UPDATE event_rows SET received = received + 1 WHERE seq >= 10");
  make_the_chain_fit();
  EXPECT_EQ(run("audit " + copy().string()).exit_code, code(ExitCode::success)) << "the rewrite is not a good one";
  const Outcome outcome = ends(ExitCode::findings, run(against(head())));
  EXPECT_PRED2(contains, outcome.out, "FINDING head: the head of event 14, signed ");
  EXPECT_PRED2(contains, outcome.out, "the ledger was rewritten after that");
  EXPECT_PRED2(contains, outcome.out, "the first changed event is one of 1 to 14");
}

TEST_F(Tampering, SeveralHeadsSayWhereTheRewritingBegan) {
  const fs::path early = directory.path() / "early";
  tamper("DELETE FROM event_rows WHERE seq > 8");
  ASSERT_EQ(run("audit --head --ledger " + copy().string() + " --sign-with " + key().string() + " -o " + early.string())
                .exit_code,
            code(ExitCode::success));
  tamper("UPDATE event_rows SET received = received + 1 WHERE seq >= 10");
  make_the_chain_fit();
  const Outcome outcome = ends(ExitCode::findings, run(against(head()) + " --against-head " + early.string()));
  EXPECT_PRED2(contains, outcome.out, "events 1 to 8 are those that were signed then");
  EXPECT_PRED2(contains, outcome.out, "the first changed event is one of 9 to 14");
}

TEST_F(Tampering, ATruncatedLedgerIsCaughtByAnOldHead) {
  tamper("DELETE FROM event_rows WHERE seq > 9");
  const Outcome outcome = ends(ExitCode::findings, run(against(head())));
  EXPECT_PRED2(contains, outcome.out, "the ledger was truncated: it ends at event 9, but held 14 events");
}

TEST_F(Tampering, AHeadKeptInTheFileNamesARewriteToo) {
  {
    auto ledger = ledger::testing::writer(original());
    must(ledger.store_head(must(ledger::read_head_file(head()))));
  }
  tamper("UPDATE event_rows SET received = received + 1 WHERE seq >= 10");
  make_the_chain_fit();
  const Outcome outcome = ends(ExitCode::findings, run("audit " + copy().string()));
  EXPECT_PRED2(contains, outcome.out, "FINDING head: the signed head of event 14: ");
  const Outcome stored = run("audit --head " + original().string());
  EXPECT_EQ(stored.out, content_of(head())) << stored.err;
}

void expect_refused(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.exit_code, code(ExitCode::unreadable)) << outcome.out << outcome.err;
  EXPECT_PRED2(contains, outcome.err, words);
}

TEST_F(Tampering, AHeadThatProvesNothingIsRefusedWithTheReason) {
  tamper("");
  const fs::path other = directory.path() / "other";
  const std::string text = content_of(head());

  ASSERT_EQ(run("keygen " + other.string()).exit_code, code(ExitCode::success));
  std::string wrong_key = against(head());
  wrong_key.replace(wrong_key.find(key().string() + ".pub"), std::string::npos, other.string() + ".pub");
  expect_refused(run(wrong_key), "was signed with key SHA256:");

  const fs::path edited = directory.path() / "edited";
  std::string lowered = text;
  lowered.replace(lowered.find("sequence: 14"), 12, "sequence: 13");
  std::ofstream(edited) << lowered;
  expect_refused(run(against(edited)), "the signature is not of this text");

  std::ofstream(edited, std::ios::trunc) << text.substr(0, text.find("hash: "));
  expect_refused(run(against(edited)), "line 4 is not \"hash: ...\"");
  std::ofstream(edited, std::ios::trunc) << "hello\n";
  expect_refused(run(against(edited)), "it does not begin with \"shapley ledger head 1\"");
  expect_refused(run(against(directory.path() / "absent")), "absent: cannot be read");
  expect_refused(
      run("audit " + copy().string() + " --against-head " + head().string() + " --public-key " + key().string()),
      "no Ed25519 public key");

  tamper("UPDATE identity SET ledger = '00000000000000000000000000000000'");
  expect_refused(run(against(head())), "this file is ledger 00000000000000000000000000000000");
}

TEST_F(Tampering, AHeadSurvivesTheMail) {
  tamper("");
  std::string mailed;
  for (const char c : content_of(head())) mailed += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::ofstream(directory.path() / "mailed") << "\r\n" << mailed << "\r\n\r\n";
  ends(ExitCode::success, run(against(directory.path() / "mailed")));
}

TEST_F(Tampering, APrivateKeyIsForItsOwnerAlone) {
  EXPECT_EQ(fs::status(key()).permissions(), fs::perms(0600));
  expect_refused(run("keygen " + key().string()), "exists already and is not overwritten");
  fs::permissions(key(), fs::perms(0640));
  const Outcome outcome =
      ends(ExitCode::refused, run("audit --head --ledger " + original().string() + " --sign-with " + key().string()));
  EXPECT_PRED2(contains, outcome.err, "others than its owner may read or write this private key");
}

TEST_F(Tampering, WhatDoesNotGoTogetherIsUsage) {
  for (const char* arguments : {"audit --against-head x", "audit --public-key x", "audit --sign-with x", "audit -o x",
                                "audit --head --against-head x --public-key y", "keygen"}) {
    EXPECT_EQ(run(arguments).exit_code, code(ExitCode::usage)) << arguments;
  }
  const Outcome none = ends(ExitCode::unreadable, run("audit --head " + original().string()));
  EXPECT_PRED2(contains, none.err, "holds no signed head");
}

// A ledger that holds what the program did not make, asked by every command that reads a file: refused at once, with
// one sentence and the exit code of a file that cannot be read. Some of these kept a reader busy until it was killed.

struct Change {
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
            "backup --ledger " + path + " " + (directory.path() / "copy.db").string(),
            "restore --ledger " + sound().string() + " " + path};
  }

  ledger::testing::TemporaryDirectory directory;
};

TEST_F(ForeignSchema, IsRefusedByEveryCommand) {
  const std::string original = content_of(sound());
  for (const Change& c :
       {Change{
            "DROP VIEW events; CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM "
            "n) SELECT seq, seq AS key, 0 AS at, 0 AS received, '' AS kind, '' AS payload, x'' AS hash FROM n",
            "view events is not as the program makes it"},
        Change{"CREATE VIRTUAL TABLE notes USING fts5(text)", "table notes was added by hand"},
        Change{"CREATE VIRTUAL TABLE notes USING fts5(text); PRAGMA writable_schema = ON; DELETE FROM sqlite_master "
               "WHERE name = 'notes'; PRAGMA writable_schema = OFF",
               "table notes_config was added by hand"},
        Change{"CREATE TRIGGER quietly AFTER INSERT ON event_rows BEGIN DELETE FROM checkpoints; END",
               "trigger quietly was added by hand"},
        Change{"CREATE INDEX by_hash ON event_rows(hex(hash))", "index by_hash was added by hand"},
        Change{"CREATE VIEW mine AS SELECT * FROM balances", "view mine was added by hand"}}) {
    fs::copy_file(sound(), file(), fs::copy_options::overwrite_existing);
    ledger::testing::tamper(file(), c.sql);
    for (const std::string& command : commands()) {
      const Outcome outcome = ends(ExitCode::unreadable, run(command));
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
  ends(ExitCode::success, run("restore --ledger " + file().string() + " " + sound().string()));
  ends(ExitCode::success, run("audit " + file().string()));

  ledger::testing::tamper(file(), "CREATE VIEW mine AS SELECT * FROM balances");
  ends(ExitCode::unreadable, run("audit " + file().string()));
  ledger::testing::tamper(file(), "DROP VIEW mine");
  ends(ExitCode::success, run("audit " + file().string()));
}

}  // namespace
}  // namespace shapley::ctl
