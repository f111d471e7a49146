// Two real shapleyds that are each other's peer: fed, killed, stopped, set aside.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "tests/daemon/process.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/test_client.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

const std::int64_t k_start = std::time(nullptr) - 3600;

protocol::JobUpdate run_of(std::uint32_t id) {
  return running({.id = id, .cpus = 1, .start = k_start + id});
}

// One host's daemon and the plugin that feeds it.
class Daemon : public ProcessSite {
 public:
  using ProcessSite::configure;
  void configure(const Daemon& other) { configure(yaml_in(directory) + "peer: " + other.socket().string() + "\n"); }
  void start() { process_ = ProcessSite::start(); }
  void kill() {
    feeder_.reset();
    process_.reset();  // SIGKILL
  }
  void signal(int number) { process_->signal(number); }
  void stop() {
    feeder_.reset();
    ProcessSite::stop(*process_);
    process_.reset();
  }

  [[nodiscard]] json ask(const std::string& request) const {
    TestClient client(socket());
    if (!client.is_connected()) return nullptr;
    client.send(protocol::Hello{});
    const auto welcome = client.next();
    if (!welcome || !std::holds_alternative<protocol::Welcome>(*welcome)) return nullptr;
    client.send(protocol::Query{1, request});
    const auto reply = client.next();
    if (!reply || !std::holds_alternative<protocol::Reply>(*reply)) return nullptr;
    return json::parse(std::get<protocol::Reply>(*reply).json);
  }
  [[nodiscard]] json controller() const {
    const json status = ask(R"({"request":"status"})");
    return status.is_null() ? json::object() : status["daemon"]["controller"];
  }
  [[nodiscard]] std::int64_t events() const {
    const json status = ask(R"({"request":"status"})");
    return status.is_null() ? -1 : status["daemon"]["events"].get<std::int64_t>();
  }
  // A new plugin connects; it is admitted when it may feed. Why it was refused, or empty.
  std::string connect() {
    feeder_ = std::make_unique<TestClient>(socket());
    feeder_->send(feeder_hello(++instance_));
    sequence_ = 0;
    const auto answer = feeder_->next();
    if (answer && std::holds_alternative<protocol::Refused>(*answer))
      return std::get<protocol::Refused>(*answer).reason;
    EXPECT_TRUE(answer && std::holds_alternative<protocol::Welcome>(*answer)) << logged();
    return {};
  }
  // With a snapshot of these runs.
  void connect(const std::vector<protocol::JobUpdate>& jobs) {
    ASSERT_EQ(connect(), "");
    feeder_->send(protocol::SnapshotBegin{++sequence_, std::time(nullptr)});
    send(jobs);
    feeder_->send(protocol::SnapshotEnd{++sequence_, std::time(nullptr)});
    await_acknowledgement();
  }
  void disconnect() { feeder_.reset(); }
  void feed(const std::vector<protocol::JobUpdate>& jobs) {
    send(jobs);
    await_acknowledgement();
  }

 private:
  void send(const std::vector<protocol::JobUpdate>& jobs) {
    protocol::Observations o;
    o.sequence = ++sequence_;
    o.observed_at = std::time(nullptr);
    o.jobs = jobs;
    o.nodes = {node_record("n1"), node_record("n2")};
    feeder_->send(std::move(o));
  }
  void await_acknowledgement() { await(*feeder_, sequence_); }

  std::unique_ptr<Process> process_;
  std::unique_ptr<TestClient> feeder_;
  std::uint64_t instance_ = 0;
  std::uint64_t sequence_ = 0;
};

class PairTest : public testing::Test {
 protected:
  void SetUp() override {
    a.configure(b);
    b.configure(a);
    a.start();
    b.start();
  }
  static void expect_follows(const Daemon& standby, const Daemon& active) {
    EXPECT_TRUE(eventually([&] {
      const json controller = standby.controller();
      return controller.value("state", "") == "follows" && standby.events() == active.events();
    })) << standby.controller()
        << standby.logged();
  }
  // Both stopped: one chain, sound, with these runs. The one that writes may have measured the residual run time after
  // the other one was stopped: the shorter chain is the beginning of the longer one.
  void expect_same_ledgers(std::size_t runs) {
    a.stop();
    b.stop();
    const auto first = ledger::Ledger::open(a.ledger(), ledger::OpenMode::read_only);
    const auto second = ledger::Ledger::open(b.ledger(), ledger::OpenMode::read_only);
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(*first->identity(), *second->identity());
    const std::int64_t shared = std::min(ledger::head_of(*first)->sequence, ledger::head_of(*second)->sequence);
    const std::string at = " FROM events WHERE seq = " + std::to_string(shared);
    EXPECT_EQ((*ledger::query(*first, "SELECT hex(hash)" + at))[0][0],
              (*ledger::query(*second, "SELECT hex(hash)" + at))[0][0]);
    for (const ledger::Ledger* each : {&*first, &*second}) {
      EXPECT_TRUE(ledger::audit(*each)->clean());
      EXPECT_EQ((*ledger::query(*each, "SELECT count(*) FROM segments WHERE kind = 'run'"))[0][0],
                std::to_string(runs));
    }
  }

