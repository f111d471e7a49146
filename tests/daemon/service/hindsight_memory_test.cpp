// How much memory hindsight may take, and what shapleyd does and says where it takes more.
#include "daemon/books/hindsight_memory.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ledger/audit/audit.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

class CgroupMemory : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = directory_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::optional<std::int64_t> limit() const {
    return cgroup_memory(directory_ / "self", directory_ / "cgroup");
  }

 private:
  TempDirectory directory_;
};

TEST_F(CgroupMemory, IsTheLeastOfTheGroupsAbove) {
  write("self", "0::/system.slice/shapleyd.service\n");
  EXPECT_EQ(limit(), std::nullopt);
  write("cgroup/system.slice/shapleyd.service/memory.max", "max\n");
  EXPECT_EQ(limit(), std::nullopt);
  write("cgroup/system.slice/memory.max", "4000000000\n");
  EXPECT_EQ(limit(), 4'000'000'000);
  write("cgroup/system.slice/shapleyd.service/memory.max", "5000000000\n");
  EXPECT_EQ(limit(), 4'000'000'000);
}

TEST_F(CgroupMemory, OfVersionOneHasAHierarchyOfItsOwn) {
  write("self", "12:cpu,cpuacct:/x\n9:memory:/system.slice/shapleyd.service\n0::/\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), std::nullopt);
  write("cgroup/memory/system.slice/shapleyd.service/memory.limit_in_bytes", "268435456\n");
  EXPECT_EQ(limit(), 268'435'456);
}

TEST(HindsightBound, IsConfiguredOrAQuarterOfTheCgroup) {
  config::Configuration configuration;
  EXPECT_EQ(hindsight_bound(configuration, std::nullopt), std::int64_t{1} << 30U);
  EXPECT_EQ(hindsight_bound(configuration, 4'000), 1'000);
  configuration.hindsight_memory = 7;
  EXPECT_EQ(hindsight_bound(configuration, 4'000), 7);
}

class HindsightMemoryTest : public ServiceTest {
 protected:
  [[nodiscard]] Lines steps() const {
    return rows(
        "SELECT json_extract(payload, '$.coalitions') FROM events WHERE kind = 'hindsight_bounded' ORDER BY seq");
  }
  [[nodiscard]] json status() { return ask(R"({"request":"status","contribution":"hindsight"})"); }
};

TEST_F(HindsightMemoryTest, StepsAreEventsAndSaidAndARestartKeepsThem) {
  connect(1);
  snapshot({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = k_begin - 100})});
  service->tick(Instant{now});
  EXPECT_EQ(steps(), Lines{});
  EXPECT_TRUE(status()["hindsight_bounded"].is_null());
  EXPECT_GT(status()["daemon"]["hindsight"]["bytes"], 0);

  site.configuration.hindsight_memory = 1;
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  now += 60;
  service->tick(Instant{now});
  EXPECT_EQ(steps(), Lines{"pairs"});
  json report = status();
  EXPECT_EQ(report["hindsight_bounded"]["coalitions"], "pairs");
  EXPECT_EQ(report["hindsight_bounded"]["bound_bytes"], 1);
  EXPECT_EQ(report["ranked_by"], "hindsight");
  EXPECT_NE(report["ranking"]["sentences"].dump().find("hindsight keeps pairs"), std::string::npos)
      << report["ranking"];

  now += 60;
  service->tick(Instant{now});
  EXPECT_EQ(steps(), (Lines{"pairs", "none"}));
  report = status();
  EXPECT_EQ(report["hindsight_bounded"]["coalitions"], "none");
  EXPECT_EQ(report["ranked_by"], "shapley_rate");
  EXPECT_EQ(report["not_kept"], json({"hindsight"}));
  now += 60;
  service->tick(Instant{now});
  restart();
  service->tick(Instant{now});
  EXPECT_EQ(steps(), (Lines{"pairs", "none"})) << "there is nothing left to give up";
  EXPECT_EQ(status()["ranked_by"], "shapley_rate");
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

}  // namespace
}  // namespace shapley::daemon
