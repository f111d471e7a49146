// The ledger's disk is full when shapleyd starts: it waits for room, or serves what it can read, and loses nothing. On
// a small tmpfs in a mount namespace of this process's own. Needs root to mount it.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "process.hpp"
#include "records.hpp"
#include "test_client.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::daemon {
namespace {

namespace fs = std::filesystem;

class FullDisk : public testing::Test, protected ProcessSite {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(unshare(CLONE_NEWNS), 0) << "this test mounts a small disk: run it as root";
    ASSERT_EQ(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0)
        << "this test mounts a small disk, for which the root directory must be a mount point: before chroot DIR, "
           "mount --bind DIR DIR";
  }
  void SetUp() override {
    fs::create_directory(disk());
    ASSERT_EQ(mount("shapley-test", disk().c_str(), "tmpfs", 0, "size=4m,mode=755"), 0)
        << "this test mounts a tmpfs, which this machine or container does not allow: " << std::strerror(errno);
    std::string yaml = yaml_in(directory);
    yaml.replace(yaml.find("/ledger.db"), 10, "/disk/ledger.db");
    configure(yaml);
  }
  void TearDown() override { umount2(disk().c_str(), MNT_DETACH); }

  [[nodiscard]] fs::path disk() const { return directory / "disk"; }

  // To the last byte.
  void fill() const {
    const std::array<char, 4096> page{};
    const int file = open((disk() / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (const std::size_t size : {page.size(), std::size_t{1}}) {
      while (write(file, page.data(), size) > 0) continue;
    }
    close(file);
  }
  void make_room() const { fs::remove(disk() / "filler"); }

  static protocol::Observations run_of(std::uint64_t sequence) {
    protocol::Observations o;
    o.sequence = sequence;
    o.observed_at = std::time(nullptr);
    const Job job{.id = static_cast<std::uint32_t>(sequence), .node = "n2", .start = o.observed_at - 100};
    o.jobs = {ended(job, o.observed_at - 50)};
    o.nodes = {node_record("n1"), node_record("n2")};
    return o;
  }
  [[nodiscard]] std::size_t known_jobs() const {
    return ask(R"({"request":"jobs","all":true,"since":0})")["jobs"].size();
  }
  // A life that kept one run and was then killed, or stopped.
  void live_before(int signal) const {
    const auto daemon = launch();
    ASSERT_TRUE(serves()) << logged();
    const auto feeder = connect(feeder_hello());
    feeder->send(run_of(1));
    ASSERT_EQ(feeder->expect<protocol::Ack>().sequence, 1U);
    daemon->signal(signal);
    daemon->wait();
    fs::remove(directory / "log");
  }
};

TEST_F(FullDisk, TheFirstStartWaitsForRoomAndSaysSoOnce) {
  fill();
  const auto daemon = launch();
  ASSERT_TRUE(logs("tried again every second")) << logged();
  EXPECT_NE(logged().find("make room"), std::string::npos) << logged();
  EXPECT_FALSE(TestClient(socket()).is_connected());
  make_room();
  ASSERT_TRUE(serves()) << logged();
  const auto feeder = connect(feeder_hello());
  feeder->send(run_of(1));
  EXPECT_EQ(feeder->expect<protocol::Ack>().sequence, 1U);
  EXPECT_EQ(logged().find("tried again every second"), logged().rfind("tried again every second")) << logged();
}

TEST_F(FullDisk, AfterACleanEndItWaitsForRoomAndKnowsEverything) {
  live_before(SIGTERM);
  fill();
  const auto daemon = launch();
  ASSERT_TRUE(logs("tried again every second")) << logged();
  make_room();
  ASSERT_TRUE(serves()) << logged();
  EXPECT_EQ(known_jobs(), 1U);
}

TEST_F(FullDisk, AfterAKillItServesWhatItHasAndAcknowledgesWhenThereIsRoom) {
  live_before(SIGKILL);
  fill();
  const auto daemon = launch();
  ASSERT_TRUE(serves()) << logged();
  EXPECT_EQ(known_jobs(), 1U);
  const auto feeder = connect(feeder_hello(2));
  feeder->expect<protocol::Ranks>();
  feeder->send(run_of(2));
  ASSERT_TRUE(logs("commit: ")) << logged();
  EXPECT_EQ(known_jobs(), 1U) << "what is not on the disk is not in the books";
  make_room();
  EXPECT_EQ(feeder->expect<protocol::Ack>().sequence, 2U);
  EXPECT_EQ(known_jobs(), 2U);
}

TEST_F(FullDisk, SigtermEndsTheWait) {
  fill();
  const auto daemon = launch();
  ASSERT_TRUE(logs("tried again every second")) << logged();
  daemon->signal(SIGHUP);  // nothing is there to reload yet
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->wait(), -SIGTERM);
}

}  // namespace
}  // namespace shapley::daemon
