#include "ledger/store/ledger.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/store/ledger_file.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"
#include "tests/support/child.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;

std::vector<Event> events_of(const Ledger& ledger, std::int64_t after = 0) {
  std::vector<Event> events;
  must(ledger.for_each_event(after, [&](const StoredEvent& stored) -> Expected<void> {
    EXPECT_EQ(stored.sequence, after + static_cast<std::int64_t>(events.size()) + 1);
    events.push_back(stored.event);
    return {};
  }));
  return events;
}

TEST_F(LedgerTest, keeps_events_in_order_and_across_reopening) {
  const auto run = opened(17, 1000, "a", 4);
  const std::vector<Event> first{accounting::OrganizationsDeclared{{900}, {"a", "b"}}, run};
  const std::vector<Event> second{closed(run, 1100)};
  {
    Ledger ledger = writer(file());
    EXPECT_EQ(ledger.last_sequence(), 0);
    const auto result = must(ledger.append(first, {1001}));
    EXPECT_EQ(result.appended, 2U);
    EXPECT_EQ(result.accepted, first);
    EXPECT_EQ(ledger.last_sequence(), 2);
  }
  Ledger ledger = writer(file());
  EXPECT_EQ(ledger.last_sequence(), 2);
  must(ledger.append(second, {1101}));
  EXPECT_EQ(events_of(ledger), (std::vector<Event>{first[0], first[1], second[0]}));
  EXPECT_EQ(events_of(ledger, 2), second);
}

TEST_F(LedgerTest, a_repeated_event_is_no_event) {
  Ledger ledger = writer(file());
  const auto run = opened(17, 1000, "a", 4);
  must(ledger.append(std::vector<Event>{run}, {1001}));
  const auto before = dump(ledger);
  // Again in another batch, and twice within one.
  const auto result = must(ledger.append(std::vector<Event>{run, closed(run, 1100), closed(run, 1100)}, {2000}));
  EXPECT_EQ(result.appended, 1U);
  EXPECT_EQ(result.duplicates, 2U);
  EXPECT_TRUE(result.conflicts.empty());
  EXPECT_EQ(result.accepted, (std::vector<Event>{closed(run, 1100)}));
  EXPECT_NE(dump(ledger), before);
  EXPECT_EQ(ledger.last_sequence(), 2);
}

TEST_F(LedgerTest, the_first_of_two_contradicting_facts_stays) {
  Ledger ledger = writer(file());
  const auto run = opened(17, 1000, "a", 4);
  auto other = run;
  other.organization = "b";
  must(ledger.append(std::vector<Event>{run}, {1001}));
  const auto before = dump(ledger);
  const auto result = must(ledger.append(std::vector<Event>{other, opened(18, 1000, "b", 1)}, {1002}));
  EXPECT_EQ(result.conflicts, std::vector<std::string>{"segment_opened/run/17/1000/0"});
  EXPECT_EQ(result.appended, 1U);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(events_of(ledger)[0]).organization, "a");
}

TEST_F(LedgerTest, a_segment_cannot_end_before_it_begins_whichever_is_learned_first) {
  Ledger ledger = writer(file());
  const auto run = opened(17, 1000, "a", 4);
  const auto late = opened(18, 1000, "a", 4);
  must(ledger.append(std::vector<Event>{run, closed(late, 999)}, {1001}));
  const auto result = must(ledger.append(std::vector<Event>{closed(run, 999), late}, {1002}));
  EXPECT_EQ(result.appended, 0U);
  EXPECT_EQ(result.conflicts,
            (std::vector<std::string>{"segment_closed/run/17/1000/0", "segment_opened/run/18/1000/0"}));
  EXPECT_EQ(must(ledger.append(std::vector<Event>{closed(run, 1000)}, {1003})).appended, 1U);
}

TEST_F(LedgerTest, a_batch_with_a_malformed_event_is_refused_as_a_whole) {
  Ledger ledger = writer(file());
  auto bad = opened(18, 1000, "a", 4);
  bad.processors = {1};
  const auto result = ledger.append(std::vector<Event>{opened(17, 1000, "a", 4), bad}, {1001});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::invalid_argument);
  EXPECT_NE(result.error().what.find("segment_opened/run/18/1000/0"), std::string::npos) << result.error().what;
  EXPECT_EQ(ledger.last_sequence(), 0);
  EXPECT_TRUE(dump(ledger).empty());
  // The chain goes on as if nothing had happened.
  EXPECT_EQ(must(ledger.append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001})).appended, 1U);
  EXPECT_EQ(ledger.last_sequence(), 1);
}

