// Daemons that hang, lie, refuse or are another user's: slurmctld must not notice.
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include "support.hpp"

namespace shapley::client::testing {
namespace {

class HostileDaemon : public ClientTest {
 protected:
  // Something listens, answers Hello with these bytes, and the client turns away, time and again; then shapleyd proper
  // comes and everything is well.
  void expect_turned_away(const std::string& answer, const std::string& line) {
    daemon.listen();
    jobs[7] = {.id = 7};
    start();
    for (int attempt = 0; attempt < 3; ++attempt) {
      daemon.accept();
      (void)daemon.expect<protocol::Hello>();
      daemon.send_bytes(answer);
      ASSERT_TRUE(daemon.sees_close());
    }
    EXPECT_EQ(log_lines::count(line), 1) << "one line, however often it is tried";
    EXPECT_FALSE(counters().connected);
    EXPECT_FALSE(shapley_client_order(client).act);
    EXPECT_TRUE(connect_and_take_snapshot().jobs.contains(7));
    EXPECT_TRUE(eventually([] { return log_lines::count("again") == 1; }));
  }
};

TEST_F(HostileDaemon, OneThatSendsGarbageIsLeftAlone) {
  expect_turned_away(std::string("\0\0\0\x05garbage and more of it", 26), "not usable: protocol: decode: ");
}

TEST_F(HostileDaemon, OneThatAnnouncesAHugeFrameIsLeftAlone) {
  expect_turned_away("HTTP/1.1 400 Bad Request\r\n", "exceeds the limit");
}

TEST_F(HostileDaemon, OneThatAnswersWithAnythingButWelcomeIsLeftAlone) {
  expect_turned_away(protocol::encode_frame(protocol::Ack{0}), "is no Welcome");
}

TEST_F(HostileDaemon, OneOfAnotherVersionIsNamed) {
  auto answer = FakeDaemon::default_welcome();
  answer.version = protocol::k_version + 1;
  expect_turned_away(protocol::encode_frame(answer), "speaks protocol version 2, the plugin version 1");
}

TEST_F(HostileDaemon, OneThatRefusesIsQuoted) {
  expect_turned_away(protocol::encode_frame(protocol::Refused{"another cluster"}),
                     "refused by the daemon: another cluster");
}

TEST_F(HostileDaemon, OneThatRefusesCannotDriveATerminalByTheLog) {
  expect_turned_away(protocol::encode_frame(protocol::Refused{"x\033[2J\u202e\x9b\nslurmctld: error"}),
                     "refused by the daemon: x\\x1b[2J\\u202e\\x9b\\x0aslurmctld: error");
}

TEST_F(HostileDaemon, AWelcomeThatAcknowledgesTheFutureIsNotBelieved) {
  auto answer = FakeDaemon::default_welcome();
  answer.acknowledged = 17;
  expect_turned_away(protocol::encode_frame(answer), "message 17, which was never sent");
}

TEST_F(HostileDaemon, AnAcknowledgementOfTheFutureLosesNothing) {
  daemon.listen();
  jobs[7] = {.id = 7};
  start();
  daemon.welcome();
  daemon.acknowledge(1000);
  ASSERT_TRUE(daemon.sees_close());
  EXPECT_TRUE(connect_and_take_snapshot().jobs.contains(7));
}

TEST_F(HostileDaemon, AMessageThatOnlyADaemonReceivesEndsTheConnection) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  daemon.send(protocol::SnapshotBegin{});
  EXPECT_TRUE(daemon.sees_close());
}

// SIGSTOP leaves a connection that is not read. Were scan_end to wait for the socket, this test would not end.
TEST_F(HostileDaemon, AStoppedDaemonStallsNoScan) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  for (std::uint32_t id = 1; id <= 100'000; ++id) jobs[id] = {.id = id};
  EXPECT_EQ(scan(), 100'000);
  for (std::uint32_t id = 1; id <= 20; ++id) {
    jobs[id].start_time = 1;
    EXPECT_EQ(scan(), 1);
  }
  // The queue is in the spool, so slurmctld does not hold it in memory; the socket took only what fits.
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 1'000'000 && counters().queued_bytes < 1'000'000; }));
  EXPECT_LT(counters().sent, 100U);
  EXPECT_TRUE(counters().connected);
  // SIGCONT: it reads on, and everything is there.
  std::map<std::uint32_t, std::int64_t> received;
  while (received.size() < 100'000 || received[20] == 0) {
    const auto changes = daemon.expect<protocol::Observations>();
    ASSERT_FALSE(changes.jobs.empty());
    for (const auto& job : changes.jobs) received[job.job_id] = job.start_time;
    daemon.acknowledge(changes.sequence);
  }
  for (std::uint32_t id = 1; id <= 20; ++id) EXPECT_EQ(received[id], 1);
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes + counters().spooled_bytes == 0; }));
}

