// shapley_health and `shapleyctl health` are one judgement of one answer.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ctl/commands/health.hpp"
#include "exporter/collector.hpp"
#include "tests/ctl/fake_daemon.hpp"
#include "tests/health/well.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::exporter {
namespace {

using ctl::FakeDaemon;
using nlohmann::json;

constexpr health::Limits k_limits{.backup_age = Duration{3600}, .audit_age = Duration{86'400}};

// Statuses in which one rule, several rules or none find something.
std::vector<json> statuses() {
  const health::Report well = health::well();
  std::vector<health::Report> reports(6, well);
  reports[1].plugin.connected = false;
  reports[2].daemon.lost_runs = 3;
  reports[3].daemon.failures = {{"commit", "the disk is full"}, {"sign a head", "no key"}};
  reports[3].daemon.lost_runs = 1;
  reports[4].daemon.backup = {.at = health::k_now - Duration{3601}, .sequence = 5};
  reports[4].daemon.audit = {.at = health::k_now, .sequence = 5, .clean = false};
  reports[5].clusters = {{.cluster = "south"}, {.cluster = "west", .stated_at = health::k_now, .ahead = Duration{2}}};
  std::vector<json> statuses;
  for (const health::Report& report : reports) {
    json& status = statuses.emplace_back(json_of(report));
    fill<ledger::StatusReport>(status);
  }
  return statuses;
}

class Verdicts : public testing::Test {
 protected:
  // What a scrape shows by rule.
  std::map<std::string, double> scraped(const health::Limits& limits) {
    const Collector collector(endpoint(), 0, limits, log);
    std::map<std::string, double> by_rule;
    for (const prometheus::MetricFamily& family : collector.Collect()) {
      if (family.name != "shapley_health") continue;
      for (const auto& sample : family.metric) {
        EXPECT_EQ(sample.label.size(), 1U);
        EXPECT_TRUE(by_rule.emplace(sample.label.front().value, sample.gauge.value).second);
      }
    }
    return by_rule;
  }
  // The line of `shapleyctl health`, and its state.
  [[nodiscard]] ctl::Health said(const health::Limits& limits) const {
    return ctl::health_of(ctl::ask_for<health::Report>(endpoint(), {{"request", "status"}}), limits);
  }
  // The worst state of all rules is that of shapleyctl, which names every cause of the rules that are not fine.
  void expect_one_judgement(const health::Limits& limits) {
    const auto by_rule = scraped(limits);
    double worst = 0;
    for (const auto& [rule, state] : by_rule) worst = std::max(worst, state);
    EXPECT_EQ(worst, static_cast<double>(said(limits).state)) << ctl::health_line(said(limits));
  }
  [[nodiscard]] rpc_client::Endpoint endpoint() const {
    return {.socket = directory / "s", .timeout = test::k_timeout, .program = "tester"};
  }

  TempDirectory directory;
  std::ostringstream log;
};

TEST_F(Verdicts, OfEveryStatusAreThoseOfShapleyctl) {
  json status;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) { return status; }));
  for (const json& each : statuses()) {
    status = each;
    for (const health::Limits& limits : {health::Limits{}, k_limits}) {
      expect_one_judgement(limits);
      std::map<std::string, double> judged;
      const auto report = from_json<health::Report>(status);
      ASSERT_TRUE(report) << report.error().what;
      for (const health::Verdict& verdict : health::judge(*report, limits))
        judged.emplace(verdict.rule, static_cast<double>(verdict.state()));
      EXPECT_EQ(scraped(limits), judged);
    }
  }
}

TEST_F(Verdicts, FineRulesAreShownAndThoseWithoutALimitAreNot) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) { return statuses().front(); }));
  auto by_rule = scraped({});
  EXPECT_EQ(by_rule["plugin"], 0);
  EXPECT_EQ(by_rule["daemon"], 0);
  EXPECT_FALSE(by_rule.contains("backup"));
  EXPECT_EQ(scraped(k_limits)["backup"], 1);
}

TEST_F(Verdicts, OfADaemonThatIsAwayOrRefusesAreThoseOfShapleyctl) {
  EXPECT_EQ(scraped(k_limits), (std::map<std::string, double>{{"daemon", 2}}));
  expect_one_judgement(k_limits);
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) {
                            return json{{"error", {{"code", "denied"}, {"what", "no"}}}};
                          }));
  EXPECT_EQ(scraped(k_limits), (std::map<std::string, double>{{"daemon", 3}}));
  expect_one_judgement(k_limits);
}

}  // namespace
}  // namespace shapley::exporter