TEST_F(LedgerTest, events_can_be_neither_edited_nor_deleted) {
  must(writer(file()).append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  EXPECT_THROW(tamper(file(), "UPDATE events SET payload = '{}' WHERE seq = 1"), std::runtime_error);
  EXPECT_THROW(tamper(file(), "DELETE FROM events"), std::runtime_error);
  must(writer(file()).append(std::vector<Event>{described({19}, {1000}, "a"), accounting::PeriodDeclared{{1000}}},
                             {1002}));
  for (const std::string table : {"event_rows", "event_nodes", "event_jobs", "event_texts", "words"}) {
    EXPECT_NE(rows(file(), "SELECT COUNT(*) FROM " + table), std::vector<std::string>{"0"}) << table;
    EXPECT_THROW(tamper(file(), "DELETE FROM " + table), std::runtime_error) << table;
    const std::string column = rows(file(), "SELECT name FROM pragma_table_info('" + table + "')").at(0);
    EXPECT_THROW(tamper(file(), "UPDATE " + table + " SET " + column + " = " + column), std::runtime_error) << table;
  }
}

TEST_F(LedgerTest, files_of_a_new_ledger_are_for_their_owner_alone) {
  const mode_t before = ::umask(0);  // whatever the umask lets through
  Ledger ledger = writer(file());
  must(ledger.append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  ::umask(before);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat status {};
    ASSERT_EQ(::stat((file().string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << suffix;
  }
}

TEST_F(LedgerTest, a_lock_file_behind_a_symbolic_link_is_refused) {
  const auto elsewhere = directory() / "precious";
  std::ofstream(elsewhere) << "text";
  std::filesystem::create_symlink(elsewhere, file().string() + ".lock");
  const auto opened = Ledger::open(file(), OpenMode::create_or_write);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::denied) << opened.error().what;
  EXPECT_EQ(std::filesystem::file_size(elsewhere), 4U) << "it was emptied";
}

TEST_F(LedgerTest, migrates_an_empty_file_and_stamps_it) {
  std::ofstream(file()).close();
  { const Ledger ledger = writer(file()); }
  EXPECT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{std::to_string(newest_schema())});
  EXPECT_EQ(rows(file(), "PRAGMA application_id"), std::vector<std::string>{"1397248076"});
  EXPECT_EQ(rows(file(), "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
}

TEST_F(LedgerTest, a_second_writer_is_refused_with_the_name_of_the_first) {
  std::optional<Ledger> first = writer(file());
  const auto second = Ledger::open(file(), OpenMode::create_or_write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::conflict);
  EXPECT_NE(second.error().what.find("process " + std::to_string(::getpid()) + " "), std::string::npos)
      << second.error().what;
  first.reset();
  EXPECT_TRUE(Ledger::open(file(), OpenMode::create_or_write).has_value());
}

TEST_F(LedgerTest, another_name_of_the_same_file_is_no_way_around) {
  const Ledger first = writer(file());
  const auto link = directory() / "link.db";
  std::filesystem::create_symlink(file(), link);
  const auto second = Ledger::open(link, OpenMode::create_or_write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::conflict);
}

TEST_F(LedgerTest, another_process_is_refused_too) {
  const Ledger first = writer(file());
  test::Child child("another writer", [this] {
    const auto second = Ledger::open(file(), OpenMode::create_or_write);
    ::_exit(!second && second.error().code == Errc::conflict ? 0 : 1);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(LedgerTest, refuses_what_is_no_ledger_and_leaves_it_alone) {
  struct Case {
    const char* name;
    std::string content;  // empty: made with SQL
    const char* sql;
    const char* because;
  };
  const std::vector<Case> cases{
      {"text", "some notes that are to be kept", "", "not a ledger"},
      {"half a header", "SQLite form", "", "not a ledger"},
      {"damaged", std::string("SQLite format 3\0", 16) + std::string(5000, 'x'), "", "file is not a database"},
      {"foreign", "", "CREATE TABLE bank(x)", "no ledger"},
      {"newer", "", "CREATE TABLE t(x); PRAGMA application_id = 1397248076; PRAGMA user_version = 99", "version 99"},
  };
  for (const Case& c : cases) {
    std::filesystem::remove(file());
    if (c.content.empty()) {
      tamper(file(), c.sql);
    } else {
      std::ofstream(file(), std::ios::binary) << c.content;
    }
    const auto size = std::filesystem::file_size(file());
    for (const OpenMode mode : {OpenMode::create_or_write, OpenMode::read_only}) {
      const auto ledger = Ledger::open(file(), mode);
      ASSERT_FALSE(ledger) << c.name;
      EXPECT_EQ(ledger.error().code, Errc::corrupt) << c.name << ": " << ledger.error().what;
      EXPECT_NE(ledger.error().what.find(c.because), std::string::npos) << c.name << ": " << ledger.error().what;
    }
    EXPECT_EQ(std::filesystem::file_size(file()), size) << c.name;
  }
}

TEST_F(LedgerTest, says_which_path_cannot_be_opened) {
  const auto absent = Ledger::open(file(), OpenMode::read_only);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Errc::not_found);
  const auto nowhere = Ledger::open(directory() / "no" / "such" / "ledger.db", OpenMode::create_or_write);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Errc::io);
  EXPECT_NE(nowhere.error().what.find("no/such/ledger.db"), std::string::npos) << nowhere.error().what;
  const auto folder = Ledger::open(directory(), OpenMode::read_only);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::corrupt);
}

TEST_F(LedgerTest, a_reader_follows_a_writer_and_may_not_write) {
  Ledger ledger = writer(file());
  must(ledger.append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  Ledger other = reader(file());
  EXPECT_EQ(other.last_sequence(), 1);
  must(ledger.append(std::vector<Event>{opened(18, 1000, "a", 4)}, {1002}));
  EXPECT_EQ(other.last_sequence(), 2);
  EXPECT_EQ(events_of(other).size(), 2U);
  const auto refused = other.append(std::vector<Event>{opened(19, 1000, "a", 4)}, {1002});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_FALSE(query(other, "DELETE FROM segments"));
}

TEST_F(LedgerTest, reads_a_copied_file) {
  must(writer(file()).append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  const auto copy = directory() / "what? a copy #1 100%.db";
  std::filesystem::copy_file(file(), copy);
  EXPECT_EQ(reader(copy).last_sequence(), 1);
}

// Opens the ledger as a user who may write nothing there, which root always may. 0: it could be read.
int read_as_unprivileged(const std::filesystem::path& ledger) {
  const pid_t parent = ::getpid();
  test::Child child("a reader of another user", [&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    test::die_with(parent);
    if (::access(ledger.parent_path().c_str(), W_OK) == 0) ::_exit(3);
    const auto opened = Ledger::open(ledger, OpenMode::read_only);
    if (!opened) std::fprintf(stderr, "%s\n", opened.error().what.c_str());
    ::_exit(opened && opened->last_sequence() == 1 ? 0 : 1);
  });
  return child.wait();
}

TEST_F(LedgerTest, reads_in_a_directory_that_it_may_not_write) {
  const auto folder = directory() / "read only? 100%";
  const auto ledger = folder / "ledger.db";
  std::filesystem::create_directory(folder);
  must(writer(ledger).append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  ASSERT_FALSE(std::filesystem::exists(ledger.string() + "-wal"));
  std::filesystem::permissions(ledger, std::filesystem::perms{0444});
  std::filesystem::permissions(folder, std::filesystem::perms{0555});
  std::filesystem::permissions(directory(), std::filesystem::perms{0755});
  EXPECT_EQ(read_as_unprivileged(ledger), 0);
  // And while another process has it open, so that there is a log.
  const Ledger other = reader(ledger);
  EXPECT_EQ(other.last_sequence(), 1);
  EXPECT_EQ(read_as_unprivileged(ledger), 0);
  std::filesystem::permissions(folder, std::filesystem::perms{0755});
}

TEST_F(LedgerTest, a_reader_does_not_change_the_file) {
  must(writer(file()).append(std::vector<Event>{opened(17, 1000, "a", 4)}, {1001}));
  const auto content = [&] {
    std::ifstream in(file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = content();
  { EXPECT_EQ(reader(file()).last_sequence(), 1); }
  EXPECT_EQ(content(), before);
}

TEST_F(LedgerTest, a_visitor_can_stop_the_walk) {
  Ledger ledger = writer(file());
  must(ledger.append(std::vector<Event>{opened(17, 1000, "a", 4), opened(18, 1000, "a", 4)}, {1001}));
  int visited = 0;
  const auto walked = ledger.for_each_event(0, [&](const StoredEvent&) -> Expected<void> {
    ++visited;
    return fail(Errc::limit, "enough");
  });
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, Errc::limit);
  EXPECT_EQ(visited, 1);
}

TEST_F(LedgerTest, an_unreadable_event_is_named) {
  must(writer(file()).append(std::vector<Event>{opened(17, 1000, "a", 4), opened(18, 1000, "a", 4)}, {1001}));
  tamper(file(), "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET organization = 99 WHERE seq = 2");
  const auto walked = reader(file()).for_each_event(0, [](const StoredEvent&) -> Expected<void> { return {}; });
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, Errc::corrupt);
  EXPECT_NE(walked.error().what.find("event 2"), std::string::npos) << walked.error().what;
}

}  // namespace
}  // namespace shapley::ledger
