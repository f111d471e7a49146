// The course of a healthy connection: Hello, snapshot, changes, acknowledgements.
#include <ctime>
#include <filesystem>
#include <limits>
#include <string>

#include <sys/stat.h>

#include "plugin/client/scan/records.hpp"
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
  EXPECT_EQ(hello.backlog, 0U);
  EXPECT_EQ(hello.dropped_backlogs, 0U);
  EXPECT_EQ(hello.min_job_age_s, 300U);
  EXPECT_EQ(hello.sign_of_life_s, 10U);
  // Which StateSaveLocation it has, whatever path leads there.
  const std::filesystem::path location = std::filesystem::path(spool_path).parent_path();
  struct stat status {};
  ASSERT_EQ(::stat(location.c_str(), &status), 0);
  EXPECT_EQ(hello.state_location, location);
  EXPECT_EQ(hello.state_location_id, std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino));
  EXPECT_NE(hello.instance, 0U);
  EXPECT_LE(hello.instance, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST_F(Handshake, HelloSaysUntilWhenAnEarlierLifeLookedAndSinceWhenThisOneDoes) {
  const std::int64_t before = std::time(nullptr);
  daemon.listen();
  start();
  const protocol::Hello first = daemon.welcome();
  EXPECT_GE(first.observing_since, before);
  EXPECT_EQ(first.observed_before, 0) << "there was none";
  EXPECT_EQ(first.controller_ran_at, 17) << "as the shim says";
  EXPECT_FALSE(first.dropped);
  // Nothing changed in all its life, so nothing was observed; its end is known nevertheless.
  const std::int64_t end = std::time(nullptr);
  stop();
  start();
  const protocol::Hello second = daemon.welcome();
  EXPECT_GE(second.observed_before, end - 1) << "the interval of its scans";
  EXPECT_LE(second.observed_before, second.observing_since);
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

TEST_F(Handshake, AScanThatFindsNothingNewIsASignOfLife) {
  constexpr std::chrono::milliseconds k_period{50};
  timings.sign_of_life = k_period;
  daemon.listen();
  jobs[7] = {.id = 7};
  start();
  std::uint64_t last = connect_and_take_snapshot().sequences.back();
  const auto take_sign = [&] {
    const auto sign = daemon.expect<protocol::Observations>();
    EXPECT_FALSE(tells_anything(sign));
    EXPECT_EQ(sign.observed_at, now);
    EXPECT_EQ(sign.sequence, ++last);
    daemon.acknowledge(sign.sequence);
  };
  take_sign();  // of the snapshot's scan
  // Where slurmctld hangs, no scan ends, and nothing is said however long that lasts: one sign comes for the next scan.
  const auto long_after = std::chrono::steady_clock::now() + 5 * k_period;
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= long_after; }));
  scan();
  take_sign();
  scan(false);  // not all records could be read
  ++jobs[7].start_time;
  scan();
  EXPECT_EQ(daemon.expect<protocol::Observations>().sequence, last + 1);
}

TEST_F(Handshake, VanishedJobsAreReportedOnce) {
  daemon.listen();
  jobs[7] = {.id = 7};
  jobs[8] = {.id = 8};
  jobs[9] = {.id = 9};
  start();
  (void)connect_and_take_snapshot();
  jobs.erase(7);
  jobs.erase(9);
  scan();
  const auto changes = daemon.expect<protocol::Observations>();
  EXPECT_EQ(changes.gone, (std::vector<std::uint32_t>{7, 9}));
  EXPECT_TRUE(changes.jobs.empty());
  scan();
  jobs[7] = {.id = 7};  // Slurm reuses ids after a wrap
  EXPECT_EQ(scan(), 1);
  const auto again = daemon.expect<protocol::Observations>();
  EXPECT_TRUE(again.gone.empty());
  ASSERT_EQ(again.jobs.size(), 1U);
  EXPECT_EQ(again.jobs[0].job_id, 7U);
}

TEST_F(Handshake, ACutShortScanTakesNoJobForGone) {
  daemon.listen();
  jobs[7] = {.id = 7};
  start();
  (void)connect_and_take_snapshot();
  jobs.clear();
  scan(false);
  jobs[8] = {.id = 8};
  scan(false);
  const auto changes = daemon.expect<protocol::Observations>();
  EXPECT_EQ(changes.jobs.size(), 1U);
  EXPECT_TRUE(changes.gone.empty());
  scan(true);
  EXPECT_EQ(daemon.expect<protocol::Observations>().gone, std::vector<std::uint32_t>{7});
}

TEST_F(Handshake, ACutShortScanIsNoSnapshot) {
  daemon.listen();
  jobs[7] = {.id = 7};
  start();
  daemon.welcome();
  ASSERT_TRUE(eventually([&] { return shapley_client_wait(client, 100) == SHAPLEY_WAKE_HINT; }));
  scan(false);
  (void)daemon.expect<protocol::SnapshotBegin>();
  EXPECT_EQ(daemon.expect<protocol::Observations>().jobs.size(), 1U);
  jobs[8] = {.id = 8};
  scan(true);
  // No SnapshotEnd for the first: the next whole scan begins again and has everything.
  (void)daemon.expect<protocol::SnapshotBegin>();
  EXPECT_EQ(daemon.expect<protocol::Observations>().jobs.size(), 2U);
  (void)daemon.expect<protocol::SnapshotEnd>();
  EXPECT_EQ(scan(), 0);
}

