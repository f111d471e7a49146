// A ledger that lost acknowledged events, and one whose file lost its name: shapleyd does not go on as if nothing were
// missing.
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/audit/audit.hpp"
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

using Lines = std::vector<std::string>;
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

  // The files as they are now, as a kill leaves them, become those of the next start.
  void kill_and_start(const std::function<void(const fs::path& ledger)>& meanwhile = [](const fs::path&) {}) {
    const fs::path before = site.configuration.ledger;
    const fs::path image = directory / ("image" + std::to_string(++images_));
    fs::create_directory(image);
    for (const auto& entry : fs::directory_iterator(before.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("ledger.db") && !name.ends_with(".lock") && !name.ends_with("-shm"))
        fs::copy_file(entry.path(), image / name);
    }
    site.configuration.ledger = image / "ledger.db";
    meanwhile(site.configuration.ledger);
    restart();
  }

  static void flip_a_bit(const fs::path& file, double where) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    const auto at = static_cast<std::streamoff>(static_cast<double>(fs::file_size(file)) * where);
    bytes.seekg(at);
    const int byte = bytes.get();
    bytes.seekp(at);
    bytes.put(static_cast<char>(byte ^ 1));
  }

  [[nodiscard]] Lines lost() const {
    return rows("SELECT json_extract(payload, '$.begin') - " + std::to_string(k_begin) +
                ", json_extract(payload, '$.end') - " + std::to_string(k_begin) +
                " FROM events WHERE kind = 'observation_gap' AND json_extract(payload, '$.cause') = 'events_lost'");
  }
  [[nodiscard]] Lines last_observed_run() const {
    return rows("SELECT MAX(end) - " + std::to_string(k_begin) + " FROM segments WHERE kind = 'run'");
  }
  [[nodiscard]] std::int64_t events() const { return service->books().last_sequence(); }

 private:
  int images_ = 0;
};

TEST_F(LostEventsTest, AKilledDaemonThatLostNothingRecordsNoGap) {
  connect(1);
  snapshot({});
  work(1, 20);
  const std::int64_t before = events();
  kill_and_start();
  EXPECT_GE(events(), before);
  EXPECT_FALSE(service->books().lost());
  connect(2);
  snapshot({});
  EXPECT_EQ(lost(), Lines{});
}

TEST_F(LostEventsTest, OneFlippedBitInTheLogIsAGapUntilTheFirstObservationAfterIt) {
  connect(1);
  snapshot({running({.id = 900, .node = "n2", .start = now - 5})});
  work(1, 60);
  const std::int64_t before = events();
  kill_and_start([](const fs::path& ledger) { flip_a_bit(ledger.string() + "-wal", 0.5); });
  ASSERT_LT(events(), before) << "the flipped bit did no harm: the test proves nothing";
  ASSERT_TRUE(service->books().lost());
  EXPECT_EQ(service->books().lost()->sequence, before);
  const std::string cut = last_observed_run().front();

  // Nothing is known of the gap's end until slurmctld's records are read, also over further starts.
  kill_and_start();
  EXPECT_TRUE(service->books().lost());
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  EXPECT_FALSE(audited->clean()) << "an audit in the meantime says nothing of what is missing";
  now += 100;
  connect(2);
  snapshot({running({.id = 900, .node = "n2", .start = k_begin - 5})});
  EXPECT_EQ(lost(), Lines{cut + "|" + std::to_string(now - k_begin)});
  const nlohmann::json gaps = ask(R"({"request":"status"})")["daemon"]["gaps"];
  EXPECT_EQ(gaps["count"], 1);
  EXPECT_EQ(gaps["last_cause"], "events_lost");

  // Said once.
  work(100, 110);
  kill_and_start();
  EXPECT_FALSE(service->books().lost());
  connect(3);
  snapshot({running({.id = 900, .node = "n2", .start = k_begin - 5})});
  EXPECT_EQ(lost().size(), 1U);
  const auto after = ledger::audit(service->books().ledger());
  ASSERT_TRUE(after.has_value());
  EXPECT_TRUE(after->clean());
}

