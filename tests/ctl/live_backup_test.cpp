// Backup, heads and restore with a real shapleyd that is being fed.
#include <atomic>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

#include "ctl/environment.hpp"
#include "daemon/application.hpp"
#include "program.hpp"
#include "tests/daemon/process.hpp"
#include "tests/daemon/records.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using test::eventually;

class LiveBackup : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ctl("keygen " + path("head.key")).exit_code, 0);
    std::ofstream(path("shapleyd.yaml")) << daemon::yaml_in(directory) << "signing_key: " << path("head.key") << "\n";
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (directory / name).string(); }
  [[nodiscard]] std::string logged() const { return content_of(path("log")); }
  Outcome ctl(const std::string& arguments) const {
    return run_shapleyctl(directory / "", "--timeout " + std::to_string(test::k_timeout.count()) + " --socket " +
                                              path("sock") + " " + arguments);
  }
  [[nodiscard]] std::vector<std::string> arguments() const { return {"--config", path("shapleyd.yaml")}; }
  std::unique_ptr<daemon::Process> start() const {
    auto process = std::make_unique<daemon::Process>(arguments(), path("log"));
    EXPECT_TRUE(eventually([&] { return daemon::answers(path("sock")); })) << logged();
    return process;
  }

  TempDirectory directory;
};

// Sends one run after the other until it is destroyed.
class Feed {
 public:
  explicit Feed(const std::string& socket) : client_(socket), begin_(std::time(nullptr) - 3600) {
    client_.send(daemon::feeder_hello());
    client_.expect<protocol::Welcome>();
    send({daemon::node_record("n1"), daemon::node_record("n2")});
    thread_ = std::thread([this] {
      while (!stop_) send({});
    });
  }
  ~Feed() {
    stop_ = true;
    const test::Deadline deadline("the feeder's thread");
    thread_.join();
  }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

 private:
  void send(std::vector<protocol::NodeRecord> nodes) {
    protocol::Observations frame;
    frame.sequence = ++sequence_;
    frame.observed_at = std::time(nullptr);
    const daemon::Job job{.id = static_cast<std::uint32_t>(sequence_), .cpus = 1, .start = begin_};
    frame.jobs = {daemon::ended(job, begin_ + 60)};
    frame.nodes = std::move(nodes);
    client_.send(frame);
    while (acknowledged_ < sequence_ && !stop_) {
      const std::uint64_t sequence = client_.expect<protocol::Ack>().sequence;
      if (sequence == 0) stop_ = true;  // a daemon that is gone acknowledges nothing, which is a failure by now
      if (sequence > 0) acknowledged_ = sequence;
    }
  }

