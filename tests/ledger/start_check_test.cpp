// A damaged ledger is recognized when it is opened for writing, and refused with what is wrong and the way out; not a
// byte of it is changed.
#include <fstream>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

constexpr std::size_t k_page = 4096;
constexpr std::int64_t k_events = 1000;  // of the ledger; each job has two

class StartCheck : public LedgerTest {
 protected:
  // A thousand events, closed cleanly: the file is the whole truth. Made once: a sanitizer needs seconds for it.
  void SetUp() override {
    static std::string sound;
    if (!sound.empty()) return write(file(), sound);
    {
      Ledger ledger = writer(file());
      append(ledger, 1, k_events / 2);
      must(ledger.save_checkpoint(must(ledger.recover()).state, ledger.last_sequence(), {90'000}));
    }
    sound = content_of(file());
  }

  static void append(Ledger& ledger, std::uint32_t first, std::uint32_t last) {
    std::vector<accounting::Event> events;
    for (std::uint32_t job = first; job <= last; ++job) {
      const auto run = opened(job, 10'000 + job, "a", 1);
      events.emplace_back(run);
      events.emplace_back(closed(run, 20'000 + job));
    }
    must(ledger.append(events, {30'000}));
  }

  [[nodiscard]] fs::path log() const { return file().string() + "-wal"; }

  // The sentence of the refusal; the file stays as it is.
  std::string refusal() const {
    const std::string before = content_of(file());
    const auto opened = Ledger::open(file(), OpenMode::create_or_write);
    EXPECT_TRUE(before == content_of(file())) << "the damaged file was changed";
    if (opened) {
      ADD_FAILURE() << "opened as if nothing were wrong";
      return {};
    }
    EXPECT_EQ(opened.error().code, Errc::corrupt) << opened.error().what;
    EXPECT_NE(opened.error().what.find("shapleyctl restore BACKUP"), std::string::npos) << opened.error().what;
    return opened.error().what;
  }

  // SQLite knows no sums of pages, and one that ends the text of a part says nothing of other pages. Such a ledger
  // opens, and the checkpoint is passed over.
  [[nodiscard]] bool is_damage_of_checkpoint_text() const {
    const auto opened = Ledger::open(file(), OpenMode::create_or_write);
    return opened && must(opened->recover()).replayed == k_events;
  }

  void expect_refusal(const std::string& words) const {
    const std::string sentence = refusal();
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  }
};

TEST_F(StartCheck, a_sound_ledger_opens) {
  EXPECT_EQ(writer(file()).last_sequence(), k_events);
}

// How many pages are damaged, one at a time: fewer where a sanitizer makes each many times as slow.
#ifdef SHAPLEY_SANITIZED
constexpr std::size_t k_damaged_pages = 8;
#else
constexpr std::size_t k_damaged_pages = 40;
#endif

TEST_F(StartCheck, a_zeroed_page_anywhere) {
  const std::string sound = content_of(file());
  const std::size_t pages = sound.size() / k_page;
  ASSERT_GT(pages, 50U);
  std::size_t refused = 0;
  for (std::size_t page = 0; page < pages; page += 1 + pages / k_damaged_pages) {
    SCOPED_TRACE(page);
    std::string damaged = sound;
    damaged.replace(page * k_page, k_page, k_page, '\0');
    write(file(), damaged);
    if (is_damage_of_checkpoint_text()) continue;
    EXPECT_TRUE(content_of(file()) == damaged);
    EXPECT_NE(refusal(), "");
    ++refused;
  }
  EXPECT_GT(refused, k_damaged_pages / 2);
}

// A job that is in the table and not in the index is left out of what is read by the index.
TEST_F(StartCheck, an_index_that_differs_from_its_table) {
  must(writer(file()).append(usual_job(5000), {30'000}));
  damage_index(file(), "jobs_by_submit");
  expect_refusal("index jobs_by_submit");
}

TEST_F(StartCheck, a_truncated_file) {
  const std::string sound = content_of(file());
  for (const std::size_t size : {sound.size() - k_page, sound.size() / 2, k_page, std::size_t{700}, std::size_t{40}}) {
    SCOPED_TRACE(size);
    write(file(), sound.substr(0, size));
    EXPECT_NE(refusal(), "");
  }
}

TEST_F(StartCheck, random_bytes) {
  Rng rng(20261121);
  const std::string sound = content_of(file());
  std::string noise(sound.size(), '\0');
  for (char& c : noise) c = static_cast<char>(rng.below(256));
  write(file(), noise);
  expect_refusal("not a ledger");
  write(file(), sound.substr(0, 100) + noise.substr(100));
  EXPECT_NE(refusal(), "");
}

TEST_F(StartCheck, a_missing_or_changed_table_index_or_trigger) {
  tamper(file(), "DROP TRIGGER events_are_not_updated");
  expect_refusal("trigger events_are_not_updated is missing");
  tamper(file(), "CREATE TRIGGER events_are_not_updated BEFORE UPDATE ON event_rows BEGIN SELECT 1; END");
  expect_refusal("trigger events_are_not_updated is not as the program makes it");
}

TEST_F(StartCheck, a_missing_view_is_for_the_audit) {
  tamper(file(), "DROP VIEW balances");
  EXPECT_EQ(writer(file()).last_sequence(), k_events);
}

TEST_F(StartCheck, a_missing_table) {
  tamper(file(), "DROP TABLE segment_events");
  expect_refusal("is missing");
}

// The daemon reads events through it.
TEST_F(StartCheck, a_view_that_says_something_else) {
  tamper(file(),
         "DROP VIEW events; CREATE VIEW events AS SELECT seq, '' AS key, at, received, '' AS kind, '' AS payload, hash "
         "FROM event_rows");
  expect_refusal("view events is not as the program makes it");
}

TEST_F(StartCheck, another_application) {
  tamper(file(), "PRAGMA application_id = 7");
  expect_refusal("an SQLite data base, but no ledger");
}

TEST_F(StartCheck, an_event_that_was_edited) {
  const std::string trigger = rows(file(), "SELECT sql FROM sqlite_master WHERE name = 'events_are_not_updated'").at(0);
  tamper(file(), "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET at = at + 1 WHERE seq = 500; " + trigger);
  expect_refusal("event 500: its hash does not follow");
}

TEST_F(StartCheck, events_that_a_checkpoint_or_a_head_knows_and_that_are_gone) {
  const std::string trigger = rows(file(), "SELECT sql FROM sqlite_master WHERE name = 'events_are_not_deleted'").at(0);
  tamper(file(), "DROP TRIGGER events_are_not_deleted; DELETE FROM event_rows WHERE seq > 900; " + trigger);
  expect_refusal("its events end at 900, but its checkpoints know event 1000");
  tamper(file(), "DELETE FROM checkpoints; INSERT INTO heads VALUES (950, 0, '')");
  expect_refusal("its events end at 900, but its heads know event 950");
}

// A log with events that were acknowledged, as a killed daemon leaves it.
TEST_F(StartCheck, garbage_in_the_place_of_a_log) {
  const std::string folded = content_of(file());
  std::string log_content;
  {
    Ledger ledger = writer(file());
    append(ledger, 2000, 2100);
    log_content = content_of(log());
  }
  ASSERT_GT(log_content.size(), k_page);
  write(file(), folded);
  write(log(), log_content);
  EXPECT_EQ(writer(file()).last_sequence(), k_events + 202) << "the log is sound";

  write(file(), folded);
  Rng rng(7);
  std::string garbage = log_content;
  for (char& c : garbage) c = static_cast<char>(rng.below(256));
  write(log(), garbage);
  expect_refusal("has a damaged header");
  EXPECT_TRUE(content_of(log()) == garbage) << "the log was changed";

  std::string flipped = log_content;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);
  write(log(), flipped);
  expect_refusal("has a damaged header");

  // Power went while the log was folded: the first sector is torn, and SQLite has that page in the log.
  const auto torn = [&](const std::string& log_bytes) {
    write(file(), std::string(64, '?') + folded.substr(64));
    write(log(), log_bytes);
  };
  torn(log_content);
  EXPECT_EQ(writer(file()).last_sequence(), k_events + 202);
  torn("");
  expect_refusal("not a ledger");
  write(file(), folded);

  // A log that was never begun is no damage.
  write(log(), std::string(100, '\0'));
  EXPECT_EQ(writer(file()).last_sequence(), k_events);
}

}  // namespace
}  // namespace shapley::ledger
