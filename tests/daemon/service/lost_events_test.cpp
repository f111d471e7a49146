// When the number of the last acknowledged event is on the disk, and what it says of a ledger. What shapleyd does with
// one that lost acknowledged events is in ../scenes/daemon.txt.
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/store/acknowledged.hpp"
#include "ledger/store/backup.hpp"
#include "service_fixture.hpp"

namespace {

// What a test does with the name of each file that is synced.
std::function<void(const std::string&)>& on_sync() {
  static std::function<void(const std::string&)> on_sync;
  return on_sync;
}

int sync_by(long call, int descriptor) {
  std::error_code error;
  const auto file = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  if (on_sync()) on_sync()(file.filename().string());
  return static_cast<int>(::syscall(call, descriptor));
}

}  // namespace

// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  return sync_by(SYS_fsync, descriptor);
}
extern "C" int fdatasync(int descriptor) {
  return sync_by(SYS_fdatasync, descriptor);
}

namespace shapley::daemon {
namespace {

namespace fs = std::filesystem;

class LostEventsTest : public ServiceTest {
 protected:
  // One run each ten seconds, which ended before it was seen.
  void work(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t job = first; job <= last; ++job) {
      now += 10;
      see({ended({.id = job, .start = now - 8}, now - 2)});
    }
  }

  [[nodiscard]] std::int64_t events() const { return service->books().last_sequence(); }
};

// The ledger was here before, moved away and went on elsewhere.
TEST_F(LostEventsTest, WhatWasAcknowledgedBeforeTheCopySaysNothingOfWhatCameAfterIt) {
  connect(1);
  snapshot({});
  work(1, 20);
  const auto before = ledger::read_acknowledged(site.configuration.ledger);
  ASSERT_TRUE(before);
  work(21, 40);
  const fs::path copy = directory / "copy.db";
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::no));
  service.reset();
  ASSERT_TRUE(ledger::write_acknowledged(site.configuration.ledger, *before));
  ledger::BackupResult restored;
  ASSERT_TRUE(ledger::restore(copy, site.configuration.ledger, Instant{now}, restored));
  restart();
  EXPECT_TRUE(service->books().lost());
}

// A ledger that was put back by hand, and went on otherwise up to the same number.
TEST_F(LostEventsTest, AnotherEventOfTheSameNumberIsALoss) {
  connect(1);
  snapshot({});
  work(1, 20);
  auto last = ledger::read_acknowledged(site.configuration.ledger);
  ASSERT_TRUE(last);
  ASSERT_EQ(last->sequence, events());
  service.reset();
  last->hash = std::string(64, '0');
  ASSERT_TRUE(ledger::write_acknowledged(site.configuration.ledger, *last));
  restart();
  EXPECT_TRUE(service->books().lost());
}

TEST_F(LostEventsTest, TheNumberIsWrittenOnceItsFileCanBeWrittenAgain) {
  connect(1);
  snapshot({});
  const fs::path note = ledger::acknowledged_file(site.configuration.ledger);
  fs::remove(note);
  fs::create_directory(note);
  work(1, 2);
  service->tick(Instant{now});
  EXPECT_FALSE(service->failures().empty()) << "health knows nothing of it";
  fs::remove(note);
  service->tick(Instant{now});
  EXPECT_TRUE(service->failures().empty());
  const auto last = ledger::read_acknowledged(site.configuration.ledger);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->sequence, events());
}

// After a power loss the number would be that of long ago, and nothing would say what is missing.
TEST_F(LostEventsTest, TheNumberIsOnTheDiskWithinASecond) {
  connect(1);
  snapshot({});
  service->tick(Instant{now});
  std::set<std::string> synced;
  on_sync() = [&](const std::string& name) { synced.insert(name); };
  work(1, 2);
  service->tick(Instant{now});
  on_sync() = nullptr;
  EXPECT_TRUE(synced.contains("ledger.db.acknowledged"));
}

TEST_F(LostEventsTest, NothingIsAcknowledgedIfTheFileIsRemovedWhileItIsWritten) {
  connect(1);
  snapshot({});
  work(1, 3);
  const std::uint64_t before = acknowledged();
  on_sync() = [&](const std::string&) { fs::remove(site.configuration.ledger); };
  see({running({.id = 4, .start = now - 5})});
  on_sync() = nullptr;
  ASSERT_FALSE(fs::exists(site.configuration.ledger)) << "nothing was synced: the test proves nothing";
  EXPECT_EQ(acknowledged(), before);
}

}  // namespace
}  // namespace shapley::daemon
