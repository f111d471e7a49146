// What a feeder sends: acknowledged when it is durable, in order, twice, with a snapshot that lacks something.
#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using Lines = std::vector<std::string>;

TEST_F(ServiceTest, WhatIsAcknowledgedIsDurable) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  EXPECT_EQ(acknowledged(), 3U);
  now += 10;
  see({ended({.id = 1, .start = k_begin - 50}, k_begin + 5)});
  EXPECT_EQ(acknowledged(), 4U);
  restart();
  EXPECT_EQ(runs(), Lines{"1|-50|5"});
  EXPECT_EQ(service->acknowledged(1), 0U);
}

// One frame of many records is read in portions: what came first is in the books before the rest is looked at, nothing
// is acknowledged before all is, and who dies in between gets it again and books nothing twice.
TEST_F(ServiceTest, AFrameOfManyRecordsIsReadInPortions) {
  options.intake.portion_records = 10;
  restart();
  connect(1);
  std::vector<protocol::JobUpdate> jobs;
  for (std::uint32_t id = 1; id <= 35; ++id) jobs.push_back(running({.id = id, .start = now - 50}));
  const auto count = [&] { return rows("SELECT count(*) FROM segments").front(); };
  queue(jobs);
  for (const char* expected : {"10", "20", "30"}) {
    EXPECT_TRUE(service->process(Instant{now}));
    EXPECT_EQ(count(), expected);
    EXPECT_TRUE(service->is_unfinished());
    EXPECT_EQ(acknowledged(), 0U);
  }
  restart();
  connect(1);
  queue(jobs);
  for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(service->process(Instant{now}));
  EXPECT_FALSE(service->is_unfinished());
  EXPECT_EQ(acknowledged(), 1U);
  EXPECT_EQ(count(), "35");
  // Nodes, jobs and what is gone count alike.
  protocol::Observations mixed;
  mixed.sequence = ++sequence;
  mixed.observed_at = now += 10;
  for (int i = 1; i <= 12; ++i) mixed.nodes.push_back(node_record("m" + std::to_string(i)));
  for (std::uint32_t id = 1; id <= 35; ++id) mixed.gone.push_back(id);
  service->receive(std::move(mixed), Instant{now});
  int turns = 0;
  do {
    EXPECT_TRUE(service->process(Instant{now}));
    ++turns;
  } while (service->is_unfinished());
  EXPECT_EQ(turns, 5);
  EXPECT_EQ(acknowledged(), 2U);
  EXPECT_EQ(rows("SELECT count(*) FROM segments WHERE end IS NULL").front(), "0");
}

// A scan of runs did not look at what waits: a wait that began before it is believed nevertheless.
TEST_F(ServiceTest, AfterAScanOfRunsAWaitCountsFromWhereItBegan) {
  for (const bool runs_only : {true, false}) {
    const std::uint32_t job = runs_only ? 1 : 3;
    const std::int64_t begin = now;
    connect(job);
    protocol::JobUpdate held = waiting({.id = job, .start = begin});
    held.wait = protocol::WaitReason::held;
    snapshot({held});
    now += 10;
    protocol::Observations started;
    started.sequence = ++sequence;
    started.observed_at = now;
    started.jobs = {running({.id = job + 1, .start = now})};
    started.runs_only = runs_only;
    service->receive(std::move(started), Instant{now});
    service->process(Instant{now});
    EXPECT_EQ(acknowledged(), sequence);
    now += 10;
    see({waiting({.id = job, .start = begin + 5})});
    EXPECT_EQ(rows("SELECT begin - " + std::to_string(begin) +
                   " FROM segments WHERE kind = 'wait' AND job = " + std::to_string(job)),
              Lines{runs_only ? "5" : "20"});
    now += 10;
  }
}

// The books forget what neither runs nor could start; its first description is in the ledger nevertheless.
TEST_F(ServiceTest, AJobThatWasForgottenWhileItWasHeldAndMovedMeanwhileIsShownWhereItIs) {
  connect(1);
  protocol::JobUpdate held = waiting({.id = 7, .start = now});
  held.wait = protocol::WaitReason::held;
  snapshot({held, running({.id = 8, .start = now})});
  now += 10;
  see({ended({.id = 8, .start = k_begin}, now)});
  forget_the_past();
  ASSERT_EQ(service->books().state().find_job(JobId{7}), nullptr);
  held.account = "chem";
  snapshot({held});
  const Lines moved{"7|chemistry|chem"};
  EXPECT_EQ(rows("SELECT job, organization, account FROM jobs WHERE job = 7"), moved);
  const auto events = service->books().last_sequence();
  now += 10;
  see({held});
  EXPECT_EQ(service->books().last_sequence(), events) << "said once";
}

