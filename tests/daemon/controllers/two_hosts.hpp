// Two hosts whose services ask each other, without sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "daemon/controllers/controller_json.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "tests/daemon/records.hpp"
#include "tests/support/must.hpp"

namespace shapley::daemon {

// Clocks: seconds on the wall, and what rises evenly.
struct Clocks {
  std::int64_t now = k_begin + 100;
  std::chrono::milliseconds steady{1'000'000};
  void pass(std::chrono::milliseconds time) {
    steady += time;
    now = k_begin + 100 + (steady.count() - 1'000'000) / 1000;
  }
};

// One host: a service with its ledger, and the plugin that feeds it.
class Host {
 public:
  Host(std::string name, const Clocks& clocks) : name_(std::move(name)), clocks_(clocks) {
    site_.configuration.peer = "/run/other.sock";
  }

  void start() {
    Service::Options options;
    options.host = name_;
    options.instance = name_ + "/" + std::to_string(++lives_);
    options.steady_clock = [this] { return clocks_.steady; };
    auto started = must(Service::start(site_, std::move(options), now()));
    service_ = std::move(started);
    is_fed_ = false;
  }
  // It dies without any farewell.
  void kill() { service_.reset(); }
  [[nodiscard]] std::filesystem::path ledger() const { return site_.configuration.ledger; }
  // It goes on with a file that has no name.
  void unlink_ledger() { std::filesystem::remove(site_.configuration.ledger); }
  // REQUIRES: it does not run.
  void lose_ledger() {
    for (const auto& entry : std::filesystem::directory_iterator(site_.configuration.ledger.parent_path()))
      if (entry.path().filename().string().starts_with("ledger.db")) std::filesystem::remove_all(entry.path());
  }
  [[nodiscard]] bool is_up() const { return service_ != nullptr; }
  Service& operator*() { return *service_; }
  Service* operator->() { return service_.get(); }
  Controllers& controllers() { return *service_->controllers(); }
  [[nodiscard]] nlohmann::json report() { return json_of(controllers().report()); }
  [[nodiscard]] std::string role() { return report()["role"]; }
  [[nodiscard]] Instant now() const { return Instant{clocks_.now + ahead}; }

  // As the other controller or an administrator is answered.
  std::string ask(const std::string& request) {
    Answer answered = answer(*service_, parse_request(request), now(), Asker::administrator);
    if (const auto* text = std::get_if<std::string>(&answered)) return *text;
    ReadingThread::Connection reader(site_.configuration.ledger);
    return std::get<ReadingThread::Question>(answered)(reader, {});
  }

  // A plugin knocks, and goes.
  void connect() { controllers().hold_feeder(); }
  void disconnect() {
    service_->feeder_left(now());
    is_fed_ = false;
  }
  // The plugin sends all jobs. Its last message.
  std::uint64_t feed(const std::vector<protocol::JobUpdate>& jobs) {
    if (!std::exchange(is_fed_, true)) {
      service_->begin_session(feeder_hello(++instance_), now());
      sequence_ = 0;
    }
    service_->receive(protocol::SnapshotBegin{++sequence_, now().value}, now());
    protocol::Observations o;
    o.sequence = ++sequence_;
    o.observed_at = now().value;
    o.jobs = jobs;
    o.nodes = {node_record("n1"), node_record("n2")};
    service_->receive(std::move(o), now());
    service_->receive(protocol::SnapshotEnd{++sequence_, now().value}, now());
    service_->process(now());
    return sequence_;
  }
  // The last message that was acknowledged to the plugin.
  [[nodiscard]] std::uint64_t acknowledged() { return service_->acknowledged(instance_); }

  [[nodiscard]] ledger::Position head() { return *ledger::head_of(service_->books().ledger()); }
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) {
    return rows_of(service_->books().ledger(), sql);
  }
  [[nodiscard]] std::vector<std::string> runs() {
    return rows("SELECT job, begin - " + std::to_string(k_begin) + " FROM segments WHERE kind = 'run' ORDER BY job");
  }
  // Of its events and of its books.
  [[nodiscard]] bool is_sound() { return ledger::audit(service_->books().ledger())->clean(); }
  // As `status` shows it, without what is this daemon's own.
  [[nodiscard]] std::string standings() {
    nlohmann::json status = nlohmann::json::parse(ask(R"({"request":"status"})"));
    return status["organizations"].dump();
  }

  // What the application does when the ledgers parted.
  void begin_again() {
    ASSERT_TRUE(controllers().has_parted());
    kill();
    must(set_ledger_aside(site_.configuration.ledger, now()));
    start();
  }

  std::int64_t ahead = 0;  // of its wall clock, in seconds

 private:
  std::string name_;
  const Clocks& clocks_;
  TempDirectory directory_;
  Site site_ = site_in(directory_);
  std::unique_ptr<Service> service_;
  int lives_ = 0;
  bool is_fed_ = false;
  std::uint64_t instance_ = 0;
  std::uint64_t sequence_ = 0;
};

class ControllersTest : public testing::Test {
 protected:
  void SetUp() override {
    a.start();
    b.start();
  }

  void poll(Host& from, Host& to) {
    if (!from.is_up()) return;
    from.controllers().poll([&](const std::string& request, const Controllers::Done& done) {
      if (is_cut || !to.is_up()) {
        done(fail(Errc::unavailable, "does not answer"), from.now());
      } else {
        done(to.ask(request), from.now());
      }
    });
  }
  // Both ask until neither has more to ask; so long passes.
  void meet(std::chrono::milliseconds time = std::chrono::seconds(1)) {
    clocks.pass(time);
    for (int rounds = 0; rounds < 4 || more(); ++rounds) {
      ASSERT_LT(rounds, 1000);
      poll(a, b);
      poll(b, a);
    }
    for (Host* host : {&a, &b}) {
      if (host->is_up()) (*host)->tick(host->now());
    }
  }
  [[nodiscard]] bool more() {
    return (a.is_up() && a.controllers().has_more()) || (b.is_up() && b.controllers().has_more());
  }
  // slurmctld is primary there: its plugin is admitted.
  void primary(Host& host) {
    host.connect();
    for (int times = 0; host.role() != "active"; ++times) {
      ASSERT_LT(times, 60) << host.report();
      meet();
    }
  }
  // b begins its first copy of what a has been fed: the first part arrives, and no other one.
  void begin_first_copy() {
    clocks.pass(std::chrono::seconds(400));
    a.feed(runs_of(1, 400));
    b.start();
    for (int questions = 0; b.head().sequence == 0; ++questions) {
      ASSERT_LT(questions, 9);
      poll(b, a);
    }
  }
  // It leaves the one and comes to the other.
  void take_over(Host& from, Host& to) {
    if (from.is_up()) from.disconnect();
    primary(to);
  }
  void expect_same() {
    EXPECT_EQ(a.head(), b.head());
    EXPECT_EQ(a.runs(), b.runs());
    EXPECT_EQ(a.standings(), b.standings());
    EXPECT_TRUE(a.is_sound());
    EXPECT_TRUE(b.is_sound());
  }
  static protocol::JobUpdate run_of(std::uint32_t id) { return running({.id = id, .cpus = 1, .start = k_begin + id}); }
  static std::vector<protocol::JobUpdate> runs_of(std::uint32_t first, std::uint32_t last) {
    std::vector<protocol::JobUpdate> records;
    for (std::uint32_t id = first; id <= last; ++id) records.push_back(run_of(id));
    return records;
  }

  Clocks clocks;
  bool is_cut = false;  // the connection between the two
  Host a{"ctl1", clocks};
  Host b{"ctl2", clocks};
};

}  // namespace shapley::daemon
