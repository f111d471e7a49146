// The pages, the alerts and the dashboard name metrics that there are, and the page all of them.
#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "exporter/page.hpp"
#include "tests/support/waiting.hpp"

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

// The page over HTTP, and those who would keep a scraper out.

class Serving : public testing::Test {
 protected:
  void start(PageServer::Limits limits, std::string page = "up 1\n") {
    stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    auto opened = PageServer::open(
        "127.0.0.1:0",
        [this, page = std::move(page)] {
          ++made;
          return page;
        },
        limits);
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    server_ = std::make_unique<PageServer>(std::move(*opened));
    thread_ = std::thread([this] { server_->serve(stop_.get()); });
  }
  void TearDown() override {
    ::eventfd_write(stop_.get(), 1);
    const test::Deadline deadline("the server's end");
    thread_.join();
  }

  [[nodiscard]] Descriptor connect() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(server_->port());
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    return socket;
  }
  static void say(const Descriptor& socket, const std::string& text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Until the server ends the connection.
  static std::string all_of(const Descriptor& socket) {
    const test::Deadline deadline("the end of a connection");
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
      const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (n <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  [[nodiscard]] std::string scrape(const std::string& request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") const {
    const Descriptor socket = connect();
    say(socket, request);
    return all_of(socket);
  }
  static PageServer::Limits no_hurry() {
    return {.request = test::k_timeout, .answer = test::k_timeout, .page = test::k_timeout};
  }

  std::atomic<int> made = 0;

 private:
  Descriptor stop_;
  std::unique_ptr<PageServer> server_;
  std::thread thread_;
};

// 226 silent connections stopped scrapes.
TEST_F(Serving, SilentConnectionsKeepNoScraperOut) {
  start(no_hurry());
  std::vector<Descriptor> silent;
  for (int i = 0; i < 400; ++i) {
    silent.push_back(connect());
    if (i % 2 == 0) say(silent.back(), "GET /metrics HTTP/1.1\r\n");
  }
  const std::string answer = scrape();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nup 1\n")) << answer;
  EXPECT_EQ(all_of(silent.front()), "") << "the oldest gave way";
}

TEST_F(Serving, WhoSaysNothingIsHungUpOn) {
  start({.request = std::chrono::milliseconds(1)});
  EXPECT_EQ(all_of(connect()), "");
  const Descriptor half = connect();
  ::send(half.get(), "GET /metrics", 12, MSG_NOSIGNAL);
  EXPECT_EQ(all_of(half), "");
}

TEST_F(Serving, WhoTakesNothingKeepsNoOtherWaiting) {
  start(no_hurry(), std::string(32U << 20U, 'x'));
  std::vector<Descriptor> lazy;
  for (int i = 0; i < 3; ++i) {
    lazy.push_back(connect());
    say(lazy.back(), "GET /metrics HTTP/1.0\r\n\r\n");
  }
  EXPECT_GT(scrape().size(), 32U << 20U);
  EXPECT_GT(all_of(lazy.back()).size(), 32U << 20U);
}

TEST_F(Serving, ScrapesOfTheSameMomentAskTheDaemonOnce) {
  start(no_hurry());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scrape().ends_with("up 1\n"));
  EXPECT_EQ(made, 1);
}

TEST_F(Serving, OtherRequestsAreRefused) {
  start(no_hurry());
  EXPECT_TRUE(scrape("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(scrape("GET /metricsx HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(scrape("GET /metrics?a=b HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(scrape("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_EQ(scrape(std::string(8192, 'x')), "") << "no request is so long";
  EXPECT_EQ(made, 1);
}

TEST(Listening, NeedsAnAddressAndPort) {
  const auto page = [] { return std::string(); };
  for (const char* wrong : {"", "9753", "localhost:9753", "127.0.0.1", "192.0.2.1:9753", "127.0.0.1:x"}) {
    EXPECT_FALSE(PageServer::open(wrong, page, {}).has_value()) << wrong;
  }
  EXPECT_TRUE(PageServer::open("127.0.0.1:0", page, {}).has_value());
}

}  // namespace
}  // namespace shapley::exporter
