// An estimator that is behind what happened, and one that a site does not want: what shapleyd does and says meanwhile.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/state/ranking.hpp"
#include "ledger/audit/audit.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using accounting::EstimatorId;
using nlohmann::json;
using Lines = std::vector<std::string>;

constexpr std::int64_t k_day = 24 * 3600;

class EstimatorsTest : public ServiceTest {
 protected:
  [[nodiscard]] static EstimatorId hindsight() { return accounting::parse_estimator("hindsight").value(); }

  // Physics and chemistry by turns, chemistry's larger; some run on physics' node and end.
  [[nodiscard]] static std::vector<protocol::JobRecord> many_jobs() {
    std::vector<protocol::JobRecord> jobs;
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
    for (const accounting::Rank& rank : recovered->state.ranking(Instant{now}, estimator)) {
      names.push_back(recovered->state.organizations()[rank.organization.value]);
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
  EXPECT_EQ(service->ranks().organizations, ranks_of_ledger(accounting::parse_estimator("shapley_rate").value()));
  const json behind = status();
  EXPECT_EQ(behind["contribution"], "hindsight");
  EXPECT_EQ(behind["ranked_by"], "shapley_rate");
  EXPECT_EQ(behind["behind"], json({"hindsight"}));
  EXPECT_EQ(behind["not_kept"], json::array());
  EXPECT_EQ(phi_members(behind), (std::set<std::string>{"phi_direct", "phi_rate"}));
  EXPECT_EQ(behind["conservation"]["holds"], true);
  for (const json& row : behind["organizations"]) EXPECT_EQ(row["phi"], row["phi_rate"]) << row["name"];

  tick_until([&] { return !service->is_behind(); });
  EXPECT_EQ(service->ranks().organizations, ranks_of_ledger(hindsight()));
  const json caught_up = status();
  EXPECT_EQ(caught_up["ranked_by"], "hindsight");
  EXPECT_EQ(caught_up["behind"], json::array());
  EXPECT_EQ(phi_members(caught_up), (std::set<std::string>{"phi_direct", "phi_hindsight", "phi_rate"}));
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
  EXPECT_EQ(estimators_of_days(), (Lines{"0|direct_contr", "0|shapley_rate"}));
  tick_until([&] { return !service->is_behind(); });
  now += k_day;
  service->process(Instant{now});
  EXPECT_EQ(estimators_of_days(),
            (Lines{"0|direct_contr", "0|shapley_rate", std::to_string(k_day) + "|direct_contr",
                   std::to_string(k_day) + "|hindsight", std::to_string(k_day) + "|shapley_rate"}));
}

TEST_F(EstimatorsTest, HindsightThatIsOffIsNeitherShownNorRecordedNorAudited) {
  site.configuration.hindsight = false;
  restart();
  connect(1);
  snapshot(many_jobs());
  now += k_day;
  service->tick(Instant{now});
  const json report = status("hindsight");
  EXPECT_EQ(report["not_kept"], json({"hindsight"}));
  EXPECT_EQ(report["behind"], json::array());
  EXPECT_EQ(report["ranked_by"], "shapley_rate");
  EXPECT_EQ(phi_members(report), (std::set<std::string>{"phi_direct", "phi_rate"}));
  EXPECT_EQ(status()["ranked_by"], "direct_contr");
  EXPECT_EQ(estimators_of_days(), (Lines{"0|direct_contr", "0|shapley_rate"}));
  ASSERT_TRUE(checkpoint_ends());
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

TEST_F(EstimatorsTest, SwitchingHindsightOnHasTheBooksMadeAgainFromTheFirstEvent) {
  site.configuration.hindsight = false;
  restart();
  connect(1);
  snapshot(many_jobs());
  now += k_day;
  service->tick(Instant{now});
  ASSERT_TRUE(checkpoint_ends());
  site.configuration.hindsight = true;
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_FALSE(status()["daemon"]["rebuild"].is_null());
  tick_until([&] { return status()["daemon"]["rebuild"].is_null() && !service->is_behind(); });
  const json report = status("hindsight");
  EXPECT_EQ(report["not_kept"], json::array());
  EXPECT_EQ(report["ranked_by"], "hindsight");
  auto witness = service->books().ledger().recover_from_scratch();
  ASSERT_TRUE(witness.has_value());
  const auto rows_then = witness->state.standings(Instant{now});
  const auto rows_now = service->books().state().standings(Instant{now});
  ASSERT_EQ(rows_now.size(), rows_then.size());
  for (std::size_t i = 0; i < rows_now.size(); ++i) EXPECT_EQ(rows_now[i].credits, rows_then[i].credits);
  now += k_day;
  service->tick(Instant{now});
  EXPECT_EQ(estimators_of_days(),
            (Lines{"0|direct_contr", "0|shapley_rate", std::to_string(k_day) + "|direct_contr",
                   std::to_string(k_day) + "|hindsight", std::to_string(k_day) + "|shapley_rate"}));
  const auto audited = ledger::audit(service->books().ledger());
  ASSERT_TRUE(audited.has_value());
  for (const ledger::Finding& finding : audited->findings) ADD_FAILURE() << finding.check << ": " << finding.what;

  site.configuration.hindsight = false;
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_TRUE(status()["daemon"]["rebuild"].is_null()) << "leaving out costs no rebuild";
  EXPECT_EQ(status()["not_kept"], json({"hindsight"}));
}

}  // namespace
}  // namespace shapley::daemon
