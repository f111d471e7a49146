// Two real shapleyds that are each other's peer: killed, stopped, promoted, set aside.
#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/store/query.hpp"
#include "tests/daemon/process.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/test_client.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

const std::int64_t k_start = std::time(nullptr) - 3600;

protocol::JobRecord run_of(std::uint32_t id) {
  return running({.id = id, .cpus = 1, .start = k_start + id});
}

// One host's daemon and the plugin that feeds it.
class Daemon {
 public:
  void configure(const Daemon& other) {
    std::ofstream(directory_ / "shapleyd.yaml") << yaml_in(directory_) << "peer: " << other.socket().string() << "\n";
  }
  void start() {
    process_ = std::make_unique<Process>(std::vector<std::string>{"--config", (directory_ / "shapleyd.yaml").string()},
                                         directory_ / "log");
    ASSERT_TRUE(eventually([&] { return answers(socket()); })) << logged();
  }
  void kill() {
    feeder_.reset();
    process_.reset();  // SIGKILL
  }
  void signal(int number) { process_->signal(number); }
  void stop() {
    feeder_.reset();
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0) << logged();
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
  void promote() const {
    ASSERT_TRUE(eventually([&] {
      const json progress = ask(R"({"request":"promote","by":"a test"})");
      return progress.is_object() && progress.value("role", "") == "active";
    })) << logged();
  }

  // A new plugin, with a snapshot of these runs. Why it was refused, or empty.
  std::string connect(const std::vector<protocol::JobRecord>& jobs) {
    feeder_ = std::make_unique<TestClient>(socket());
    feeder_->send(feeder_hello(++instance_));
    const auto answer = feeder_->next();
    if (answer && std::holds_alternative<protocol::Refused>(*answer))
      return std::get<protocol::Refused>(*answer).reason;
    sequence_ = 0;
    feeder_->send(protocol::SnapshotBegin{++sequence_, std::time(nullptr)});
    send(jobs);
    feeder_->send(protocol::SnapshotEnd{++sequence_, std::time(nullptr)});
    await_acknowledgement();
    return {};
  }
  void feed(const std::vector<protocol::JobRecord>& jobs) {
    send(jobs);
    await_acknowledgement();
  }

  [[nodiscard]] std::filesystem::path socket() const { return directory_ / "sock"; }
  [[nodiscard]] std::filesystem::path ledger() const { return directory_ / "ledger.db"; }
  [[nodiscard]] std::string logged() const {
    std::ifstream in(directory_ / "log");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  void send(const std::vector<protocol::JobRecord>& jobs) {
    protocol::Observations o;
    o.sequence = ++sequence_;
    o.observed_at = std::time(nullptr);
    o.jobs = jobs;
    o.nodes = {node_record("n1"), node_record("n2")};
    feeder_->send(std::move(o));
  }
  void await_acknowledgement() {
    while (!testing::Test::HasFailure() && feeder_->expect<protocol::Ack>().sequence < sequence_) continue;
  }

  TempDirectory directory_;
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
    a.promote();
  }
  static void expect_follows(const Daemon& standby, const Daemon& active) {
    EXPECT_TRUE(eventually([&] {
      const json controller = standby.controller();
      return controller.value("state", "") == "follows" && standby.events() == active.events();
    })) << standby.controller()
        << standby.logged();
  }
  // Both stopped: one chain, sound, with these runs.
  void expect_same_ledgers(std::size_t runs) {
    a.stop();
    b.stop();
    const auto first = ledger::Ledger::open(a.ledger(), ledger::OpenMode::read_only);
    const auto second = ledger::Ledger::open(b.ledger(), ledger::OpenMode::read_only);
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(*ledger::head_of(*first), *ledger::head_of(*second));
    EXPECT_EQ(*first->identity(), *second->identity());
    EXPECT_TRUE(ledger::audit(*first)->clean());
    EXPECT_TRUE(ledger::audit(*second)->clean());
    EXPECT_EQ((*ledger::query(*second, "SELECT count(*) FROM segments WHERE kind = 'run'"))[0][0],
              std::to_string(runs));
  }

  Daemon a;
  Daemon b;
};

TEST_F(PairTest, a_standby_follows_and_refuses_a_plugin) {
  EXPECT_EQ(a.connect({run_of(1)}), "");
  a.feed({run_of(2)});
  expect_follows(b, a);
  EXPECT_NE(b.connect({run_of(3)}).find("standby"), std::string::npos);
  EXPECT_EQ(a.ask(R"({"request":"demote"})")["error"]["code"], "conflict");
  expect_same_ledgers(2);
}

TEST_F(PairTest, a_planned_takeover_loses_nothing) {
  EXPECT_EQ(a.connect({run_of(1)}), "");
  for (std::uint32_t job = 2; job <= 50; ++job) a.feed({run_of(job)});
  b.promote();
  EXPECT_NE(a.connect({run_of(60)}).find("standby"), std::string::npos);
  EXPECT_EQ(b.connect({run_of(51)}), "");
  expect_follows(a, b);
  EXPECT_EQ(b.controller()["epoch"], 2);
  EXPECT_TRUE(a.controller()["set_aside"].empty());
  expect_same_ledgers(51);
}

TEST_F(PairTest, a_standby_that_is_killed_again_and_again_has_the_same_chain) {
  EXPECT_EQ(a.connect({run_of(1)}), "");
  std::uint32_t job = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20; ++i) a.feed({run_of(++job)});
    b.kill();
    for (int i = 0; i < 20; ++i) a.feed({run_of(++job)});
    b.start();
  }
  expect_follows(b, a);
  expect_same_ledgers(job);
}

TEST_F(PairTest, an_active_one_that_is_killed_comes_back_and_follows) {
  EXPECT_EQ(a.connect({run_of(1), run_of(2)}), "");
  expect_follows(b, a);
  // What b does not get to see: two runs, of which Slurm's records tell it of one.
  b.signal(SIGSTOP);
  a.feed({run_of(3), run_of(4)});
  a.kill();
  b.signal(SIGCONT);
  b.promote();
  EXPECT_EQ(b.connect({run_of(1), run_of(2), run_of(3), run_of(5)}), "");
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
  a.promote();
  EXPECT_EQ(a.connect({run_of(1), run_of(6)}), "");
  expect_follows(b, a);
  expect_same_ledgers(5);
}

TEST_F(PairTest, an_active_one_that_is_restarted_goes_on) {
  EXPECT_EQ(a.connect({run_of(1)}), "");
  a.kill();
  a.start();
  EXPECT_TRUE(eventually([&] { return a.controller().value("role", "") == "active"; })) << a.logged();
  EXPECT_EQ(a.connect({run_of(1), run_of(2)}), "");
  EXPECT_EQ(a.controller()["epoch"], 1);
  expect_follows(b, a);
  expect_same_ledgers(2);
}

}  // namespace
}  // namespace shapley::daemon
