// The daemon away, killed, back: nothing that was observed is lost, and the order stays.
#include <algorithm>
#include <set>
#include <utility>

#include "base/rng.hpp"
#include "plugin/client/spool/spool.hpp"
#include "support.hpp"

namespace shapley::client::testing {
namespace {

class Outage : public ClientTest {
 protected:
  // A job's life in three scans, all while no daemon listens.
  void whole_life_of(std::uint32_t id) {
    jobs[id] = {.id = id};
    scan();
    jobs[id].state = SHAPLEY_JOB_RUNNING;
    jobs[id].start_time = 1000 + id;
    scan();
    jobs.erase(id);
    scan();
  }
};

bool holds_run(const std::vector<protocol::Observations>& messages, std::uint32_t id) {
  return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
    return std::any_of(message.jobs.begin(), message.jobs.end(),
                       [&](const auto& job) { return job.job_id == id && job.start_time == 1000 + id; });
  });
}

bool holds_end(const std::vector<protocol::Observations>& messages, std::uint32_t id) {
  return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
    return std::find(message.gone.begin(), message.gone.end(), id) != message.gone.end();
  });
}

std::size_t messages_in(const std::string& spool) {
  std::size_t count = 0;
  (void)Spool(spool).open([&](Spool::Place, std::string_view) { return ++count > 0; });
  return count;
}

void expect_consecutive(const std::vector<std::uint64_t>& sequences, std::uint64_t first) {
  for (std::size_t i = 0; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], first + i);
}

TEST_F(Outage, WhatWasSeenBeforeTheFirstConnectionComesBeforeTheSnapshot) {
  start();
  jobs[1] = {.id = 1};
  whole_life_of(9);
  daemon.listen();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(holds_run(snapshot.before, 9));
  EXPECT_TRUE(holds_end(snapshot.before, 9));
  ASSERT_EQ(snapshot.jobs.size(), 1U);
  EXPECT_TRUE(snapshot.jobs.contains(1));
  expect_consecutive(snapshot.sequences, 1);
}

TEST_F(Outage, AKilledDaemonMissesNothing) {
  daemon.listen();
  start();
  const auto first = connect_and_take_snapshot();
  // The client is back in its sleep, so that it sees the end of the connection before it has something to send.
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes == 0 && counters().spooled_bytes == 0; }));
  daemon.die();
  whole_life_of(9);
  ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  whole_life_of(10);
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 0; }));
  // It has tried in vain to come back: one that came back at the first attempt would not have lost anything.
  ASSERT_TRUE(eventually([] { return log_lines::count("lost: closed by the daemon") == 1; }));
  daemon.listen();
  const auto second = connect_and_take_snapshot();
  for (const std::uint32_t id : {9U, 10U}) {
    EXPECT_TRUE(holds_run(second.before, id)) << id;
    EXPECT_TRUE(holds_end(second.before, id)) << id;
  }
  EXPECT_TRUE(second.jobs.empty());
  expect_consecutive(second.sequences, first.sequences.back() + 1);
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes == 0 && counters().spooled_bytes == 0; }));
  EXPECT_EQ(counters().reconnects, 1U);
  EXPECT_EQ(log_lines::count("lost: closed by the daemon"), 1);
  EXPECT_EQ(log_lines::count("again"), 1);
}

// As at a reload by which rules change.
TEST_F(Outage, ADaemonThatClosesAndAcceptsTheNextConnectionIsNotLoggedAsLost) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  daemon.hang_up();
  (void)connect_and_take_snapshot();
  ASSERT_TRUE(eventually([&] { return log_lines::count(" again") == 1; }));
  EXPECT_EQ(log_lines::count("closed by the daemon; connecting"), 1);
  EXPECT_EQ(log_lines::count("lost:"), 0);
}