TEST_F(HostileDaemon, OneThatNeverAcceptsStallsNothing) {
  daemon.listen();  // the kernel completes connections for it
  timings.answer_timeout = std::chrono::milliseconds(1);
  start();
  jobs[7] = {.id = 7, .start_time = 70};
  // Each attempt times out; after some the listener's queue is full and connect itself is refused.
  ASSERT_TRUE(scan_until([] { return log_lines::count("does not answer") == 1; }));
  for (int i = 0; i < 20; ++i) {
    jobs[7].start_time++;
    EXPECT_EQ(scan(), 1);
  }
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 0; }));
  EXPECT_EQ(log_lines::count("not usable"), 1);
}

TEST_F(HostileDaemon, OneThatStopsAnsweringKeepsItsConnectionButNotItsRanks) {
  daemon.listen();
  timings.answer_timeout = k_short_timeout;
  auto answer = FakeDaemon::default_welcome();
  answer.stale_after_s = 0;
  start();
  welcome_in_time(answer);
  const std::uint64_t reconnects = counters().reconnects;
  daemon.send(protocol::Rules{});
  daemon.send(protocol::Ranks{.generation = 1, .organizations = {"guests"}});
  scan_on_hint();
  const auto snapshot = daemon.take_snapshot();
  ASSERT_TRUE(eventually(
      [&] { return shapley_client_order(client).act && counters().acknowledged == snapshot.sequences.back(); }));
  log_lines::clear();  // on a busy machine an answer may have come too late before
  jobs[7] = {.id = 7};
  scan();
  const auto unanswered = daemon.expect<protocol::Observations>();
  ASSERT_TRUE(eventually([&] { return !shapley_client_order(client).act; }));
  EXPECT_TRUE(eventually([] { return log_lines::count("does not answer") == 1; }));
  EXPECT_TRUE(counters().connected);
  daemon.acknowledge(unanswered.sequence);
  ASSERT_TRUE(eventually([&] { return shapley_client_order(client).act; })) << "by itself, on the same connection";
  EXPECT_TRUE(eventually([] { return log_lines::count("answers again") == 1; }));
  EXPECT_EQ(counters().reconnects, reconnects);
}

// A full disk under the ledger, a crash loop: Welcome comes, but never an acknowledgement.
TEST_F(HostileDaemon, OneThatWelcomesButNeverCommitsIsNotSentSnapshotsWithoutEnd) {
  daemon.listen();
  for (std::uint32_t id = 1; id <= 1000; ++id) jobs[id] = {.id = id};
  start();
  for (int connection = 0; connection < 5; ++connection) {
    daemon.welcome();
    scan();
    (void)daemon.receive();
    daemon.hang_up();
    ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  }
  EXPECT_LE(counters().snapshots, 1U);
  EXPECT_EQ(connect_and_take_snapshot().jobs.size(), 1000U) << "it comes when the backlog is through";
}

TEST_F(HostileDaemon, ASilentConnectionWithNothingToAnswerStands) {
  daemon.listen();
  timings.answer_timeout = k_short_timeout;
  start();
  welcome_in_time();
  (void)take_snapshot();
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes == 0; }));
  const std::uint64_t reconnects = counters().reconnects;
  // Two timeouts pass; it has no reason to part.
  const auto end = std::chrono::steady_clock::now() + 2 * k_short_timeout;
  while (std::chrono::steady_clock::now() < end) (void)shapley_client_wait(client, 100);
  EXPECT_TRUE(counters().connected);
  EXPECT_EQ(counters().reconnects, reconnects);
}

TEST_F(HostileDaemon, BeyondTheBoundAStoppedDaemonGetsAFreshSnapshotLater) {
  spool_max_bytes = 150'000;  // three or four messages of a thousand jobs
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  for (std::uint32_t id = 1; id <= 4000; ++id) jobs[id] = {.id = id};
  scan();
  ASSERT_TRUE(eventually([&] { return counters().dropped_backlogs == 1; }));
  EXPECT_EQ(connect_and_take_snapshot().jobs.size(), 4000U);
}

TEST_F(HostileDaemon, ASocketOfAnotherUserIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can listen as another user";
  // Linux keeps credentials per thread, and a listener has those of the thread that called listen().
  std::thread([&] {
    constexpr uid_t k_unprivileged = 65534;
    std::filesystem::permissions(std::filesystem::path(socket_path).parent_path(), std::filesystem::perms::all);
    ASSERT_EQ(::syscall(SYS_setresuid, k_unprivileged, k_unprivileged, k_unprivileged), 0);
    daemon.listen();
  }).join();
  start();
  ASSERT_TRUE(eventually([] { return log_lines::count("belongs to user id 65534") == 1; }));
  EXPECT_FALSE(counters().connected);
  daemon.accept();
  EXPECT_TRUE(daemon.sees_close()) << "not even Hello is said to it";
}

TEST_F(HostileDaemon, APathThatNoSocketCanHaveIsNamed) {
  socket_path = directory / std::string(200, 'x');
  start();
  EXPECT_TRUE(eventually([] { return log_lines::count("a socket's path has 1 to 107 bytes") == 1; }));
}

}  // namespace
}  // namespace shapley::client::testing
