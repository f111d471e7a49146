// Levels of an organization's pending jobs and the report of them, through the whole service.
#include "daemon/workflows/workflows.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"
#include "service_fixture.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Levels = std::vector<protocol::JobLevel>;

protocol::JobUpdate named(protocol::JobUpdate record, const std::string& name) {
  record.name = name;
  return record;
}

protocol::JobUpdate pending(std::uint32_t id, const std::string& name, const std::string& account = "phys") {
  return named(waiting({.id = id, .account = account, .cpus = 1, .start = k_begin - 100}), name);
}

protocol::JobUpdate run(std::uint32_t id, const std::string& name, std::int64_t start) {
  return named(running({.id = id, .cpus = 1, .start = start}), name);
}

protocol::JobUpdate completed(std::uint32_t id, const std::string& name, std::int64_t start, std::int64_t end) {
  return named(ended({.id = id, .cpus = 1, .start = start}, end), name);
}

class WorkflowsTest : public ServiceTest {
 protected:
  void SetUp() override {
    site.configuration.organizations[0].workflows.fairness = true;
    restart();
  }

  void restart() {
    ServiceTest::restart();
    connect(++instance);
  }

  // A second later.
  const Levels& levels() {
    service->tick(Instant{++now});
    return service->workflows().levels().jobs;
  }
  json physics() { return ask(R"({"request": "workflows", "organization": "physics"})")["organizations"][0]; }

  // a: one runs, one waits; b: four wait.
  std::vector<protocol::JobUpdate> two_workflows() const {
    return {run(1, "a-1", k_begin - 50), pending(2, "a-2"),  pending(11, "b-1"),
            pending(12, "b-2"),          pending(13, "b-3"), pending(14, "b-4")};
  }

  std::uint64_t instance = 0;
};

TEST_F(WorkflowsTest, TheJobsOfTheWorkflowThatIsBehindHaveLevels) {
  snapshot(two_workflows());
  // As in tests/workflow/tracker_test.cpp: W = 1/2 and 1, Delta = 2.
  EXPECT_EQ(levels(), (Levels{{11, 15}, {12, 3}}));
}

TEST_F(WorkflowsTest, OtherOrganizationsJobsHaveNone) {
  auto jobs = two_workflows();
  for (protocol::JobUpdate& record : jobs) record.account = "chem";
  snapshot(jobs);
  EXPECT_TRUE(levels().empty());
}

TEST_F(WorkflowsTest, TheTableIsReplacedOnlyWhenItChanges) {
  snapshot(two_workflows());
  levels();
  const std::uint64_t generation = service->workflows().levels().generation;
  see({pending(2, "a-2")});
  levels();
  EXPECT_EQ(service->workflows().levels().generation, generation);
  see({run(11, "b-1", now)});
  levels();
  EXPECT_GT(service->workflows().levels().generation, generation);
}

TEST_F(WorkflowsTest, ASnapshotDropsWhatItDoesNotHold) {
  snapshot(two_workflows());
  EXPECT_FALSE(levels().empty());
  snapshot({run(1, "a-1", k_begin - 50), pending(2, "a-2")});
  EXPECT_TRUE(levels().empty());
  EXPECT_EQ(physics()["workflows"].size(), 1U);
}

TEST_F(WorkflowsTest, DuringASnapshotTheTableStays) {
  snapshot(two_workflows());
  const Levels before = levels();
  service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
  see({run(11, "b-1", now)});
  EXPECT_EQ(levels(), before);
}

TEST_F(WorkflowsTest, AJobThatLeavesTheOrganizationOrIsGoneLosesItsLevel) {
  snapshot(two_workflows());
  levels();
  see({pending(11, "b-1", "chem")}, {12});
  // b: two wait, none runs: Delta = 2 - floor(0.7 2) = 1.
  EXPECT_EQ(levels(), (Levels{{13, 15}}));
}

TEST_F(WorkflowsTest, CompletedRunsTeachAndSurviveARestart) {
  snapshot({run(1, "a-1", k_begin - 50), run(3, "a-3", k_begin - 60), pending(2, "a-2"), run(4, "a-4", k_begin - 20)});
  now += 10;
  protocol::JobUpdate failed = completed(4, "a-4", k_begin - 20, now - 1);
  failed.slurm_state = "FAILED";
  see({completed(1, "a-1", k_begin - 50, now - 1), completed(3, "a-3", k_begin - 60, now - 1), failed});
  levels();
  const json before = physics()["workflows"][0];
  EXPECT_EQ(before["finished"], 2);
  EXPECT_EQ(before["activities"][0]["median_s"], 69.0);  // of 59 and 69 s the upper one
  restart();
  // slurmctld still has the record of one of them.
  snapshot({completed(1, "a-1", k_begin - 50, k_begin + 9), pending(2, "a-2")});
  levels();
  EXPECT_EQ(physics()["workflows"][0]["finished"], 2);
  EXPECT_EQ(physics()["workflows"][0]["activities"][0]["median_s"], 69.0);
}

