// Copies that can be relied on, and the way back.
#include "ledger/store/backup.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/audit/audit.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
namespace fs = std::filesystem;

class Backup : public LedgerTest {
 protected:
  void SetUp() override {
    Ledger ledger = writer(file());
    append(ledger, 1);
  }
  static void append(Ledger& ledger, std::uint32_t job) {
    const std::vector<accounting::Event> events{opened(job, 10'000 + job, "a", 1)};
    must(ledger.append(events, {30'000}));
  }
  [[nodiscard]] fs::path copy() const { return directory() / "copy.db"; }
  // Everything in the directory but the lock and what SQLite keeps beside a ledger: "nothing else is left".
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory())) {
      const std::string extension = entry.path().extension();
      const bool expected = extension == ".lock" || extension == ".db-wal" || extension == ".db-shm";
      if (!expected) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Backup, of_a_ledger_in_use_holds_what_was_committed) {
  Ledger ledger = writer(file());
  append(ledger, 2);
  const BackupResult result = must(back_up(file(), copy(), Overwrite::no));
  append(ledger, 3);
  EXPECT_EQ(result.events, 2);
  EXPECT_EQ(reader(copy()).last_sequence(), 2);
  EXPECT_TRUE(must(audit(reader(copy()))).clean());
  EXPECT_EQ(fs::status(copy()).permissions(), fs::perms(0640));
}

TEST_F(Backup, overwrites_only_on_request_and_never_the_ledger) {
  std::ofstream(copy()) << "precious";
  const auto refused = back_up(file(), copy(), Overwrite::no);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_EQ(must(back_up(file(), copy(), Overwrite::yes)).events, 1);
  const auto itself = back_up(file(), directory() / "." / "ledger.db", Overwrite::yes);
  ASSERT_FALSE(itself);
  EXPECT_EQ(itself.error().code, Errc::conflict);
}

TEST_F(Backup, of_a_damaged_ledger_is_none) {
  tamper(file(), "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET at = 7");
  std::ofstream(copy()) << "precious";
  const auto refused = back_up(file(), copy(), Overwrite::yes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(fs::file_size(copy()), 8U) << "the old copy was touched";
  EXPECT_EQ(names(), (std::vector<std::string>{"copy.db", "ledger.db"})) << "a partial copy was left";
}

TEST_F(Backup, restored_takes_the_place_of_the_ledger_which_is_kept) {
  must(back_up(file(), copy(), Overwrite::no));
  {
    Ledger ledger = writer(file());
    append(ledger, 2);
    BackupResult restored;
    const auto refused = restore(copy(), file(), {1'795'249'851}, restored);
    ASSERT_FALSE(refused) << "a daemon holds the ledger";
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_NE(refused.error().what.find("writes this ledger already"), std::string::npos) << refused.error().what;
  }
  BackupResult restored;
  const fs::path aside = must(restore(copy(), file(), {1'795'249'851}, restored));
  EXPECT_EQ(restored.events, 1);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0600)) << "what a daemon works with is for it alone";
  EXPECT_EQ(aside.filename(), "ledger.db.replaced-20261121T083051Z");
  EXPECT_EQ(reader(file()).last_sequence(), 1);
  EXPECT_EQ(reader(aside).last_sequence(), 2);
  EXPECT_EQ(writer(file()).last_sequence(), 1);
}

// What a killed daemon committed lies in the log: it must go with the file that it belongs to.
TEST_F(Backup, restoring_over_a_ledger_with_a_log_keeps_both_together) {
  must(back_up(file(), copy(), Overwrite::no));
  const fs::path image = directory() / "image";
  fs::create_directory(image);
  {
    Ledger ledger = writer(file());
    append(ledger, 2);
    fs::copy_file(file(), image / "ledger.db");
    fs::copy_file(file().string() + "-wal", image / "ledger.db-wal");
  }
  BackupResult restored;
  const fs::path aside = must(restore(copy(), image / "ledger.db", {1'795'249'851}, restored));
  EXPECT_FALSE(fs::exists(image / "ledger.db-wal"));
  EXPECT_EQ(reader(image / "ledger.db").last_sequence(), 1);
  EXPECT_EQ(reader(aside).last_sequence(), 2);
}

TEST_F(Backup, only_a_sound_copy_is_restored) {
  std::ofstream(copy()) << "noise";
  BackupResult restored;
  const auto refused = restore(copy(), file(), {0}, restored);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(writer(file()).last_sequence(), 1);
  EXPECT_FALSE(restore(directory() / "absent", file(), {0}, restored));
  EXPECT_EQ(names(), (std::vector<std::string>{"copy.db", "ledger.db"}));
}

TEST_F(Backup, restored_where_there_was_nothing) {
  BackupResult restored;
  EXPECT_EQ(must(restore(file(), directory() / "new.db", {0}, restored)), fs::path());
  EXPECT_EQ(writer(directory() / "new.db").last_sequence(), 1);
}

TEST_F(Backup, restored_by_root_can_be_opened_by_whose_directory_it_is) {
  ASSERT_EQ(::geteuid(), 0U) << "run as root: it restores for another user";
  constexpr uid_t k_daemon = 65'533;
  const fs::path state = directory() / "state";
  fs::create_directory(state);
  ASSERT_EQ(::chown(state.c_str(), k_daemon, k_daemon), 0);
  BackupResult restored;
  must(restore(file(), state / "ledger.db", {0}, restored));
  for (const char* name : {"ledger.db", "ledger.db.lock"}) {
    struct stat status {};
    ASSERT_EQ(::stat((state / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_uid, k_daemon) << name;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << name;
  }
}

}  // namespace
}  // namespace shapley::ledger