TEST_F(Handshake, AnEmptyClusterHasASnapshotToo) {
  daemon.listen();
  start();
  const auto snapshot = connect_and_take_snapshot();
  EXPECT_TRUE(snapshot.jobs.empty());
  EXPECT_EQ(snapshot.sequences, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Handshake, NodesAreGoneByNameNotByIndex) {
  daemon.listen();
  nodes = {"a", "b", "c"};
  start();
  (void)connect_and_take_snapshot();
  nodes = {"b", "c"};  // a reconfiguration moves the others down
  scan();
  const auto changes = daemon.expect<protocol::Observations>();
  EXPECT_EQ(changes.gone_nodes, std::vector<std::string>{"a"});
  EXPECT_EQ(changes.nodes.size(), 2U);
  nodes = {"b", "c", "d"};
  scan();
  const auto grown = daemon.expect<protocol::Observations>();
  EXPECT_TRUE(grown.gone_nodes.empty());
  ASSERT_EQ(grown.nodes.size(), 1U);
  EXPECT_EQ(grown.nodes[0].name, "d");
}

TEST_F(Handshake, LargeScansAreSplit) {
  daemon.listen();
  for (std::uint32_t id = 1; id <= 2500; ++id) jobs[id] = {.id = id};
  start();
  daemon.welcome();
  scan_on_hint();
  (void)daemon.expect<protocol::SnapshotBegin>();
  std::size_t seen = 0;
  while (seen < 2500) {
    const auto changes = daemon.expect<protocol::Observations>();
    EXPECT_LE(changes.jobs.size(), 1000U);
    ASSERT_FALSE(changes.jobs.empty());
    seen += changes.jobs.size();
  }
  (void)daemon.expect<protocol::SnapshotEnd>();
}

TEST_F(Handshake, AcknowledgementsFreeTheQueue) {
  daemon.listen();
  for (std::uint32_t id = 1; id <= 100; ++id) jobs[id] = {.id = id};
  timings.spool_delay = std::chrono::minutes(10);  // so that everything is in memory
  start();
  daemon.welcome();
  scan_on_hint();
  const auto begin = daemon.expect<protocol::SnapshotBegin>();
  const auto changes = daemon.expect<protocol::Observations>();
  const auto end = daemon.expect<protocol::SnapshotEnd>();
  EXPECT_EQ(changes.sequence, begin.sequence + 1);
  EXPECT_EQ(end.sequence, begin.sequence + 2);
  ASSERT_TRUE(eventually([&] { return counters().sent == 3 && counters().queued_bytes > 0; }));
  daemon.acknowledge(changes.sequence);
  ASSERT_TRUE(eventually([&] { return counters().acknowledged == 2; }));
  daemon.acknowledge(end.sequence);
  ASSERT_TRUE(eventually([&] { return counters().acknowledged == 3 && counters().queued_bytes == 0; }));
  EXPECT_EQ(counters().spooled_bytes, 0U);
  EXPECT_EQ(counters().snapshots, 1U);
  EXPECT_TRUE(counters().connected);
}

TEST_F(Handshake, ARecordThatCouldNotBeCopiedIsAskedForAgain) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  shapley_client_scan_begin(client, 1);
  EXPECT_TRUE(shapley_client_scan_job(client, 7, 77, 0));
  shapley_client_scan_end(client, true);  // the shim had no memory for the record
  shapley_client_scan_begin(client, 2);
  EXPECT_TRUE(shapley_client_scan_job(client, 7, 77, 0));
  const shapley_job_t record{.job_id = 7};
  shapley_client_scan_record(client, &record);
  shapley_client_scan_end(client, true);
  shapley_client_scan_begin(client, 3);
  EXPECT_FALSE(shapley_client_scan_job(client, 7, 77, 0));
  shapley_client_scan_end(client, true);
}

