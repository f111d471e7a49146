// Tests of the service without sockets: frames in, time passed in.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/world/host_clock.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {

inline constexpr std::int64_t k_hour = 3600;

// A disk that takes nothing more, for as long as the object lives.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

// A service over a ledger of its own, with a clock that the test turns.
class ServiceTest : public testing::Test {
 protected:
  void SetUp() override { restart(); }

  // A new daemon on the same ledger. The old one dies without any farewell.
  void restart() {
    service.reset();
    auto started = Service::start(site, options, Instant{now});
    ASSERT_TRUE(started.has_value()) << started.error().what;
    service = std::move(*started);
  }

  void connect(std::uint64_t instance) {
    service->begin_session(feeder_hello(instance), Instant{now});
    instance_ = instance;
    sequence = service->acknowledged(instance);
  }

  void snapshot(std::vector<protocol::JobUpdate> jobs) {
    service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.nodes = {node_record("n1"), node_record("n2")};
    o.privacy = {privacy};
    service->receive(std::move(o), Instant{now});
    service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
    service->process(Instant{now});
  }

  void queue(std::vector<protocol::JobUpdate> jobs, std::vector<std::uint32_t> gone = {}) {
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.gone = std::move(gone);
    service->receive(std::move(o), Instant{now});
  }

  void see(std::vector<protocol::JobUpdate> jobs, std::vector<std::uint32_t> gone = {}) {
    queue(std::move(jobs), std::move(gone));
    service->process(Instant{now});
  }

  // Weeks go by; what ended before the horizon leaves the State, and the daemon is restarted from its checkpoint.
  void forget_the_past() {
    now += 21 * 24 * 3600;
    service->tick(Instant{now});
    ASSERT_TRUE(checkpoint_ends());
    service->stop(Instant{now});
    ASSERT_GT(service->books().state().memory_horizon(), Instant{k_begin});
    restart();
    connect(instance_ + 1);
  }

  // The clock stands meanwhile: no test here depends on how long a checkpoint takes.
  [[nodiscard]] bool checkpoint_ends() {
    return test::eventually([&] {
      service->tick(Instant{now});
      return !service->books().is_saving_checkpoint();
    });
  }

  // The answer to a request, from the ledger's tables, too, as a reader gets it.
  [[nodiscard]] nlohmann::json ask(const std::string& request, std::uint32_t user_id = k_unknown_user) {
    Answer answered = answer(*service, parse_request(request), Instant{now}, Asker::anybody, user_id);
    if (const auto* text = std::get_if<std::string>(&answered)) return nlohmann::json::parse(*text);
    ReadingThread::Connection reader(site.configuration.ledger);
    return nlohmann::json::parse(std::get<ReadingThread::Question>(answered)(reader, {}));
  }

  [[nodiscard]] std::uint64_t acknowledged() const { return service->acknowledged(instance_); }

  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) const {
    return rows_of(service->books().ledger(), sql);
  }
  [[nodiscard]] std::vector<std::string> runs() const {
    return rows("SELECT job, begin - " + std::to_string(k_begin) + ", end - " + std::to_string(k_begin) +
                " FROM segments WHERE kind = 'run' ORDER BY job, begin");
  }

  TempDirectory directory;
  Site site = site_in(directory);
  Service::Options options;
  std::unique_ptr<Service> service;
  std::int64_t now = k_begin;
  std::uint64_t sequence = 0;
  protocol::Privacy privacy;  // as the next snapshot states it

 private:
  std::uint64_t instance_ = 0;
};

}  // namespace shapley::daemon
