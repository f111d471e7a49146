// An estimator that is behind what happened, and one that a site does not want: what shapleyd does and says meanwhile.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/estimators/table.hpp"
#include "accounting/state/ranking.hpp"
#include "daemon/books/books.hpp"
#include "ledger/audit/audit.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using accounting::EstimatorId;
using nlohmann::json;
using Lines = std::vector<std::string>;

// The lines of estimators_of_days() for one day.
Lines day_of(std::int64_t day, const accounting::EstimatorSet& estimators) {
  Lines lines;
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    if (estimators.contains(id)) lines.push_back(std::to_string(day) + '|' + std::string(accounting::name_of(id)));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class EstimatorsTest : public ServiceTest {
 protected:
  [[nodiscard]] static EstimatorId hindsight() { return accounting::parse_estimator("hindsight").value(); }
  const accounting::EstimatorSet hindsight_off{hindsight()};

  // Physics and chemistry by turns, chemistry's larger; some run on physics' node and end.
  [[nodiscard]] static std::vector<protocol::JobUpdate> many_jobs() {
    std::vector<protocol::JobUpdate> jobs;
    for (std::uint32_t id = 10; id < 2010; ++id) {
      const bool of_physics = id % 3 == 0;
      jobs.push_back(waiting({.id = id,
                              .account = of_physics ? "phys" : "chem",
                              .node = "n1",
                              .cpus = of_physics ? 1U : 2U,
                              .start = k_begin - 5000 + id}));
    }
    return jobs;
  }

  [[nodiscard]] json status(const std::string& contribution = {}) {
    return ask(contribution.empty() ? R"({"request":"status"})"
                                    : R"({"request":"status","contribution":")" + contribution + R"("})");
  }

  // The ranks by an estimator of books that are made from the ledger alone, and not in steps.
  [[nodiscard]] Lines ranks_of_ledger(EstimatorId estimator) const {
    auto recovered = service->books().ledger().recover_from_scratch();
    EXPECT_TRUE(recovered.has_value());
    Lines names;
    for (const accounting::Rank& rank : recovered->state.advance(Instant{now}).ranking(estimator)) {
      names.push_back(rank.organization);
    }
    return names;
  }

  void tick_until(const std::function<bool()>& done) {
    ASSERT_TRUE(test::eventually([&] {
      service->tick(Instant{now});
      return done();
    }));
  }

  [[nodiscard]] Lines estimators_of_days() const {
    return rows("SELECT DISTINCT day - " + std::to_string(k_begin - k_begin % k_day) +
                ", estimator FROM contributions_by_day ORDER BY 1, 2");
  }
  // The first day without hindsight, the second one with it.
  [[nodiscard]] Lines two_days() const {
    Lines lines = day_of(0, hindsight_off.others());
    for (const std::string& line : day_of(k_day, accounting::EstimatorSet::all())) lines.push_back(line);
    return lines;
  }
};

std::set<std::string> phi_members(const json& report) {
  std::set<std::string> known;
  for (const json& row : report["organizations"]) {
    for (const auto& [name, value] : row.items()) {
      if (name.starts_with("phi_") && !value.is_null()) known.insert(name);
    }
  }
  return known;
}

std::set<std::string> phi_members_of(const accounting::EstimatorSet& estimators) {
  std::set<std::string> members;
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    if (estimators.contains(id)) members.insert("phi_" + std::string(accounting::estimators()[id.value].member));
  }
  return members;
}

TEST_F(EstimatorsTest, RanksAreByTheStandInWhileHindsightIsBehindAndThenByHindsight) {
  site.configuration.contribution = hindsight();
  options.effort = 50;
  restart();
  EXPECT_EQ(status()["ranked_by"], "hindsight");
  connect(1);
  snapshot({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = k_begin - 6000})});
  now += 10;
  see(many_jobs());
  EXPECT_TRUE(service->is_behind());
  EXPECT_EQ(service->ranks().organizations, ranks_of_ledger(accounting::parse_estimator("direct_contr").value()));
  const json behind = status();
  EXPECT_EQ(behind["contribution"], "hindsight");
  EXPECT_EQ(behind["ranked_by"], "direct_contr");
  EXPECT_EQ(behind["behind"], json({"hindsight"}));
  EXPECT_EQ(behind["not_kept"], json::array());
  EXPECT_EQ(phi_members(behind), phi_members_of(hindsight_off.others()));
  EXPECT_EQ(behind["conservation"]["holds"], true);
  for (const json& row : behind["organizations"]) EXPECT_EQ(row["phi"], row["phi_direct"]) << row["name"];

  tick_until([&] { return !service->is_behind(); });
  EXPECT_EQ(service->ranks().organizations, ranks_of_ledger(hindsight()));
  const json caught_up = status();
  EXPECT_EQ(caught_up["ranked_by"], "hindsight");
  EXPECT_EQ(caught_up["behind"], json::array());
  EXPECT_EQ(phi_members(caught_up), phi_members_of(accounting::EstimatorSet::all()));
  for (const json& row : caught_up["organizations"]) EXPECT_EQ(row["phi"], row["phi_hindsight"]) << row["name"];
}