TEST_F(Outage, UnacknowledgedMessagesAreSentAgainAsTheyWere) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  jobs[1] = {.id = 1};
  scan();
  const auto first = daemon.expect<protocol::Observations>();
  jobs[2] = {.id = 2};
  scan();
  const auto second = daemon.expect<protocol::Observations>();
  daemon.hang_up();
  // The daemon committed the first, but its acknowledgement got lost: Welcome says so.
  auto answer = FakeDaemon::default_welcome();
  answer.acknowledged = first.sequence;
  EXPECT_EQ(daemon.welcome(answer).backlog, 2U) << "what was not acknowledged to the client";
  const auto repeated = daemon.expect<protocol::Observations>();
  EXPECT_EQ(protocol::encode_frame(repeated), protocol::encode_frame(second));
}

TEST_F(Outage, AnInterruptedSnapshotBecomesChanges) {
  daemon.listen();
  for (std::uint32_t id = 1; id <= 3000; ++id) jobs[id] = {.id = id, .start_time = 1000 + id};
  start();
  daemon.welcome();
  scan_on_hint();
  const auto begin = daemon.expect<protocol::SnapshotBegin>();
  const auto part = daemon.expect<protocol::Observations>();
  daemon.acknowledge(part.sequence);
  ASSERT_TRUE(eventually([&] { return counters().acknowledged == 2; }));
  daemon.hang_up();
  const std::uint32_t purged = 2999;  // in the first snapshot's unacknowledged part, not in the second
  jobs.erase(purged);
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(holds_run(snapshot.before, purged));
  EXPECT_FALSE(snapshot.jobs.contains(purged));
  EXPECT_EQ(snapshot.jobs.size(), 2999U);
  expect_consecutive(snapshot.sequences, begin.sequence + 2);
}

TEST_F(Outage, ChangesAreInTheSpoolSoonThoughTheConnectionStands) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  jobs[1] = {.id = 1};
  scan();
  const auto changes = daemon.expect<protocol::Observations>();
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 0; })) << "the daemon does not acknowledge";
  daemon.acknowledge(changes.sequence);
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes == 0 && counters().queued_bytes == 0; }));
}

TEST_F(Outage, TheNextLifeSendsWhatThisOneCouldNot) {
  start();
  whole_life_of(9);
  stop();
  start();
  daemon.listen();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(holds_run(snapshot.before, 9));
  EXPECT_TRUE(holds_end(snapshot.before, 9));
  expect_consecutive(snapshot.sequences, 1);
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes == 0; }));
  stop();
  start();
  // Except the message without content with which a life says until when it looked.
  for (const auto& message : connect_and_take_snapshot().before)
    EXPECT_TRUE(message.jobs.empty() && message.nodes.empty() && message.gone.empty())
        << "acknowledged, so no life sends it again";
}

TEST_F(Outage, ADaemonThatNeverAcknowledgesLeavesEverythingToTheNextLife) {
  daemon.listen();
  timings.spool_delay = std::chrono::minutes(10);
  start();
  (void)connect_and_take_snapshot();
  whole_life_of(9);
  for (int i = 0; i < 3; ++i) (void)daemon.expect<protocol::Observations>();
  stop();
  start();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(holds_run(snapshot.before, 9));
  EXPECT_TRUE(holds_end(snapshot.before, 9));
}

TEST_F(Outage, AKilledSlurmctldLeavesASpoolThatIsWhole) {
  start();
  whole_life_of(9);
  const std::string as_killed = directory / "as_killed.spool";
  // kill -9 leaves the file as it is at that moment: here, once all three scans are in it.
  ASSERT_TRUE(eventually([&] {
    std::error_code none_yet;
    std::filesystem::copy_file(spool_path, as_killed, std::filesystem::copy_options::overwrite_existing, none_yet);
    return !none_yet && messages_in(as_killed) == 3;
  }));
  stop();
  spool_path = as_killed;
  start();
  daemon.listen();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(holds_run(snapshot.before, 9));
}

TEST_F(Outage, BeyondTheBoundTheBacklogGivesWayToASnapshot) {
  spool_max_bytes = 20'000;
  start();
  for (std::uint32_t id = 1; counters().dropped_backlogs == 0; ++id) {
    ASSERT_LT(id, 100'000U) << "the bound is never enforced";
    jobs[id] = {.id = id};
    scan();
  }
  // By the inbox or by the spool, whichever was full first.
  const auto is_logged = [] { return log_lines::count("were dropped") + log_lines::count("all are dropped") >= 1; };
  EXPECT_TRUE(eventually(is_logged)) << "counted, but not logged";
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes + counters().spooled_bytes <= spool_max_bytes; }));
  daemon.listen();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_EQ(snapshot.jobs.size(), jobs.size()) << "the snapshot is whole, though it alone may exceed the bound";
}