TEST_F(ServiceTest, NothingIsAcknowledgedBeforeItIsProcessed) {
  connect(1);
  queue({running({.id = 1, .start = now})});
  EXPECT_EQ(acknowledged(), 0U);
  service->process(Instant{now});
  EXPECT_EQ(acknowledged(), 1U);
}

TEST_F(ServiceTest, ManyFramesOfOneTurnAreReadInTheirOrder) {
  connect(1);
  queue({waiting({.id = 1, .start = now - 20})});
  now += 1;
  queue({running({.id = 1, .start = k_begin + 1})});
  now += 9;
  queue({ended({.id = 1, .start = k_begin + 1}, k_begin + 9)});
  service->process(Instant{now});
  EXPECT_EQ(acknowledged(), 3U);
  EXPECT_EQ(runs(), Lines{"1|1|9"});
}

TEST_F(ServiceTest, TheSameFramesAfterARestartAddNothing) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50}), waiting({.id = 2, .start = now - 5})});
  now += 10;
  see({ended({.id = 1, .start = k_begin - 50}, k_begin + 5)});
  const std::int64_t events = service->books().last_sequence();
  restart();
  connect(1);
  now = k_begin;
  see({running({.id = 1, .start = k_begin - 50}), waiting({.id = 2, .start = k_begin - 5})});
  now += 10;
  see({ended({.id = 1, .start = k_begin - 50}, k_begin + 5)});
  now += 10;
  snapshot({ended({.id = 1, .start = k_begin - 50}, k_begin + 5), waiting({.id = 2, .start = k_begin - 5})});
  EXPECT_EQ(service->books().last_sequence(), events);
}

TEST_F(ServiceTest, AJobThatTheSnapshotLacksEndsWhereTheBooksLastKnewIt) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  now += 30;
  see({waiting({.id = 2, .start = now})});
  now += 1000;
  restart();
  connect(2);
  now += 5;
  snapshot({});
  EXPECT_EQ(runs(), Lines{"1|-50|30"});
  EXPECT_TRUE(service->books().state().jobs_with_open_segments().empty());
}

TEST_F(ServiceTest, WhatTheSnapshotLacksIsNotBroughtBackByAnOlderRecord) {
  connect(1);
  // Suspended in the second in which it is seen running: which came last cannot be known, so the later record waits.
  protocol::JobUpdate job = running({.id = 1, .start = now - 10});
  job.state = protocol::JobState::suspended;
  job.suspend_time = now;
  job.pre_suspend_run_s = 10;
  see({job});
  connect(2);  // and slurmctld's new life sends first what the spool had
  see({running({.id = 1, .start = now - 10})});
  snapshot({});
  now += 5;
  service->tick(Instant{now});
  EXPECT_TRUE(service->books().state().jobs_with_open_segments().empty());
}

TEST_F(ServiceTest, AJobThatIsGoneFromARunningFeederWasThereAtItsLastScan) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  now += 600;
  see({}, {1});
  // Scans every second found it unchanged; two of them back is certain.
  EXPECT_EQ(runs(), Lines{"1|-50|597"});
}

TEST_F(ServiceTest, NodesThatTheSnapshotLacksOfferNothing) {
  connect(1);
  snapshot({});
  EXPECT_EQ(service->books().state().capacity("n2"), ProcessorMillionths{8 * k_micro});
  now += 10;
  service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
  protocol::Observations o;
  o.sequence = ++sequence;
  o.observed_at = now;
  o.nodes = {node_record("n1")};
  service->receive(std::move(o), Instant{now});
  service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
  service->process(Instant{now});
  EXPECT_EQ(service->books().state().capacity("n1"), ProcessorMillionths{8 * k_micro});
  EXPECT_EQ(service->books().state().capacity("n2"), ProcessorMillionths{0});
}

}  // namespace
}  // namespace shapley::daemon