TEST_F(Handshake, EveryMemberOfAJobArrives) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  const char* const ancestors[] = {"faculty", nullptr};
  const shapley_node_holding_t on[] = {{"n1", 4, 22, "gpu:tesla:2(IDX:0,2),gpu:h100:1(IDX:1)"}, {"n2", 2, 23, nullptr}};
  const shapley_tres_t tres[] = {{"cpu", 6}, {"gres/gpu", 1}};
  const std::uint32_t depends_on[] = {18, 19, 20};
  const shapley_gres_request_t request{.per_node = "gres:shard:2", .tasks = 1};
  const shapley_job_t job{.job_id = 1,
                          .array_job_id = 2,
                          .array_task_id = 3,
                          .pending_tasks = 4,
                          .het_job_id = 5,
                          .restart_count = 6,
                          .completing = true,
                          .user_id = 7,
                          .group_id = 8,
                          .submit_time = 9,
                          .eligible_time = 10,
                          .start_time = 11,
                          .end_time = 12,
                          .suspend_time = 13,
                          .pre_suspend_run_s = 14,
                          .total_suspended_s = 15,
                          .resize_time = 16,
                          .requested_cpus = 17,
                          .time_limit_s = 21,
                          .requested_nodes = 24,
                          .requested_memory = 25,
                          .exclusive = true,
                          .account = "acc",
                          .qos = "qos",
                          .name = "name",
                          .wckey = nullptr,
                          .state = SHAPLEY_JOB_SUSPENDED,
                          .wait = SHAPLEY_WAIT_ARRAY_LIMIT,
                          .slurm_state = "SUSPENDED",
                          .partition = "part",
                          .account_ancestors = ancestors,
                          .account_ancestors_count = 2,
                          .nodes = on,
                          .nodes_count = 2,
                          .tres = tres,
                          .tres_count = 2,
                          .depends_on = depends_on,
                          .depends_on_count = 3,
                          .gres_request = &request,
                          .required_nodes = "n[1-2]",
                          .excluded_nodes = "n3",
                          .features = "gpu&ib",
                          .reservation = "spring,works"};
  shapley_client_scan_begin(client, 18);
  ASSERT_TRUE(shapley_client_scan_job(client, 1, 1, 0));
  shapley_client_scan_record(client, &job);
  shapley_client_scan_end(client, true);
  const auto changes = daemon.expect<protocol::Observations>();
  ASSERT_EQ(changes.jobs.size(), 1U);
  // Compared as encoded, so that no member can be forgotten here.
  protocol::JobUpdate expected{.job_id = 1,
                               .array_job_id = 2,
                               .array_task_id = 3,
                               .pending_tasks = 4,
                               .het_job_id = 5,
                               .restart_count = 6,
                               .state = protocol::JobState::suspended,
                               .completing = true,
                               .slurm_state = "SUSPENDED",
                               .wait = protocol::WaitReason::array_limit,
                               .user_id = 7,
                               .group_id = 8,
                               .account = "acc",
                               .account_ancestors = {"faculty", ""},
                               .partition = "part",
                               .qos = "qos",
                               .name = "name",
                               .wckey = "",
                               .submit_time = 9,
                               .eligible_time = 10,
                               .start_time = 11,
                               .end_time = 12,
                               .suspend_time = 13,
                               .pre_suspend_run_s = 14,
                               .total_suspended_s = 15,
                               .resize_time = 16,
                               .requested_cpus = 17,
                               .nodes = {{"n1", 4, 22, {{"gres/gpu", 3}}}, {"n2", 2, 23, {}}},
                               .tres = {{"cpu", 6}, {"gres/gpu", 1}},
                               .depends_on = {18, 19, 20},
                               .time_limit_s = 21,
                               .requested_nodes = 24,
                               .requested_memory = 25,
                               .exclusive = true,
                               .requested_gres = {{"gres/shard", 48}, {"gres/gpu", 1}},
                               .required_nodes = "n[1-2]",
                               .excluded_nodes = "n3",
                               .features = "gpu&ib",
                               .reservation = "spring,works"};
  protocol::Observations wanted;
  wanted.sequence = changes.sequence;
  wanted.observed_at = 18;
  wanted.jobs = {expected};
  EXPECT_EQ(protocol::encode_frame(changes), protocol::encode_frame(wanted));
}

TEST(Record, ListsItsPartitionsAscendingEachOnce) {
  const auto partition_of = [](const char* names) {
    shapley_job_t job{};
    job.partition = names;
    return to_record(job).partition;
  };
  EXPECT_EQ(partition_of("main"), "main");
  EXPECT_EQ(partition_of("short,main"), "main,short");
  EXPECT_EQ(partition_of("main,short"), "main,short");
  EXPECT_EQ(partition_of(",short,,short,main,"), "main,short");
  EXPECT_EQ(partition_of(","), "");
  EXPECT_EQ(partition_of(nullptr), "");
}

TEST(WithoutAClient, EveryFunctionIsHarmless) {
  const shapley_job_t job{};
  const shapley_node_t node{};
  const shapley_job_traits_t traits{};
  EXPECT_EQ(shapley_client_create(nullptr), nullptr);
  shapley_client_destroy(nullptr);
  shapley_client_scan_begin(nullptr, 0);
  EXPECT_FALSE(shapley_client_scan_job(nullptr, 1, 1, 0));
  shapley_client_scan_record(nullptr, &job);
  EXPECT_FALSE(shapley_client_scan_node(nullptr, 0, 0));
  shapley_client_scan_node_record(nullptr, 0, &node);
  shapley_client_scan_end(nullptr, true);
  EXPECT_FALSE(shapley_client_order(nullptr).act);
  EXPECT_EQ(shapley_client_rank(nullptr, &traits), 0U);
  shapley_client_hint(nullptr);
  EXPECT_EQ(shapley_client_wait(nullptr, 1000), SHAPLEY_WAKE_STOP);
  shapley_client_stop(nullptr);
}

}  // namespace
}  // namespace shapley::client::testing