TEST_F(Outage, ASnapshotLargerThanTheBoundArrives) {
  spool_max_bytes = 20'000;
  timings.spool_delay = std::chrono::milliseconds(0);
  for (std::uint32_t id = 1; id <= 5000; ++id) jobs[id] = {.id = id};
  daemon.listen();
  start();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_EQ(snapshot.jobs.size(), 5000U);
  EXPECT_EQ(counters().dropped_backlogs, 0U);
}

TEST_F(Outage, AnUnwritableSpoolDegradesToMemory) {
  spool_path = directory / "missing/shapley.spool";
  start();
  whole_life_of(9);
  whole_life_of(10);
  ASSERT_TRUE(eventually([&] { return counters().queued_bytes > 0 && log_lines::count("missing/shapley.spool") > 0; }));
  whole_life_of(11);
  daemon.listen();
  const auto snapshot = connect_and_take_snapshot();
  for (const std::uint32_t id : {9U, 10U, 11U}) EXPECT_TRUE(holds_run(snapshot.before, id)) << id;
  EXPECT_EQ(log_lines::count("spool: "), 1) << "said once, however often it fails";
}

TEST_F(Outage, ASpoolThatBecomesWritableIsUsedAgain) {
  const std::string missing = directory / "missing";
  spool_path = missing + "/shapley.spool";
  start();
  whole_life_of(9);
  ASSERT_TRUE(eventually([&] { return log_lines::count("spool: ") == 1; }));
  std::filesystem::create_directory(missing);
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 0; }));
  EXPECT_EQ(log_lines::count("can be written again"), 1);
}

// The daemon dies and comes back at random, acknowledges some, and slurmctld's life ends now and then. Whatever version
// of a job a scan saw must reach the daemon at least once.
TEST_F(Outage, NothingObservedIsEverLost) {
  Rng rng(20'261'121);
  std::set<std::pair<std::uint32_t, std::int64_t>> observed;
  std::set<std::pair<std::uint32_t, std::int64_t>> received;
  const auto note = [&](const protocol::Observations& message) {
    for (const auto& job : message.jobs) received.insert({job.job_id, job.start_time});
  };
  start();
  for (int round = 0; round < 12; ++round) {
    for (int scans = 0; scans < 8; ++scans) {
      for (int changes = 0; changes < 5; ++changes) {
        const auto id = static_cast<std::uint32_t>(1 + rng.below(40));
        if (rng.below(4) == 0) {
          jobs.erase(id);
        } else {
          jobs[id] = {.id = id, .start_time = static_cast<std::int64_t>(rng.below(1'000'000))};
        }
      }
      for (const auto& [id, job] : jobs) observed.insert({id, job.start_time});
      scan();
    }
    if (rng.below(4) == 0) {
      stop();
      start();
    }
    daemon.listen();
    daemon.welcome();
    // It commits and acknowledges a few messages and dies on the next.
    const std::uint64_t committed = rng.below(12);
    for (std::uint64_t i = 0; i < committed; ++i) {
      const auto message = daemon.receive([&] {
        if (shapley_client_wait(client, 1) == SHAPLEY_WAKE_HINT) scan();
      });
      if (std::holds_alternative<protocol::SnapshotEnd>(message)) break;
      const auto* changes = std::get_if<protocol::Observations>(&message);
      if (changes == nullptr) continue;
      note(*changes);
      daemon.acknowledge(changes->sequence);
    }
    daemon.die();
  }
  daemon.listen();
  const auto last = connect_and_take_snapshot();
  for (const auto& message : last.before) note(message);
  for (const auto& version : observed) {
    EXPECT_TRUE(received.contains(version)) << "job " << version.first << " started " << version.second;
  }
}

}  // namespace
}  // namespace shapley::client::testing
