#include "exporter/collector.hpp"

#include <atomic>
#include <memory>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/ctl/fake_daemon.hpp"
#include "tests/exporter/status.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::exporter {
namespace {

using ctl::FakeDaemon;
using ctl::Reaction;
using ctl::TemporaryDirectory;
using nlohmann::json;

double value_of(const std::vector<prometheus::MetricFamily>& families, const std::string& name) {
  for (const auto& family : families)
    if (family.name == name) return family.metric.front().gauge.value;
  return -1;
}

class Collecting : public testing::Test {
 protected:
  [[nodiscard]] Collector collector(std::chrono::milliseconds timeout) {
    return {reader::Endpoint{.socket = directory / "s", .timeout = timeout, .program = "tester"}, 0, log};
  }
  // Of one that is away nothing but the exporter's own metrics is told.
  void expect_away(const std::vector<prometheus::MetricFamily>& families) {
    EXPECT_EQ(value_of(families, "shapley_up"), 0);
    EXPECT_EQ(families.size(), own_metrics().size());
  }

  TemporaryDirectory directory;
  std::ostringstream log;
};

TEST_F(Collecting, AsksAnewAtEachScrape) {
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            EXPECT_EQ(request, json({{"request", "status"}, {"worth", true}}));
                            json status = full_status();
                            status["daemon"]["rebuilds"] = 0;
                            status["daemon"]["stale_after_s"] = ++asked;
                            return status;
                          }));
  const Collector scraped = collector(test::k_timeout);
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_ranks_stale_after_seconds"), 1);
  const auto again = scraped.Collect();
  EXPECT_EQ(value_of(again, "shapley_ranks_stale_after_seconds"), 2);
  EXPECT_EQ(value_of(again, "shapley_up"), 1);
}

TEST_F(Collecting, OfADaemonThatIsAwayTellsThatOnlyAndLogsItOnce) {
  const Collector scraped = collector(test::k_timeout);
  expect_away(scraped.Collect());
  expect_away(scraped.Collect());
  EXPECT_EQ(log.str(), "shapley-exporter: cannot reach shapleyd at " + (directory / "s").string() +
                           ": No such file or directory; is it running (systemctl status shapleyd)?\n");
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) { return full_status(); }));
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_up"), 1);
  EXPECT_NE(log.str().find("shapleyd answers again\n"), std::string::npos);
}

TEST_F(Collecting, OfADaemonThatIsSilentWaitsABoundedTime) {
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{}; });
  expect_away(collector(std::chrono::milliseconds(50)).Collect());
}

TEST_F(Collecting, OfADaemonThatStillStartsTellsThatItIsNotUp) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) {
                            return json{{"error", {{"code", "unavailable"}, {"what", "rebuilding, 37 %"}}}};
                          }));
  expect_away(collector(test::k_timeout).Collect());
}

}  // namespace
}  // namespace shapley::exporter