// Its end was acknowledged, and slurmctld has forgotten it.
TEST_F(LostEventsTest, ARunThatEndedWithinTheGapEndsWhereTheLedgerLostIt) {
  connect(1);
  snapshot({running({.id = 900, .node = "n2", .start = now - 5})});
  work(1, 60);
  now += 1000;
  see({ended({.id = 900, .node = "n2", .start = k_begin - 5}, now - 900)});
  now += 1000;
  see({}, {900});
  kill_and_start([](const fs::path& ledger) { flip_a_bit(ledger.string() + "-wal", 0.5); });
  ASSERT_TRUE(service->books().lost());
  const std::string cut = last_observed_run().front();
  service->end_session();
  // What the plugin had not delivered yet comes before its snapshot.
  connect(1);
  work(200, 201);
  now += 5;
  snapshot({});
  EXPECT_EQ(rows("SELECT end - " + std::to_string(k_begin) + " FROM segments WHERE kind = 'run' AND job = 900"),
            Lines{cut});
}

TEST_F(LostEventsTest, ARestoredCopyLacksWhatCameAfterIt) {
  connect(1);
  snapshot({});
  work(1, 20);
  const fs::path copy = directory / "copy.db";
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::no));
  const std::string cut = last_observed_run().front();
  work(21, 40);
  service.reset();
  ledger::BackupResult restored;
  ASSERT_TRUE(ledger::restore(copy, site.configuration.ledger, Instant{now}, restored));
  restart();
  EXPECT_TRUE(service->books().lost());
  now += 100;
  connect(2);
  snapshot({});
  EXPECT_EQ(lost(), Lines{cut + "|" + std::to_string(now - k_begin)});
}

// As after the loss of the disk.
TEST_F(LostEventsTest, ACopyThatIsRestoredWhereNothingSaysWhatItLacksIsAGapToo) {
  connect(1);
  snapshot({});
  work(1, 20);
  const std::string cut = last_observed_run().front();
  const fs::path other = directory / "other.db";
  ledger::BackupResult restored;
  ASSERT_TRUE(ledger::restore(site.configuration.ledger, other, Instant{now}, restored));
  site.configuration.ledger = other;
  restart();
  ASSERT_TRUE(service->books().lost());
  now += 50;
  connect(2);
  snapshot({});
  EXPECT_EQ(lost(), Lines{cut + "|" + std::to_string(now - k_begin)});
}

// What is recorded before slurmctld's records are read does not say that nothing is missing.
TEST_F(LostEventsTest, ALossIsRememberedUntilItsGapIsRecorded) {
  connect(1);
  snapshot({});
  work(1, 20);
  const fs::path other = directory / "other.db";
  ledger::BackupResult restored;
  ASSERT_TRUE(ledger::restore(site.configuration.ledger, other, Instant{now}, restored));
  site.configuration.ledger = other;
  restart();
  const std::int64_t before = events();
  site.text += "\n# changed";
  ASSERT_TRUE(service->reload(site, Instant{++now}));
  ASSERT_GT(events(), before);
  restart();
  EXPECT_TRUE(service->books().lost());
}

// A host that moves carries the number of the last acknowledged event along.
TEST_F(LostEventsTest, ACopyThatLacksNothingIsNoGap) {
  connect(1);
  snapshot({});
  work(1, 20);
  const fs::path copy = directory / "copy.db";
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::no));
  service.reset();
  ledger::BackupResult restored;
  ASSERT_TRUE(ledger::restore(copy, site.configuration.ledger, Instant{now}, restored));
  restart();
  EXPECT_FALSE(service->books().lost());
}

