// Two hosts whose services ask each other, without sockets.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/controllers/controllers.hpp"
#include "daemon/controllers/superseded.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/store/query.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {

inline constexpr std::int64_t k_begin = 1'700'000'000;

// One host: a service with its ledger, and the plugin that feeds it.
class Host {
 public:
  Host(std::string name, const std::int64_t& now) : name_(std::move(name)), now_(now) {
    site_.configuration.peer = "/run/other.sock";
  }

  void start() {
    Service::Options options;
    options.host = name_;
    auto started = Service::start(site_, std::move(options), Instant{now_});
    ASSERT_TRUE(started.has_value()) << started.error().what;
    service_ = std::move(*started);
  }
  // It dies without any farewell.
  void kill() { service_.reset(); }
  [[nodiscard]] bool is_up() const { return service_ != nullptr; }
  Service& operator*() { return *service_; }
  Service* operator->() { return service_.get(); }
  Controllers& controllers() { return *service_->controllers(); }
  [[nodiscard]] nlohmann::json report() { return controllers().report(Instant{now_}); }
  [[nodiscard]] std::string role() { return report()["role"]; }

  // As the other controller or Slurm's program is answered.
  std::string ask(const std::string& request) {
    Answer answered = answer(*service_, request, Instant{now_}, Asker::administrator);
    if (const auto* text = std::get_if<std::string>(&answered)) return *text;
    ReadingThread::Connection reader(site_.configuration.ledger);
    return std::get<ReadingThread::Question>(answered)(reader, {});
  }

  // A new plugin tells of all jobs.
  void feed(const std::vector<protocol::JobRecord>& jobs) {
    service_->begin_session(feeder_hello(++instance_), Instant{now_});
    service_->receive(protocol::SnapshotBegin{1, now_}, Instant{now_});
    protocol::Observations o;
    o.sequence = 2;
    o.observed_at = now_;
    o.jobs = jobs;
    o.nodes = {node_record("n1"), node_record("n2")};
    service_->receive(std::move(o), Instant{now_});
    service_->receive(protocol::SnapshotEnd{3, now_}, Instant{now_});
    service_->process(Instant{now_});
    EXPECT_EQ(service_->acknowledged(instance_), service_->is_active() ? 3U : 0U);
  }

  [[nodiscard]] ledger::Position head() { return *ledger::head_of(service_->books().ledger()); }
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) {
    std::vector<std::string> lines;
    const auto result = ledger::query(service_->books().ledger(), sql);
    if (!result) throw std::runtime_error(result.error().what);
    for (const auto& row : *result) {
      std::string line;
      for (const std::string& column : row) line += (line.empty() ? "" : "|") + column;
      lines.push_back(line);
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> runs() {
    return rows("SELECT job, begin - " + std::to_string(k_begin) + " FROM segments WHERE kind = 'run' ORDER BY job");
  }
  // Of its events and of its books.
  [[nodiscard]] bool is_sound() { return ledger::audit(service_->books().ledger())->clean(); }
  // As `status` tells it, but for what is this daemon's own.
  [[nodiscard]] std::string standings() {
    nlohmann::json status = nlohmann::json::parse(ask(R"({"request":"status"})"));
    return status["organizations"].dump();
  }

  // What the application does when the ledgers parted.
  void begin_anew() {
    const auto parting = controllers().parting();
    ASSERT_TRUE(parting);
    kill();
    const auto aside = set_ledger_aside(site_.configuration.ledger, *parting, Instant{now_});
    ASSERT_TRUE(aside) << aside.error().what;
    start();
  }

 private:
  std::string name_;
  const std::int64_t& now_;
  TempDirectory directory_;
  Site site_ = site_in(directory_);
  std::unique_ptr<Service> service_;
  std::uint64_t instance_ = 0;
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
        done(fail(Errc::unavailable, "does not answer"), Instant{now});
      } else {
        done(to.ask(request), Instant{now});
      }
    });
  }
  // Both ask until neither has more to ask; a second passes.
  void meet() {
    ++now;
    for (int rounds = 0; rounds < 4 || more(); ++rounds) {
      ASSERT_LT(rounds, 1000);
      poll(a, b);
      poll(b, a);
    }
    for (Host* host : {&a, &b}) {
      if (host->is_up()) (*host)->tick(Instant{now});
    }
  }
  [[nodiscard]] bool more() {
    return (a.is_up() && a.controllers().has_more()) || (b.is_up() && b.controllers().has_more());
  }
  void promote(Host& host) {
    host.controllers().want_promotion("uid 0", Instant{now});
    meet();
  }
  void expect_same() {
    EXPECT_EQ(a.head(), b.head());
    EXPECT_EQ(a.runs(), b.runs());
    EXPECT_EQ(a.standings(), b.standings());
    EXPECT_TRUE(a.is_sound());
    EXPECT_TRUE(b.is_sound());
  }
  static protocol::JobRecord run_of(std::uint32_t id) { return running({.id = id, .cpus = 1, .start = k_begin + id}); }
  static std::vector<protocol::JobRecord> runs_of(std::uint32_t first, std::uint32_t last) {
    std::vector<protocol::JobRecord> records;
    for (std::uint32_t id = first; id <= last; ++id) records.push_back(run_of(id));
    return records;
  }

  std::int64_t now = k_begin + 100;
  bool is_cut = false;  // the connection between the two
  Host a{"ctl1", now};
  Host b{"ctl2", now};
};

}  // namespace shapley::daemon
