// Late events, older than the books remember: collected, then one rebuild in a thread of its own.
#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger.hpp"
#include "service_fixture.hpp"
#include "tests/daemon/busy_days.hpp"
#include "tests/support/must.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

class RebuildTest : public ServiceTest {
 protected:
  // Books whose memory ends two days before `now`, a month after the begin.
  void SetUp() override {
    ServiceTest::SetUp();
    connect(1);
    snapshot({});
    now += 30 * k_day;
    service->tick(Instant{now});
    ASSERT_TRUE(checkpoint_ends());
    service->stop(Instant{now});
    ASSERT_GT(service->books().state().memory_horizon(), Instant{k_begin});
    restart();
  }

  // A frame that was observed earlier, `at` seconds after the begin.
  void receive_old(std::int64_t at, std::vector<protocol::JobUpdate> jobs, std::vector<std::uint32_t> gone = {},
                   std::vector<protocol::NodeRecord> nodes = {}) {
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = k_begin + at;
    o.jobs = std::move(jobs);
    o.gone = std::move(gone);
    o.nodes = std::move(nodes);
    service->receive(std::move(o), Instant{now});
    service->process(Instant{now});
    EXPECT_EQ(acknowledged(), sequence);
  }

  // A run of 80 seconds, longer ago than the books remember.
  void receive_late_run() { receive_old(100, {ended({.id = 1, .node = "n2", .start = k_begin + 10}, k_begin + 90)}); }

  // The late run is in the books of the daemon that starts.
  void stop_and_start() {
    service->stop(Instant{now});
    restart();
    EXPECT_FALSE(service->books().incomplete());
    EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
    expect_audit_finds_nothing();
  }

  void tick(std::int64_t seconds = 1) {
    now += seconds;
    service->tick(Instant{now});
  }

  // The clock stands meanwhile: no test here depends on how long a rebuild takes.
  [[nodiscard]] bool rebuild_ends() {
    return test::eventually([&] {
      service->tick(Instant{now});
      return !service->books().incomplete();
    });
  }

  [[nodiscard]] json status() { return ask(R"({"request":"status"})"); }

  // All figures now, by organization.
  [[nodiscard]] static std::map<std::string, json> figures(json status) {
    std::map<std::string, json> rows;
    for (const json& row : status["organizations"]) rows[row["name"]] = row;
    return rows;
  }