  daemon::TestClient client_;
  std::int64_t begin_;
  std::uint64_t sequence_ = 0;
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(LiveBackup, OfAFedDaemonHoldsWhatWasAcknowledgedBeforeAndFitsItsHead) {
  const auto daemon = start();
  const Feed feed(path("sock"));
  ASSERT_TRUE(eventually([&] { return feed.acknowledged() >= 20; }));
  const Outcome head = ctl("audit --head -o " + path("head"));
  ASSERT_EQ(head.exit_code, 0) << head.err;
  const std::uint64_t before = feed.acknowledged();
  const Outcome backup = ctl("backup " + path("copy.db"));
  ASSERT_EQ(backup.exit_code, 0) << backup.err;
  EXPECT_PRED2(contains, backup.out, "verified: ");
  const auto runs = ledger::testing::rows(path("copy.db"), "SELECT COUNT(*) FROM segments WHERE end IS NOT NULL");
  EXPECT_GE(std::stoull(runs.at(0)), before);
  const Outcome audit =
      ctl("audit " + path("copy.db") + " --against-head " + path("head") + " --public-key " + path("head.key.pub"));
  EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
  // The daemon went on all the while.
  const std::uint64_t then = feed.acknowledged();
  EXPECT_TRUE(eventually([&] { return feed.acknowledged() > then; }));

  const Outcome again = ctl("backup " + path("copy.db"));
  EXPECT_EQ(again.exit_code, static_cast<int>(ExitCode::unreadable));
  EXPECT_PRED2(contains, again.err, "--force");
  EXPECT_EQ(ctl("backup --force " + path("copy.db")).exit_code, 0);

  const Outcome refused = ctl("restore " + path("copy.db") + " --ledger " + path("ledger.db"));
  EXPECT_EQ(refused.exit_code, static_cast<int>(ExitCode::unreadable));
  EXPECT_PRED2(contains, refused.err, "writes this ledger already");
}

TEST_F(LiveBackup, ADamagedLedgerIsRefusedAtStartAndTheBackupRestored) {
  {
    const auto daemon = start();
    {
      const Feed feed(path("sock"));
      ASSERT_TRUE(eventually([&] { return feed.acknowledged() >= 5; }));
      ASSERT_EQ(ctl("backup " + path("copy.db")).exit_code, 0);
    }
    // A clean end folds the log into the file that is damaged next.
    daemon->signal(SIGTERM);
    ASSERT_EQ(daemon->wait(), 0) << logged();
  }
  {
    std::fstream file(path("ledger.db"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096 * 2);
    file << std::string(4096, '\0');
  }
  EXPECT_EQ(daemon::Process(arguments(), path("log")).wait(), static_cast<int>(daemon::ExitCode::damaged)) << logged();
  EXPECT_PRED2(contains, logged(), "shapleyctl restore BACKUP");
  const Outcome restored = ctl("restore " + path("copy.db") + " --ledger " + path("ledger.db"));
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_PRED2(contains, restored.out, "the replaced ledger is kept as");
  const auto daemon = start();
  // What was acknowledged after the copy is lost, which is a finding until slurmctld's records are read and the time is
  // recorded as a gap.
  EXPECT_PRED2(contains, ctl("audit").out, "events were lost");
  const Feed feed(path("sock"));
  ASSERT_TRUE(eventually([&] { return feed.acknowledged() >= 3; }));
  const Outcome audited = ctl("audit");
  EXPECT_EQ(audited.exit_code, 0) << audited.out;
  EXPECT_EQ(ctl("status").exit_code, 0);
}

TEST_F(LiveBackup, ALedgerIsMadeCompactWhenItsDaemonHasStopped) {
  {
    const auto daemon = start();
    const Feed feed(path("sock"));
    ASSERT_TRUE(eventually([&] { return feed.acknowledged() >= 5; }));
    const Outcome refused = ctl("compact " + path("ledger.db"));
    EXPECT_EQ(refused.exit_code, static_cast<int>(ExitCode::unreadable));
    EXPECT_PRED2(contains, refused.err, "writes this ledger already");
  }
  const Outcome compacted = ctl("compact " + path("ledger.db"));
  ASSERT_EQ(compacted.exit_code, 0) << compacted.err;
  EXPECT_EQ(compacted.out.rfind(path("ledger.db") + ": ", 0), 0U) << compacted.out;
  EXPECT_PRED2(contains, compacted.out, " bytes now; verified: ");
  const auto daemon = start();
  EXPECT_EQ(ctl("audit").exit_code, 0);
}

TEST_F(LiveBackup, ADaemonStoresHeadsAndWithoutAKeySaysSo) {
  {
    const auto daemon = start();
    daemon->signal(SIGTERM);
    EXPECT_EQ(daemon->wait(), 0) << logged();
  }
  const Outcome stored = ctl("audit --head " + path("ledger.db"));
  EXPECT_EQ(stored.exit_code, 0) << stored.err;
  EXPECT_EQ(stored.out.rfind("shapley ledger head 1\n", 0), 0U) << stored.out;

  std::ofstream(path("shapleyd.yaml"), std::ios::trunc) << daemon::yaml_in(directory);
  const auto daemon = start();
  const Outcome refused = ctl("audit --head");
  EXPECT_EQ(refused.exit_code, static_cast<int>(ExitCode::refused));
  EXPECT_PRED2(contains, refused.err, "signing_key");
}

TEST_F(LiveBackup, AKeyThatOthersMayReadIsAFaultOfTheConfiguration) {
  fs::permissions(path("head.key"), fs::perms(0644));
  EXPECT_EQ(daemon::Process(arguments(), path("log")).wait(), static_cast<int>(daemon::ExitCode::configuration));
  EXPECT_PRED2(contains, logged(), "signing_key: ");
}

}  // namespace
}  // namespace shapley::ctl
