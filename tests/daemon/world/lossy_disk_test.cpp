// The lossy disk against SQLite itself: what the model takes as synced must be exactly what SQLite's own VFS
// syncs, or the rounds find losses that cannot be and miss ones that can.
#include "lossy_disk.hpp"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::daemon {

namespace {

namespace fs = std::filesystem;

constexpr int k_draws = 40;

class Connection {
 public:
  explicit Connection(const fs::path& file) {
    if (sqlite3_open(file.c_str(), &connection_) != SQLITE_OK) throw std::runtime_error("open");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close(connection_); }
  void run(const char* sql) const {
    ASSERT_EQ(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(connection_);
  }

 private:
  sqlite3* connection_ = nullptr;
};

constexpr const char* k_one_commit =
    "PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES (1)";

// SQLite opens a directory for nothing but to sync it.
int g_directories_opened = 0;
int count_directory(const char* file, int* descriptor) {
  ++g_directories_opened;
  const std::string directory = fs::path(file).parent_path().string();
  *descriptor = ::open(directory.c_str(), O_RDONLY | O_CLOEXEC);
  return *descriptor >= 0 ? SQLITE_OK : SQLITE_CANTOPEN;
}

class LossyDiskTest : public ledger::testing::LedgerTest {
 protected:
  [[nodiscard]] static bool may_survive(const LossyDisk& disk, const std::string& name) {
    Rng rng(1);
    std::array<std::uint64_t, k_fates> fates{};
    for (int i = 0; i < k_draws; ++i) {
      const ledger::testing::TemporaryDirectory image;
      disk.surviving_image(image.path(), rng, fates);
      if (fs::exists(image.path() / name)) return true;
    }
    return false;
  }
  // Whether the journal that the switch to a log leaves behind may come back, before and after the log's first sync.
  static void journal_goes_with_the_log(const LossyDisk& disk, const fs::path& ledger) {
    const Connection connection(ledger);
    connection.run("PRAGMA journal_mode = DELETE");
    connection.run(k_one_commit);
    connection.run("PRAGMA journal_mode = WAL");
    EXPECT_TRUE(may_survive(disk, "ledger.db-journal"));
    connection.run(k_one_commit);
    EXPECT_FALSE(may_survive(disk, "ledger.db-journal"));
  }
};

TEST_F(LossyDiskTest, SqliteSyncsTheDirectoryWithTheFirstSyncOfALogThatWasThereAlready) {
  sqlite3_vfs* plain = sqlite3_vfs_find(nullptr);
  ASSERT_EQ(plain->xSetSystemCall(plain, "openDirectory", reinterpret_cast<sqlite3_syscall_ptr>(count_directory)),
            SQLITE_OK);
  {
    const Connection first(file());
    first.run("PRAGMA journal_mode = WAL");
    first.run(k_one_commit);
    g_directories_opened = 0;
    first.run(k_one_commit);
    EXPECT_EQ(g_directories_opened, 0) << "once per open log";
    const Connection second(file());
    second.run(k_one_commit);
    EXPECT_EQ(g_directories_opened, 1);
  }
  plain->xSetSystemCall(plain, "openDirectory", nullptr);
}

TEST_F(LossyDiskTest, ADeletedJournalIsGonePermanentlyOnceTheLogIsSynced) {
  const LossyDisk disk(directory());
  journal_goes_with_the_log(disk, file());
}

TEST_F(LossyDiskTest, AlsoWhenALogWasThereAlready) {
  // What a cut leaves that came before the log's first sync: a log without a word in it.
  std::ofstream(file().string() + "-wal").close();
  const LossyDisk disk(directory());
  journal_goes_with_the_log(disk, file());
}

TEST_F(LossyDiskTest, ANewFileDoesNotMixWithTheDeletedOneOfItsName) {
  LossyDisk disk(directory());
  const std::string path = (directory() / "x").string();
  std::ofstream(path) << "old";
  disk.file(path, false);
  disk.removed(path, false);
  disk.file(path, true).pending.push_back({false, 0, "n"});
  std::array<std::uint64_t, k_fates> fates{};
  Rng rng(1);
  std::map<std::string, int> seen;
  for (int i = 0; i < k_draws; ++i) {
    const ledger::testing::TemporaryDirectory image;
    disk.surviving_image(image.path(), rng, fates);
    std::ifstream in(image.path() / "x");
    ++seen[std::string(std::istreambuf_iterator<char>(in), {})];
  }
  EXPECT_EQ(seen.size(), 3U) << "old, new, nothing written yet";
  EXPECT_TRUE(seen.contains("old") && seen.contains("n") && seen.contains(""));
}

}  // namespace

}  // namespace shapley::daemon
