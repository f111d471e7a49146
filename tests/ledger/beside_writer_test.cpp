// A second connection of the process that writes: what it sees, and what it leaves to the writer.
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "ledger/encoding/event_reader.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::ledger {
namespace {

using testing::must;
using testing::opened;

class BesideWriter : public testing::LedgerTest {
 protected:
  void append(std::uint32_t jobs = 1) {
    std::vector<accounting::Event> events;
    for (const std::uint32_t last = job + jobs; job < last; ++job) events.push_back(opened(job, 10'000 + job, "a", 1));
    must(ledger.append(events, {30'000}));
  }
  [[nodiscard]] Ledger reader() const { return must(Ledger::open(file(), OpenMode::read_beside_writer)); }
  static std::string events_in(const Ledger& of) { return must(query(of, "SELECT COUNT(*) FROM events")).at(0).at(0); }
  [[nodiscard]] std::uintmax_t log_bytes() const { return std::filesystem::file_size(file().string() + "-wal"); }

  Ledger ledger = testing::writer(file());
  std::uint32_t job = 1;  // the next one
};

TEST_F(BesideWriter, SeesWhatIsCommittedAndCannotWrite) {
  append();
  Ledger beside = reader();
  EXPECT_EQ(events_in(beside), "1");
  append();
  EXPECT_EQ(events_in(beside), "2");
  const accounting::Event event = opened(99, 10'099, "a", 1);
  EXPECT_EQ(beside.append({&event, 1}, {30'000}).error().code, Errc::denied);
}

TEST_F(BesideWriter, ALogThatGrewWhileAReaderStayedIsCutAfterwards) {
  constexpr std::uintmax_t k_limit = std::uintmax_t{64} << 20U;
  append();
  const Database second = must(open_second_writer(file()));
  must(second.execute("CREATE TABLE ballast (bytes BLOB)"));
  {
    const Ledger beside = reader();
    const Transaction snapshot = must(Transaction::begin(beside.rows().database(), Transaction::Kind::read));
    must(second.execute("INSERT INTO ballast VALUES (zeroblob(80000000))"));
    EXPECT_GT(log_bytes(), k_limit);
  }
  must(second.execute("DROP TABLE ballast; PRAGMA wal_checkpoint(PASSIVE)"));
  append();
  EXPECT_LE(log_bytes(), k_limit);
}

TEST_F(BesideWriter, SeesOneMomentDuringASnapshot) {
  append();
  const Ledger beside = reader();
  {
    const Transaction snapshot = must(Transaction::begin(beside.rows().database(), Transaction::Kind::read));
    EXPECT_EQ(events_in(beside), "1");
    append();  // the snapshot holds up no commit
    EXPECT_EQ(events_in(beside), "1");
  }
  EXPECT_EQ(events_in(beside), "2");
}

// A reader keeps the words that it met; one that the writer stored since then is none of them.
TEST_F(BesideWriter, SeesWordsThatAreStoredMeanwhile) {
  append();
  const Database beside = must(open_beside_writer(file()));
  EventReader events = must(EventReader::create(beside));
  const auto organizations = [&] {
    std::vector<std::string> found;
    must(events.visit(0, ledger.last_sequence(), [&](const StoredEvent& stored) -> Expected<void> {
      found.push_back(std::get<accounting::SegmentOpened>(stored.event).organization);
      return {};
    }));
    return found;
  };
  EXPECT_EQ(organizations(), std::vector<std::string>{"a"});
  const accounting::Event event = opened(2, 10'002, "stored meanwhile", 1);
  must(ledger.append({&event, 1}, {30'000}));
  EXPECT_EQ(organizations(), (std::vector<std::string>{"a", "stored meanwhile"}));
}

// Under a snapshot the log cannot begin again. After it, what is committed next folds it in, and it grows no more.
TEST_F(BesideWriter, LetsTheLogBeginAgainAfterASnapshot) {
  constexpr std::uint32_t k_events = 32'000;  // about 1,000 pages; the log is folded in after 4,000
  for (int i = 0; i < 2; ++i) append(k_events);
  const std::uintmax_t usual = log_bytes();
  const Ledger beside = reader();
  {
    const Transaction snapshot = must(Transaction::begin(beside.rows().database(), Transaction::Kind::read));
    EXPECT_NE(events_in(beside), "0");
    for (int i = 0; i < 4; ++i) append(k_events);
  }
  append();
  const std::uintmax_t held = log_bytes();
  EXPECT_GT(held, usual) << "this test writes too little to see anything";
  for (int i = 0; i < 3; ++i) append(k_events);
  EXPECT_EQ(log_bytes(), held) << "room in the log was not used again";
}

// A process loses its locks on a file as soon as it closes any descriptor of it: then another process would take itself
// for the only one, and remove the log.
TEST_F(BesideWriter, LeavesTheWriterItsLocks) {
  append();
  {
    const Ledger beside = reader();
    EXPECT_EQ(events_in(beside), "1");
  }
  const std::string command = "sqlite3 '" + file().string() + "' 'PRAGMA journal_mode = DELETE' 2>&1";
  FILE* shell = popen(command.c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::array<char, 256> said{};
  const std::size_t size = std::fread(said.data(), 1, said.size(), shell);
  pclose(shell);
  const std::string words(said.data(), size);
  EXPECT_NE(words.find("locked"), std::string::npos) << "another process changed the journal's mode: " << words;
  EXPECT_TRUE(std::filesystem::exists(file().string() + "-wal"));
}

// Only root can hold that lock; the daemon goes on meanwhile, and commits afterwards.
TEST_F(BesideWriter, ACommitThatAnotherHoldsUpFailsAndCanBeTriedAgain) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const accounting::Event event = opened(1, 10'001, "a", 1);
  const auto held = ledger.append({&event, 1}, {30'000});
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Errc::unavailable) << held.error().what;
  EXPECT_EQ(events_in(reader()), "0") << "readers are not held up";
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_EQ(must(ledger.append({&event, 1}, {30'000})).appended, 1U);
  EXPECT_EQ(must(query(ledger, "PRAGMA busy_timeout")).at(0).at(0), "50") << "milliseconds that a commit may wait";
}

// A query that would take too long or too much ends with an error, and leaves the connection as it was.

std::string counting_to(int most, const std::string& wanted) {
  return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(most) +
         ") SELECT " + wanted + " FROM n";
}

class QueryBudgets : public testing::LedgerTest {
 protected:
  Ledger ledger = testing::writer(file());
};

TEST_F(QueryBudgets, EndAQueryOfTooManySteps) {
  const std::string sql = counting_to(100'000, "COUNT(*)");
  const auto stopped = query(ledger, sql, {.steps = 20'000});
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit) << stopped.error().what;
  EXPECT_EQ(must(query(ledger, sql)).at(0).at(0), "100000");
  EXPECT_EQ(must(query(ledger, sql, {.steps = 100'000'000})).at(0).at(0), "100000");
}

struct Counted {
  std::int64_t number = 0;
};
constexpr auto description_of(std::type_identity<Counted>) {
  return describe(member("number", &Counted::number));
}

TEST_F(QueryBudgets, EndAQueryOfTooManyRows) {
  const std::string sql = counting_to(100, "i");
  const Database& database = ledger.rows().database();
  EXPECT_EQ(must(read_within<Counted>(database, sql, {.rows = 100})).size(), 100U);
  const auto stopped = read_within<Counted>(database, sql, {.rows = 99});
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit);
}

// Without an end of its own it would never end.
TEST_F(QueryBudgets, LetAnotherThreadEndAQuery) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
  const Ledger reader = must(Ledger::open(file(), OpenMode::read_beside_writer));
  std::atomic<bool> ended = false;
  std::thread other([&] { ended = true; });
  const auto stopped = query(reader, endless, {.ended = &ended});
  other.join();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit);
  ended = false;
  EXPECT_EQ(must(query(reader, counting_to(100'000, "COUNT(*)"), {.ended = &ended})).at(0).at(0), "100000");
}

TEST_F(QueryBudgets, LeaveTheLedgerWritable) {
  ASSERT_FALSE(query(ledger, counting_to(100'000, "COUNT(*)"), {.steps = 1000}).has_value());
  const accounting::Event event = testing::opened(1, 1'700'000'000, "physics", 2);
  EXPECT_EQ(must(ledger.append({&event, 1}, Instant{1'700'000'100})).appended, 1U);
}

}  // namespace
}  // namespace shapley::ledger