// A host that moves: the copy that is made while shapleyd is stopped carries that it lacks nothing. Once: who restores
// it after the other host's disk is lost lacks what came there.
TEST_F(LostEventsTest, ACopyOfAStoppedDaemonCarriesThatItLacksNothing) {
  connect(1);
  snapshot({});
  work(1, 20);
  const fs::path copy = directory / "copy.db";
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::no));
  EXPECT_FALSE(fs::exists(ledger::carried_file(copy))) << "shapleyd goes on";
  service.reset();
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::yes));
  ASSERT_TRUE(ledger::back_up(copy, directory / "second.db", ledger::Overwrite::no));
  EXPECT_FALSE(fs::exists(ledger::carried_file(directory / "second.db"))) << "the ledger may have gone on since";
  for (const bool lacks : {false, true}) {
    site.configuration.ledger = directory / (lacks ? "later.db" : "moved.db");
    ledger::BackupResult restored;
    ASSERT_TRUE(ledger::restore(copy, site.configuration.ledger, Instant{now}, restored));
    restart();
    EXPECT_EQ(service->books().lost().has_value(), lacks);
  }
}

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

TEST_F(LostEventsTest, WhatWasAcknowledgedOfAnotherLedgerSaysNothingOfThisOne) {
  connect(1);
  snapshot({});
  work(1, 20);
  service.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(site.configuration.ledger.string() + suffix);
  restart();
  EXPECT_FALSE(service->books().lost());
  connect(2);
  snapshot({});
  EXPECT_EQ(lost(), Lines{});
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

// What is committed to a file without a name is lost when shapleyd ends.
class NameOfTheLedgerTest : public LostEventsTest {
 protected:
  void expect_no_acknowledgement() {
    const std::uint64_t before = acknowledged();
    work(100, 103);
    EXPECT_EQ(acknowledged(), before);
    EXPECT_TRUE(service->failures().contains("commit")) << "health knows nothing of it";
  }
  [[nodiscard]] fs::path file(const std::string& suffix) const { return site.configuration.ledger.string() + suffix; }
};

TEST_F(NameOfTheLedgerTest, NothingIsAcknowledgedWhileAFileOfTheLedgerIsRemoved) {
  connect(1);
  snapshot({});
  work(1, 3);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    SCOPED_TRACE(suffix);
    fs::rename(file(suffix), directory / "elsewhere");
    expect_no_acknowledgement();
    fs::rename(directory / "elsewhere", file(suffix));
    service->tick(Instant{now});
    EXPECT_TRUE(service->failures().empty()) << "its name is back";
  }
  EXPECT_EQ(acknowledged(), sequence);
}

TEST_F(NameOfTheLedgerTest, NothingIsAcknowledgedIfTheFileIsRemovedWhileItIsWritten) {
  connect(1);
  snapshot({});
  work(1, 3);
  const std::uint64_t before = acknowledged();
  on_sync() = [&](const std::string&) { fs::remove(file("")); };
  see({running({.id = 4, .start = now - 5})});
  on_sync() = nullptr;
  ASSERT_FALSE(fs::exists(file(""))) << "nothing was synced: the test proves nothing";
  EXPECT_EQ(acknowledged(), before);
}

TEST_F(NameOfTheLedgerTest, NothingIsAcknowledgedOnceTheFileIsReplaced) {
  connect(1);
  snapshot({});
  work(1, 3);
  const fs::path copy = directory / "copy.db";
  ASSERT_TRUE(ledger::back_up(site.configuration.ledger, copy, ledger::Overwrite::no));
  fs::rename(copy, file(""));
  expect_no_acknowledgement();
  now += 700;
  service->tick(Instant{now});
  EXPECT_FALSE(service->books().is_saving_checkpoint()) << "it would be written into the other file";
}

TEST_F(NameOfTheLedgerTest, ItIsNoticedOnAQuietClusterToo) {
  connect(1);
  snapshot({});
  fs::remove(file(""));
  service->tick(Instant{++now});
  EXPECT_TRUE(service->failures().contains("commit"));
}

}  // namespace
}  // namespace shapley::daemon
