// The course of a healthy connection: Hello, snapshot, changes, acknowledgements.
#include "support.hpp"

namespace shapley::client::testing {
namespace {

using Handshake = ClientTest;

TEST_F(Handshake, HelloSaysWhoWeAre) {
  daemon.listen();
  start();
  const protocol::Hello hello = daemon.welcome();
  EXPECT_EQ(hello.version, protocol::k_version);
  EXPECT_EQ(hello.role, protocol::Role::feeder);
  EXPECT_EQ(hello.program, "priority/shapley test");
  EXPECT_EQ(hello.cluster, "tester");
  EXPECT_EQ(hello.slurm_version, "22.05.8");
  EXPECT_EQ(hello.interval_ms, 1000U);
  EXPECT_EQ(hello.min_job_age_s, 300U);
  EXPECT_NE(hello.instance, 0U);
  EXPECT_LE(hello.instance, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST_F(Handshake, TwoLivesHaveTwoInstances) {
  daemon.listen();
  start();
  const protocol::Hello first = daemon.welcome();
  stop();
  start();
  EXPECT_NE(first.instance, daemon.welcome().instance);
}

TEST_F(Handshake, SnapshotThenChangesOnly) {
  daemon.listen();
  nodes = {"n1", "n2"};
  jobs[7] = {.id = 7, .state = SHAPLEY_JOB_RUNNING, .account = "physics", .start_time = 100};
  jobs[8] = {.id = 8};
  start();
  const auto snapshot = connect_and_take_snapshot();
  ASSERT_EQ(snapshot.jobs.size(), 2U);
  EXPECT_EQ(snapshot.jobs.at(7).state, protocol::JobState::running);
  EXPECT_EQ(snapshot.jobs.at(7).account, "physics");
  EXPECT_EQ(snapshot.jobs.at(7).start_time, 100);
  ASSERT_EQ(snapshot.nodes.size(), 2U);
  EXPECT_EQ(snapshot.nodes.at("n2").cpus, 8U);
  EXPECT_TRUE(snapshot.nodes.at("n2").usable);
  ASSERT_EQ(snapshot.nodes.at("n2").tres.size(), 1U);
  EXPECT_EQ(snapshot.nodes.at("n2").tres[0].name, "cpu");

  EXPECT_EQ(scan(), 0) << "nothing changed, so no record is asked for";
  jobs[8].state = SHAPLEY_JOB_RUNNING;
  jobs[8].start_time = 200;
  EXPECT_EQ(scan(), 1);
  const auto changes = daemon.expect<protocol::Observations>();
  ASSERT_EQ(changes.jobs.size(), 1U) << "the quiet scan before sent nothing";
  EXPECT_EQ(changes.jobs[0].job_id, 8U);
  EXPECT_EQ(changes.jobs[0].start_time, 200);
  EXPECT_EQ(changes.observed_at, now);
  EXPECT_TRUE(changes.nodes.empty());
  EXPECT_EQ(changes.sequence, snapshot.sequences.back() + 1);
}

}  // namespace
}  // namespace shapley::client::testing