TEST_F(EstimatorsTest, ADayIsRecordedAtOnceWithoutHindsightThatIsBehind) {
  options.effort = 50;
  restart();
  connect(1);
  snapshot({});
  now += 10;
  see(many_jobs());
  ASSERT_TRUE(service->is_behind());
  now = k_begin - k_begin % k_day + k_day + 600;
  service->process(Instant{now});
  EXPECT_EQ(estimators_of_days(), day_of(0, hindsight_off.others()));
  tick_until([&] { return !service->is_behind(); });
  now += k_day;
  service->process(Instant{now});
  EXPECT_EQ(estimators_of_days(), two_days());
}

TEST_F(EstimatorsTest, HindsightThatIsOffIsNeitherShownNorRecordedNorAudited) {
  site.configuration.off = hindsight_off;
  restart();
  connect(1);
  snapshot(many_jobs());
  now += k_day;
  service->tick(Instant{now});
  const json report = status("hindsight");
  EXPECT_EQ(report["not_kept"], json({"hindsight"}));
  EXPECT_EQ(report["behind"], json::array());
  EXPECT_EQ(report["ranked_by"], "direct_contr");
  EXPECT_EQ(phi_members(report), phi_members_of(hindsight_off.others()));
  EXPECT_EQ(status()["ranked_by"], "direct_contr");
  EXPECT_EQ(estimators_of_days(), day_of(0, hindsight_off.others()));
  ASSERT_TRUE(checkpoint_ends());
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

TEST_F(EstimatorsTest, SwitchingHindsightOnHasTheBooksMadeAgainFromTheFirstEvent) {
  site.configuration.off = hindsight_off;
  restart();
  connect(1);
  snapshot(many_jobs());
  now += k_day;
  service->tick(Instant{now});
  ASSERT_TRUE(checkpoint_ends());
  site.configuration.off = {};
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_FALSE(status()["daemon"]["rebuild"].is_null());
  tick_until([&] { return status()["daemon"]["rebuild"].is_null() && !service->is_behind(); });
  const json report = status("hindsight");
  EXPECT_EQ(report["not_kept"], json::array());
  EXPECT_EQ(report["ranked_by"], "hindsight");
  auto witness = service->books().ledger().recover_from_scratch();
  ASSERT_TRUE(witness.has_value());
  const auto rows_then = witness->state.advance(Instant{now}).standings();
  const auto rows_now = service->books().state().advance(Instant{now}).standings();
  ASSERT_EQ(rows_now.size(), rows_then.size());
  for (std::size_t i = 0; i < rows_now.size(); ++i) EXPECT_EQ(rows_now[i].credits, rows_then[i].credits);
  now += k_day;
  service->tick(Instant{now});
  EXPECT_EQ(estimators_of_days(), two_days());
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;

  site.configuration.off = hindsight_off;
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_TRUE(status()["daemon"]["rebuild"].is_null()) << "leaving out costs no rebuild";
  EXPECT_EQ(status()["not_kept"], json({"hindsight"}));
}

// How much memory hindsight may take, and what shapleyd does and says where it takes more.

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
  EXPECT_EQ(report["ranked_by"], "direct_contr");
  EXPECT_EQ(report["not_kept"], json({"hindsight"}));
  now += 60;
  service->tick(Instant{now});
  restart();
  service->tick(Instant{now});
  EXPECT_EQ(steps(), (Lines{"pairs", "none"})) << "there is nothing left to give up";
  EXPECT_EQ(status()["ranked_by"], "direct_contr");
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

}  // namespace
}  // namespace shapley::daemon