TEST_F(WorkflowsTest, TheBooksAreTheSameWithoutIt) {
  const auto events = [&] {
    std::string all;
    const auto rows = ledger::query(service->books().ledger(), "SELECT key, payload FROM events ORDER BY seq");
    for (const auto& row : *rows) all += row[0] + ' ' + row[1] + '\n';
    return all;
  };
  const auto live = [&] {
    snapshot(two_workflows());
    now += 10;
    see({completed(1, "a-1", k_begin - 50, now - 1), run(11, "b-1", now - 1)});
    now += 10;
    levels();
    return events();
  };
  const std::string with = live();
  const TempDirectory other;
  site.configuration.ledger = other / "ledger.db";
  site.configuration.organizations[0].workflows.fairness = false;
  now = k_begin;
  restart();
  EXPECT_EQ(live(), with);
}

TEST_F(WorkflowsTest, AReloadToFifoTakesTheLevelsOffAndBackAsksForASnapshot) {
  snapshot(two_workflows());
  EXPECT_FALSE(levels().empty());
  Site fifo = site;
  fifo.configuration.organizations[0].workflows.fairness = false;
  const std::uint64_t reading = service->reading_generation();
  ASSERT_TRUE(service->reload(fifo, Instant{now}).has_value());
  EXPECT_TRUE(levels().empty());
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_EQ(service->reading_generation(), reading + 2);
  snapshot(two_workflows());
  EXPECT_FALSE(levels().empty());
}

TEST_F(WorkflowsTest, TheReportShowsTheLoopAndHowItWasBefore) {
  snapshot(two_workflows());
  levels();
  const std::int64_t first = now;
  see({run(11, "b-1", now)});
  levels();
  const json report = physics();
  EXPECT_EQ(report["eta"], 0.25);  // 3/4 - 1/2
  EXPECT_EQ(report["before"]["eta"], 0.5);
  EXPECT_EQ(report["before"]["at"], first);
  EXPECT_EQ(report["highest"]["eta"], 0.5);
  EXPECT_EQ(report["threshold"], 0.2);
  const json b = report["workflows"][0];
  EXPECT_EQ(b["workflow"], "name b");
  EXPECT_EQ(b["pending_work"], 0.75);
  EXPECT_EQ(b["pending_work_before"], 1.0);
  EXPECT_EQ(b["pending"], 3);
  EXPECT_EQ(b["running"], 1);
  // Delta = 3 - floor(0.7 4) = 1: 3/4 is the third of 15 bands between 0.7 and 1.
  EXPECT_EQ(b["raised"], json::parse(R"([{"job": 12, "level": 3}])"));
  EXPECT_EQ(b["levels"], json::parse("[3, 3]"));
  EXPECT_EQ(report["workflows"][1]["levels"], nullptr);
}

TEST_F(WorkflowsTest, TheReportListsSoManyActivitiesAndJobsOfAnOrganization) {
  auto jobs = two_workflows();
  for (std::uint32_t id = 100; id < 1600; ++id) jobs.push_back(pending(id, "b-" + std::to_string(id) + "-1"));
  snapshot(jobs);
  levels();
  const json report = physics();
  std::size_t activities = 0;
  std::size_t raised = 0;
  bool truncated = false;
  for (const json& workflow : report["workflows"]) {
    activities += workflow["activities"].size();
    raised += workflow["raised"].size();
    truncated = truncated || workflow["truncated"];
  }
  EXPECT_EQ(activities, 1000U);
  EXPECT_EQ(raised, 1000U);
  EXPECT_TRUE(truncated);
}

TEST_F(WorkflowsTest, TheReportOfAnOrganizationInFifoIsAnError) {
  EXPECT_EQ(ask(R"({"request": "workflows", "organization": "chemistry"})")["error"]["code"], "invalid_argument");
  EXPECT_EQ(ask(R"({"request": "workflows", "organization": 7})")["error"]["code"], "invalid_argument");
  EXPECT_EQ(ask(R"({"request": "workflows"})")["organizations"].size(), 1U);
}

TEST_F(WorkflowsTest, DependenciesTieJobs) {
  site.configuration.organizations[0].workflows.workflow_key = {workflow::KeyRule::dependency};
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  protocol::JobUpdate second = pending(21, "y");
  second.wait = protocol::WaitReason::dependency;
  second.depends_on = {20};
  snapshot({pending(20, "x"), second, pending(30, "z")});
  levels();
  const json workflows = physics()["workflows"];
  ASSERT_EQ(workflows.size(), 2U);
  EXPECT_EQ(workflows[0]["workflow"], "job 20");
  EXPECT_EQ(workflows[0]["blocked"], 1);
}

}  // namespace
}  // namespace shapley::daemon
