// The pages, the alerts and the dashboard name metrics that there are, and the page all of them.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>

#include "exporter/collector.hpp"

namespace shapley::exporter {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

std::string read(const std::string& path) {
  std::ifstream stream(SHAPLEY_SOURCE_DIR "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Metric> all() {
  std::vector<Metric> metrics(own_metrics().begin(), own_metrics().end());
  metrics.insert(metrics.end(), status_metrics().begin(), status_metrics().end());
  return metrics;
}

Names known() {
  Names names;
  for (const Metric& metric : all()) {
    names.emplace(metric.name);
    if (metric.type != prometheus::MetricType::Histogram) continue;
    for (const char* part : {"_bucket", "_sum", "_count"}) names.insert(std::string(metric.name) + part);
  }
  return names;
}

Names named_in(const std::string& text) {
  const std::regex name(R"(\bshapley_[a-z_]+)");
  Names names;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) names.insert(it->str());
  return names;
}

Names unknown_in(const std::string& text) {
  Names unknown;
  for (const std::string& name : named_in(text))
    if (!known().contains(name)) unknown.insert(name);
  return unknown;
}

const char* word_of(prometheus::MetricType type) {
  return type == prometheus::MetricType::Counter     ? "counter"
         : type == prometheus::MetricType::Histogram ? "histogram"
                                                     : "gauge";
}

TEST(Pages, ThePageListsEveryMetricAndNoOther) {
  const std::string page = read("docs/reference/shapley-exporter.md");
  Names rows;
  for (const Metric& metric : all()) {
    std::string row = "| `";
    row.append(metric.name).append("` | ").append(word_of(metric.type)).append(" | ").append(metric.labels);
    row.append(" | ").append(metric.help).append(" |\n");
    EXPECT_NE(page.find(row), std::string::npos) << row;
    rows.insert(row);
  }
  EXPECT_EQ(unknown_in(page), Names{});
}

TEST(Pages, AlertsAndDashboardNameMetricsThatThereAre) {
  EXPECT_EQ(named_in(read("etc/prometheus/shapley.rules.yml")), Names{"shapley_health"}) << "there is no second judge";
  const std::string dashboard = read("etc/grafana/shapley.json");
  EXPECT_GT(named_in(dashboard).size(), 15U);
  EXPECT_EQ(unknown_in(dashboard), Names{});
  EXPECT_EQ(unknown_in(read("docs/operating/monitoring.md")), Names{});
  EXPECT_EQ(unknown_in("shapley_uptime > 0"), Names{"shapley_uptime"});
}

TEST(Pages, EveryAlertHasItsRow) {
  const std::string page = read("docs/operating/monitoring.md");
  const std::string rules = read("etc/prometheus/shapley.rules.yml");
  const std::regex alert(R"(- alert: (\w+))");
  int alerts = 0;
  for (std::sregex_iterator it(rules.begin(), rules.end(), alert), end; it != end; ++it, ++alerts)
    EXPECT_NE(page.find("| `" + (*it)[1].str() + "` | "), std::string::npos) << (*it)[1];
  EXPECT_EQ(alerts, 4);
}

TEST(Pages, TheDashboardsPanelsStandBesideEachOther) {
  const json dashboard = json::parse(read("etc/grafana/shapley.json"));
  std::set<std::pair<int, int>> taken;
  std::set<int> ids;
  for (const json& panel : dashboard["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    const json& place = panel["gridPos"];
    EXPECT_LE(place["x"].get<int>() + place["w"].get<int>(), 24) << panel["title"];
    for (int x = place["x"]; x < place["x"].get<int>() + place["w"].get<int>(); ++x)
      for (int y = place["y"]; y < place["y"].get<int>() + place["h"].get<int>(); ++y)
        EXPECT_TRUE(taken.emplace(x, y).second) << panel["title"];
    EXPECT_TRUE(panel["type"] == "row" || !panel["targets"].empty()) << panel["title"];
  }
}

}  // namespace
}  // namespace shapley::exporter
