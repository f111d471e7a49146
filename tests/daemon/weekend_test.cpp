// A weekend that comes at once: shapleyd was away for three days, and the plugin kept what happened.
#include <ctime>
#include <map>

#include <gtest/gtest.h>

#include "busy_days.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger.hpp"
#include "process.hpp"
#include "records.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::daemon {
namespace {

constexpr std::int64_t k_day_s = 24 * 3600;

class WeekendTest : public testing::Test, protected ProcessSite {
 protected:
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
};

TEST_F(WeekendTest, CostsOneRebuildAndNothingIsLost) {
  const std::int64_t friday = std::time(nullptr) - 10 * k_day_s;
  const BusyDays week = busy_days(friday - 4 * k_day_s, 4 * k_day_s, 100);
  const BusyDays weekend = busy_days(friday, 3 * k_day_s, 10'000);
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

  const auto ledger = must(ledger::Ledger::open(directory / "ledger.db", ledger::OpenMode::read_only));
  const auto runs =
      must(ledger::query(ledger, "SELECT job, begin, end FROM segments WHERE kind = 'run' ORDER BY job, begin"));
  std::map<std::uint32_t, std::string> booked;
  for (const auto& row : runs) booked[static_cast<std::uint32_t>(std::stoul(row[0]))] += row[1] + "-" + row[2] + " ";
  EXPECT_EQ(booked, expected);
  const auto report = must(ledger::audit(ledger));
  for (const ledger::Finding& finding : report.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

}  // namespace
}  // namespace shapley::daemon