  Daemon a;
  Daemon b;
};

TEST_F(PairTest, the_other_one_follows_and_acknowledgements_wait_for_it) {
  a.connect({run_of(1)});
  a.feed({run_of(2)});
  expect_follows(b, a);
  ASSERT_TRUE(eventually([&] { return a.controller()["in_step"] == true; }));
  const json before = a.controller();
  for (std::uint32_t job = 3; job <= 12; ++job) {
    a.feed({run_of(job)});
    // Whatever was acknowledged in step is there.
    const json now = a.controller();
    if (now["acknowledged_alone"] == before["acknowledged_alone"]) {
      EXPECT_GE(b.events(), now["confirmed"]);
    }
  }
  expect_follows(b, a);
  expect_same_ledgers(12);
}

TEST_F(PairTest, an_order_is_on_both_hosts_or_says_that_it_is_alone) {
  a.connect({run_of(1)});
  expect_follows(b, a);
  ASSERT_TRUE(eventually([&] { return a.controller()["in_step"] == true; }));
  const auto order = [&] {
    return a.ask(R"({"request":"adjust","reason":"agreed","settle":{"from":"chemistry","to":"physics",)"
                 R"("processor_seconds":"3600","at":)" +
                 std::to_string(std::time(nullptr)) + "}}");
  };
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = a.events();
    const json answered = order();
    ASSERT_TRUE(answered.contains("adjustment")) << answered;
    if (!answered.contains("alone")) {
      EXPECT_GT(b.events(), before);
    }
  }
  b.signal(SIGSTOP);
  const json alone = order();
  b.signal(SIGCONT);
  EXPECT_EQ(alone.value("alone", false), true) << alone;
  expect_follows(b, a);
}

TEST_F(PairTest, a_planned_takeover_loses_nothing) {
  a.connect({run_of(1)});
  for (std::uint32_t job = 2; job <= 50; ++job) a.feed({run_of(job)});
  a.disconnect();
  b.connect({run_of(51)});
  expect_follows(a, b);
  EXPECT_TRUE(a.controller()["set_aside"].empty());
  EXPECT_EQ(b.controller()["began_host"], b.controller()["host"]);
  expect_same_ledgers(51);
}

TEST_F(PairTest, one_that_follows_and_is_killed_again_and_again_has_the_same_chain) {
  a.connect({run_of(1)});
  std::uint32_t job = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) a.feed({run_of(++job)});
    b.kill();
    for (int i = 0; i < 8; ++i) a.feed({run_of(++job)});
    b.start();
  }
  expect_follows(b, a);
  expect_same_ledgers(job);
}

TEST_F(PairTest, one_that_is_killed_with_events_of_its_own_comes_back_and_follows) {
  a.connect({run_of(1), run_of(2)});
  expect_follows(b, a);
  // What b does not get to see: two runs, one of which it finds in Slurm's records.
  b.signal(SIGSTOP);
  // Nor in the answer to what it asked before that.
  EXPECT_EQ(a.controller()["role"], "active");
  a.feed({run_of(3), run_of(4)});
  EXPECT_EQ(a.controller()["in_step"], false);
  a.kill();
  b.signal(SIGCONT);
  b.connect({run_of(1), run_of(2), run_of(3), run_of(5)});
  a.start();
  expect_follows(a, b);
  ASSERT_TRUE(eventually([&] {
    const json aside = a.controller()["set_aside"];
    return aside.size() == 1 && aside[0]["absent"] == 2;
  })) << a.controller()
      << a.logged();
  const json aside = a.controller()["set_aside"][0];
  EXPECT_EQ(aside["events"], 4);
  EXPECT_TRUE(std::filesystem::exists(aside["file"].get<std::string>()));
  // And back again.
  b.disconnect();
  a.connect({run_of(1), run_of(6)});
  expect_follows(b, a);
  expect_same_ledgers(5);
}

TEST_F(PairTest, one_that_is_restarted_goes_on_with_its_plugin) {
  a.connect({run_of(1)});
  a.kill();
  a.start();
  a.connect({run_of(1), run_of(2)});
  expect_follows(b, a);
  expect_same_ledgers(2);
}

// A new host, while the one with the books is away.
TEST_F(PairTest, an_empty_one_refuses_the_plugin_while_the_other_one_is_away) {
  a.kill();
  EXPECT_NE(b.connect().find("shapleyctl begin"), std::string::npos);
  EXPECT_EQ(b.events(), 0);
  ASSERT_EQ(b.ask(R"({"request":"begin"})")["allowed"], true);
  b.connect({run_of(1)});
  EXPECT_EQ(b.controller()["role"], "active");
  b.stop();
}

}  // namespace
}  // namespace shapley::daemon
