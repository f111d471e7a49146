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

}  // namespace
}  // namespace shapley::daemon
