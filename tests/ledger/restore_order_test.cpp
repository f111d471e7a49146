// A restore and the power: the old log must be away on the disk before the restored file has the ledger's name.
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/store/backup.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace {

std::vector<std::string>& calls() {
  static std::vector<std::string> calls;
  return calls;
}

}  // namespace

// In the place of the C library's: they note what is called, in order, and do it.
extern "C" int rename(const char* from, const char* to) noexcept {
  calls().push_back("rename " + std::filesystem::path(from).filename().string());
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" int fsync(int descriptor) {
  std::error_code error;
  const auto file = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  calls().push_back(std::filesystem::is_directory(file, error) ? "sync directory" : "sync " + file.filename().string());
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace shapley::ledger::testing {

namespace {

namespace fs = std::filesystem;

TEST_F(LedgerTest, TheOldLogIsAwayOnTheDiskBeforeTheRestoredFileHasTheName) {
  static_cast<void>(writer(file()));
  const fs::path copy = directory() / "copy.db";
  must(back_up(file(), copy, Overwrite::no));
  const fs::path image = directory() / "image";
  fs::create_directory(image);
  {
    // As a killed daemon leaves it: with its log.
    const Ledger ledger = writer(file());
    fs::copy_file(file(), image / "ledger.db");
    fs::copy_file(file().string() + "-wal", image / "ledger.db-wal");
  }
  calls().clear();
  BackupResult restored;
  must(restore(copy, image / "ledger.db", {1'795'249'851}, restored));
  EXPECT_EQ(calls(),
            (std::vector<std::string>{"sync ledger.db.partial", "rename ledger.db-wal", "sync directory",
                                      "rename ledger.db.partial", "sync directory", "sync ledger.db.acknowledged"}));
}

}  // namespace

}  // namespace shapley::ledger::testing
