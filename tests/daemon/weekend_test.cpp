// A weekend that comes at once: shapleyd was away for three days, and the plugin kept what happened.
#include <csignal>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "busy_days.hpp"
#include "daemon/exit_code.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/query.hpp"
#include "process.hpp"
#include "records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::int64_t k_day = 24 * 3600;

class WeekendTest : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(directory / "shapleyd.yaml") << yaml_in(directory); }

  [[nodiscard]] std::filesystem::path socket() const { return directory / "sock"; }
  [[nodiscard]] std::string logged() const {
    std::ifstream in(directory / "log");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::unique_ptr<Process> start() const {
    const std::vector<std::string> arguments{"--config", (directory / "shapleyd.yaml").string()};
    auto process = std::make_unique<Process>(arguments, directory / "log");
    EXPECT_TRUE(eventually([&] { return answers(socket()); })) << logged();
    return process;
  }

  void stop(Process& daemon) const {
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), static_cast<int>(ExitCode::success)) << logged();
  }

  std::unique_ptr<TestClient> connect(const protocol::Hello& hello) const {
    auto client = std::make_unique<TestClient>(socket());
    client->send(hello);
    client->expect<protocol::Welcome>();
    return client;
  }

  [[nodiscard]] nlohmann::json status() const { return connect({})->ask(R"({"request":"status"})"); }

  static void await(TestClient& feeder, std::uint64_t sequence) {
    while (!HasFailure() && feeder.expect<protocol::Ack>().sequence < sequence) continue;
  }

  // All records of the moment: both nodes, no job.
  static void send_snapshot(TestClient& feeder, std::uint64_t& sequence) {
    const std::int64_t now = std::time(nullptr);
    feeder.send(protocol::SnapshotBegin{++sequence, now});
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.nodes = {node_record("n1"), node_record("n2")};
    feeder.send(std::move(o));
    feeder.send(protocol::SnapshotEnd{++sequence, now});
    await(feeder, sequence);
  }

  static void send(TestClient& feeder, const std::vector<protocol::Observations>& frames, std::uint64_t& sequence) {
    for (protocol::Observations frame : frames) {
      frame.sequence = ++sequence;
      feeder.send(std::move(frame));
    }
    await(feeder, sequence);
  }

  TempDirectory directory;
};

TEST_F(WeekendTest, CostsOneRebuildAndNothingIsLost) {
  const std::int64_t friday = std::time(nullptr) - 10 * k_day;
  const BusyDays week = busy_days(friday - 4 * k_day, 4 * k_day, 100);
  const BusyDays weekend = busy_days(friday, 3 * k_day, 10'000);
  ASSERT_GT(weekend.runs.size(), 100U);
  std::uint64_t sequence = 0;
  {
    const auto daemon = start();
    const auto feeder = connect(feeder_hello(1));
    auto frames = week.frames;
    frames.front().nodes = {node_record("n1"), node_record("n2")};
    send(*feeder, frames, sequence);
    stop(*daemon);
  }
  const auto daemon = start();  // which remembers the last two days only
  const auto feeder = connect(feeder_hello(1));
  sequence = 0;  // the daemon's new life knows nothing of the old numbers
  send(*feeder, weekend.frames, sequence);
  const nlohmann::json during = status();
  EXPECT_TRUE(during["daemon"]["rebuild"].is_object()) << during.dump();
  EXPECT_EQ(during["daemon"]["rebuilds"], 0) << during.dump();
  send_snapshot(*feeder, sequence);
  EXPECT_TRUE(eventually([&] { return status()["daemon"]["rebuild"].is_null(); })) << logged();
  const nlohmann::json after = status();
  EXPECT_EQ(after["daemon"]["rebuilds"], 1) << logged();

  std::map<std::string, std::int64_t> got;
  std::map<std::uint32_t, std::string> expected;
  for (const BusyDays* days : {&week, &weekend}) {
    for (const BusyDays::Run& run : days->runs) {
      got[run.account] += (run.end - run.start);
      expected[run.job] += std::to_string(run.start) + "-" + std::to_string(run.end) + " ";
    }
  }
  for (const nlohmann::json& row : after["organizations"]) {
    const auto found = got.find(row["name"] == "physics" ? "phys" : "chem");
    if (row["name"] != "physics" && row["name"] != "chemistry") continue;
    EXPECT_EQ(row["got_processor_seconds"], std::to_string(found->second)) << row.dump();
  }
  stop(*daemon);

  const auto ledger = ledger::Ledger::open(directory / "ledger.db", ledger::OpenMode::read_only);
  ASSERT_TRUE(ledger.has_value()) << ledger.error().what;
  const auto runs =
      ledger::query(*ledger, "SELECT job, begin, end FROM segments WHERE kind = 'run' ORDER BY job, begin");
  ASSERT_TRUE(runs.has_value()) << runs.error().what;
  std::map<std::uint32_t, std::string> booked;
  for (const auto& row : *runs) booked[static_cast<std::uint32_t>(std::stoul(row[0]))] += row[1] + "-" + row[2] + " ";
  EXPECT_EQ(booked, expected);
  const auto report = ledger::audit(*ledger);
  ASSERT_TRUE(report.has_value()) << report.error().what;
  for (const ledger::Finding& finding : report->findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

}  // namespace
}  // namespace shapley::daemon
