// When shapleyd defines which nodes are of one kind for hindsight's virtual schedules.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

class KindsTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    connect(1);
  }

  // n1 is in batch, n2 in batch and in gpu.
  void look(std::vector<protocol::JobUpdate> jobs) {
    observe(std::move(jobs));
    service->tick(Instant{++now});
  }
  void observe(std::vector<protocol::JobUpdate> jobs) {
    now += 10;
    service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.nodes = {node_record("n1"), node_record("n2")};
    o.nodes[0].partitions = {"batch"};
    o.nodes[1].partitions = {"batch", "gpu"};
    service->receive(std::move(o), Instant{now});
    service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
    service->process(Instant{now});
  }

  [[nodiscard]] static protocol::JobUpdate waiting_in(const std::string& partition, std::uint32_t id) {
    protocol::JobUpdate job = waiting({.id = id, .start = k_begin});
    job.partition = partition;
    return job;
  }
  [[nodiscard]] std::vector<std::string> kinds() const { return service->books().state().hindsight_defined()->kinds; }
  [[nodiscard]] std::size_t definitions() const {
    return rows("SELECT key FROM event_texts WHERE key LIKE 'hindsight_defined/%'").size();
  }
};

TEST_F(KindsTest, AreDefinedWhenThePlacementsInUseNeedIt) {
  EXPECT_EQ(definitions(), 1U);
  look({waiting_in("batch", 1)});
  EXPECT_TRUE(kinds().empty());
  EXPECT_EQ(definitions(), 1U);
  look({waiting_in("batch", 1), waiting_in("gpu", 2)});
  EXPECT_EQ(kinds(), std::vector<std::string>{"n2"});
  EXPECT_EQ(definitions(), 2U);
  look({waiting_in("batch", 1), waiting_in("gpu", 2)});
  restart();
  service->tick(Instant{++now});
  EXPECT_EQ(kinds(), std::vector<std::string>{"n2"});
  EXPECT_EQ(definitions(), 2U);
}

TEST_F(KindsTest, AreDefinedOnceThatCanBeRecorded) {
  observe({waiting_in("batch", 1), waiting_in("gpu", 2)});
  {
    const FullDisk full;
    service->tick(Instant{++now});
  }
  EXPECT_TRUE(kinds().empty());
  service->tick(Instant{++now});
  EXPECT_EQ(kinds(), std::vector<std::string>{"n2"});
}

TEST_F(KindsTest, AreNotDefinedWhereJobsStartInParts) {
  site.configuration.hindsight_jobs = config::HindsightJobs::parts;
  restart();
  connect(2);
  look({waiting_in("batch", 1), waiting_in("gpu", 2)});
  EXPECT_TRUE(kinds().empty());
  EXPECT_EQ(service->books().state().hindsight_defined()->jobs, accounting::JobsStart::parts);
}

}  // namespace
}  // namespace shapley::daemon