  // The books are those of all events, by code that shares nothing with them.
  void expect_audit_finds_nothing() const {
    const auto report = must(ledger::audit(service->books().ledger()));
    for (const ledger::Finding& finding : report.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
  }
};

TEST_F(RebuildTest, AnEventOlderThanTheHorizonIsBookedNevertheless) {
  connect(2);
  snapshot({});
  EXPECT_EQ(service->ranks().organizations.front(), "physics");
  now += 1;
  receive_late_run();
  EXPECT_EQ(runs(), Lines{"1|10|90"});
  EXPECT_EQ(service->ranks().organizations.front(), "physics");
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
  EXPECT_EQ(service->books().rebuilds(), 1);
  expect_audit_finds_nothing();
  restart();
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
  EXPECT_EQ(service->books().replayed_at_start(), 0) << "a checkpoint was saved of the rebuilt books";
}

// Each task of an array counts as a job, as it does by the present books.
TEST_F(RebuildTest, HeldFiguresCountTasks) {
  connect(2);
  protocol::JobUpdate rest = waiting({.id = 70, .account = "chem", .cpus = 2, .start = now});
  rest.array_job_id = 70;
  rest.pending_tasks = 8;
  snapshot({rest});
  const auto startable = [this] {
    const json report = status();
    for (const json& row : report["organizations"]) {
      if (row["name"] == "chemistry") return row["waiting_jobs"].get<int>();
    }
    return -1;
  };
  EXPECT_EQ(startable(), 8);
  now += 1;
  receive_late_run();
  ASSERT_TRUE(service->books().incomplete());
  EXPECT_EQ(startable(), 8);
}

// The thread that rebuilds opens the file by its name.
TEST_F(RebuildTest, NothingIsRebuiltFromAnotherFileThanTheLedger) {
  namespace fs = std::filesystem;
  const fs::path ledger = site.configuration.ledger;
  connect(2);
  snapshot({});
  now += 1;
  receive_late_run();
  ASSERT_TRUE(service->books().incomplete());
  fs::rename(ledger, directory / "aside");
  fs::copy_file(directory / "aside", ledger);
  service->tick(Instant{now});
  EXPECT_FALSE(service->books().is_rebuilding());
  fs::rename(directory / "aside", ledger);
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
}

TEST_F(RebuildTest, LateEventsAreCollectedWhileTheFeedHasMore) {
  connect(2);
  const json before = status();
  EXPECT_EQ(before["daemon"]["rebuild"], nullptr);
  const std::int64_t since = now;
  for (std::uint32_t job = 1; job <= 20; ++job) {
    receive_old(job * k_hour, {ended({.id = job, .node = "n2", .start = k_begin + job * k_hour - 600},
                                     k_begin + job * k_hour - 300)});
    tick();
  }
  EXPECT_EQ(runs().size(), 20U) << "all are in the ledger";
  const json during = status();
  EXPECT_EQ(during["daemon"]["rebuild"]["since"], since);
  EXPECT_EQ(during["daemon"]["rebuild"]["percent"], nullptr) << "it waits for the rest of the backlog";
  EXPECT_EQ(during["daemon"]["rebuilds"], 0);
  EXPECT_EQ(during["organizations"], before["organizations"]) << "the figures are those of before";
  EXPECT_EQ(service->ranks().organizations.front(), "physics") << "and so are the ranks";
  for (const char* of_ranks :
       {R"({"request":"status","forecast":true})", R"({"request":"compare","a":"physics","b":"chemistry"})"})
    EXPECT_EQ(ask(of_ranks)["error"]["code"], "unavailable") << of_ranks;

  snapshot({});
  ASSERT_TRUE(rebuild_ends());
  const json after = status();
  EXPECT_EQ(after["daemon"]["rebuild"], nullptr);
  EXPECT_EQ(after["daemon"]["rebuilds"], 1);
  EXPECT_EQ(figures(after)["physics"]["got_processor_seconds"], std::to_string(20 * 300 * 4));
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
  expect_audit_finds_nothing();
}

// Records are compared with what was learned meanwhile: else an end would find no run, and a node would never come
// back.
TEST_F(RebuildTest, RecordsAreReadAgainstLateEventsBeforeTheyAreInTheFigures) {
  connect(2);
  const Job job{.id = 1, .node = "n2", .start = k_begin + 100};
  protocol::NodeRecord down = node_record("n1");
  down.usable = false;
  receive_old(50, {}, {}, {node_record("n1"), node_record("n2")});
  receive_old(100, {waiting({.id = 3, .account = "chem", .start = k_begin + 60})}, {}, {down});
  receive_old(110, {running(job), running({.id = 2, .start = k_begin + 105})}, {}, {node_record("n1")});
  receive_old(200,
              {ended(job, k_begin + 190), ended({.id = 3, .account = "chem", .start = k_begin + 150}, k_begin + 180)});
  receive_old(300, {}, {2});
  receive_old(400, {running({.id = 4, .start = k_begin + 350})});
  snapshot({});  // has no job 4 either
  EXPECT_EQ(service->books().rebuilds(), 0);
  EXPECT_EQ(runs(), (Lines{"1|100|190", "2|105|297", "3|150|180", "4|350|400"}));
  EXPECT_EQ(rows("SELECT at - " + std::to_string(k_begin) +
                 ", processors / 1000000 FROM capacity WHERE node = 'n1' AND at > " + std::to_string(k_begin) +
                 " ORDER BY at"),
            (Lines{"100|0", "110|8"}));
  EXPECT_EQ(rows("SELECT COUNT(*) FROM segments WHERE end IS NULL"), Lines{"0"});
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(service->books().rebuilds(), 1);
  EXPECT_TRUE(service->books().state().jobs_with_open_segments().empty());
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, AFeedThatFallsSilentIsNotWaitedFor) {
  connect(2);
  receive_late_run();
  tick(29);
  EXPECT_EQ(status()["daemon"]["rebuild"]["percent"], nullptr);
  tick(1);
  EXPECT_NE(status()["daemon"]["rebuild"]["percent"], nullptr);
  ASSERT_TRUE(rebuild_ends());
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, AFeedWithoutEndIsNotWaitedForEither) {
  connect(2);
  const std::int64_t begin = now;
  for (std::uint32_t job = 1; now < begin + 600; ++job) {
    EXPECT_FALSE(service->books().incomplete() && service->books().incomplete()->percent) << now - begin;
    receive_old(job * k_hour, {ended({.id = job, .node = "n2", .start = k_begin + job * k_hour - 600},
                                     k_begin + job * k_hour - 300)});
    tick(20);
  }
  EXPECT_TRUE(service->books().incomplete() && service->books().incomplete()->percent);
  ASSERT_TRUE(rebuild_ends());
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, WhatComesDuringTheRebuildIsInItsBooks) {
  connect(2);
  receive_late_run();
  snapshot({});
  service->tick(Instant{now});  // it begins
  ASSERT_TRUE(service->books().incomplete());
  for (std::uint32_t job = 10; job < 40; ++job) {
    now += 5;
    see({ended({.id = job, .node = "n2", .cpus = 1, .start = now - 4}, now - 1)});
  }
  ASSERT_TRUE(service->books().incomplete()) << "only a tick takes the books over";
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(figures(status())["physics"]["got_processor_seconds"], std::to_string(80 * 4 + 30 * 3));
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, ALateEventThatComesDuringTheRebuildCostsAnotherOneOrIsInIt) {
  connect(2);
  receive_late_run();
  snapshot({});
  service->tick(Instant{now});
  receive_old(300, {ended({.id = 2, .node = "n2", .start = k_begin + 210}, k_begin + 290)});
  ASSERT_TRUE(rebuild_ends());
  EXPECT_GE(service->books().rebuilds(), 1);
  EXPECT_EQ(figures(status())["physics"]["got_processor_seconds"], std::to_string(2 * 80 * 4));
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, LateEventsThatComeOneByOneAreRebuiltAQuarterOfTheTime) {
  connect(2);
  receive_late_run();
  snapshot({});
  service->tick(Instant{now});
  ASSERT_TRUE(service->books().is_rebuilding());
  now += 100;  // so long it took
  ASSERT_TRUE(rebuild_ends());
  receive_old(300, {ended({.id = 2, .node = "n2", .start = k_begin + 210}, k_begin + 290)});
  const std::int64_t ended = now;
  for (; now < ended + 300; now += 50) {
    service->tick(Instant{now});
    EXPECT_FALSE(service->books().is_rebuilding()) << now - ended << " s after the rebuild before";
    EXPECT_TRUE(service->books().incomplete());
  }
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(service->books().rebuilds(), 2);
  EXPECT_EQ(figures(status())["physics"]["got_processor_seconds"], std::to_string(2 * 80 * 4));
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, ADaemonStoppedBeforeARebuildDoesItWhenItStarts) {
  connect(2);
  receive_late_run();
  ASSERT_TRUE(service->books().incomplete());
  stop_and_start();
  EXPECT_GT(service->books().replayed_at_start(), 0);
}

// Whether the thread has saved its checkpoint by then depends on its speed; what the next start shows does not.
TEST_F(RebuildTest, ADaemonStoppedDuringARebuildIsCompleteWhenItStarts) {
  connect(2);
  receive_late_run();
  snapshot({});
  service->tick(Instant{now});
  ASSERT_TRUE(service->books().is_rebuilding());
  stop_and_start();
}

TEST_F(RebuildTest, DaysAreClosedAfterwards) {
  const auto days = [&] { return rows("SELECT COUNT(DISTINCT day) FROM books_by_day").front(); };
  const std::string before = days();
  connect(2);
  receive_late_run();
  tick(k_day);
  EXPECT_EQ(days(), before) << "half of the figures would be kept permanently";
  ASSERT_TRUE(rebuild_ends());
  tick();
  EXPECT_EQ(days(), std::to_string(std::stoi(before) + 1));
  expect_audit_finds_nothing();
}

TEST_F(RebuildTest, EveryRequestIsAnsweredMeanwhile) {
  connect(2);
  receive_old(3, {waiting({.id = 7, .start = k_begin}), waiting({.id = 8, .account = "chem", .start = k_begin})});
  ASSERT_TRUE(service->books().incomplete());
  EXPECT_EQ(ask(R"({"request":"status","contribution":"hindsight"})")["contribution"], "hindsight");
  EXPECT_EQ(ask(R"({"request":"jobs"})")["jobs"].size(), 2U) << "they come from the ledger";
  EXPECT_EQ(ask(R"({"request":"jobs"})")["no_start"], json::array()) << "no job waited before";
  EXPECT_EQ(ask(R"({"request":"queue"})")["jobs"].size(), 2U);
  Site changed = site;
  changed.configuration.mode = config::Mode::observe;
  ASSERT_TRUE(service->reload(changed, Instant{now}).has_value());
  EXPECT_EQ(status()["organizations"][0]["would_rank"], 1);
}

TEST_F(RebuildTest, WhoWaitedBeforeIsSaidMeanwhile) {
  connect(2);
  snapshot({waiting({.id = 7, .start = now - 10}), waiting({.id = 8, .account = "chem", .start = now - 20})});
  const json before = ask(R"({"request":"jobs"})")["no_start"];
  ASSERT_EQ(before.size(), 2U);
  receive_late_run();
  ASSERT_TRUE(service->books().incomplete());
  EXPECT_EQ(ask(R"({"request":"jobs"})")["no_start"], before);
  EXPECT_EQ(ask(R"({"request":"jobs","organizations":["chemistry"]})")["no_start"], json::array({before[1]}));
}

// The plugin was refused, or shapleyd was down, for three days.
TEST_F(RebuildTest, AWeekendThatComesAtOnceGivesTheBooksOfADaemonThatWasThere) {
  const BusyDays weekend = busy_days(k_begin + 20 * k_day, 3 * k_day, 100);
  connect(2);
  for (protocol::Observations frame : weekend.frames) {
    frame.sequence = ++sequence;
    service->receive(std::move(frame), Instant{now});
    if (sequence % 7 == 0) service->process(Instant{now});
    if (sequence % 50 == 0) tick();
  }
  snapshot({});
  ASSERT_TRUE(rebuild_ends());
  EXPECT_EQ(service->books().rebuilds(), 1);
  expect_audit_finds_nothing();

  const TempDirectory other;
  auto there = must(Service::start(site_in(other), {}, Instant{k_begin}));
  std::swap(service, there);
  const std::int64_t monday = std::exchange(now, k_begin);
  connect(1);
  snapshot({});
  for (const protocol::Observations& frame : weekend.frames) {
    now = frame.observed_at;
    receive_old(now - k_begin, frame.jobs, {}, frame.nodes);
    tick();
  }
  now = monday;
  connect(2);
  snapshot({});
  EXPECT_EQ(service->books().rebuilds(), 0);
  const std::string all =
      "SELECT kind, job, anchor, ordinal, organization, begin, end, processors, reason, retracted "
      "FROM segments ORDER BY kind, job, anchor, ordinal";
  const Lines expected = rows(all);
  EXPECT_EQ(expected.size(), 2 * weekend.runs.size()) << "runs and waits";
  const auto expected_figures = figures(status());
  std::swap(service, there);
  const Lines booked = rows(all);
  ASSERT_EQ(booked.size(), expected.size());
  for (std::size_t i = 0; i < booked.size(); ++i) EXPECT_EQ(booked[i], expected[i]);
  const auto found = figures(status());
  for (const auto& [name, row] : expected_figures) {
    for (const char* figure :
         {"psi", "phi_direct", "phi_hindsight", "got_processor_seconds", "given_processor_seconds"}) {
      EXPECT_EQ(found.at(name).at(figure), row.at(figure)) << name << ": " << figure;
    }
  }
}

}  // namespace
}  // namespace shapley::daemon
