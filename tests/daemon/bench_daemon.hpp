// What the benchmarks of shapleyd as a process share: the daemon, a feed of finished jobs, and how long a ping takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "process.hpp"
#include "records.hpp"
#include "test_client.hpp"

namespace shapley::daemon {

using Clock = std::chrono::steady_clock;

inline constexpr std::int64_t k_day = 24 * 3600;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Daemon {
 public:
  Daemon(const std::string& program, const TempDirectory& directory)
      : directory_(directory),
        process_({"--config", (directory / "shapleyd.yaml").string()}, directory / "log", {}, program.c_str()) {}
  ~Daemon() { stop(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  void stop() {
    process_.signal(SIGTERM);
    process_.wait();
  }

  // Waits until the daemon serves; one that still makes its books refuses.
  [[nodiscard]] std::unique_ptr<TestClient> connect(const protocol::Hello& hello) const {
    std::unique_ptr<TestClient> client;
    EXPECT_TRUE(test::eventually([&] {
      client = std::make_unique<TestClient>(directory_ / "sock");
      if (!client->is_connected()) return false;
      client->send(hello);
      const auto answer = client->next();
      return answer && std::holds_alternative<protocol::Welcome>(*answer);
    }));
    return client;
  }

 private:
  const TempDirectory& directory_;
  Process process_;
};

// Large enough for all that runs at a time.
inline std::vector<protocol::NodeRecord> large_nodes() {
  constexpr std::uint32_t k_cpus = 100'000;
  std::vector<protocol::NodeRecord> nodes{node_record("n1"), node_record("n2")};
  for (protocol::NodeRecord& node : nodes) {
    node.cpus = k_cpus;
    node.tres = {{"cpu", k_cpus}};
  }
  return nodes;
}

class Feed {
 public:
  explicit Feed(const Daemon& daemon) : client_(daemon.connect(feeder_hello(1))) {}

  // So many finished jobs from `first_job` on, one each `spacing` seconds from `begin` on.
  void send_jobs(std::uint32_t first_job, std::uint32_t jobs, std::int64_t begin, std::int64_t spacing) {
    protocol::Observations o;
    o.nodes = large_nodes();
    for (std::uint32_t i = 0; i < jobs; ++i) {
      const Job job{.id = first_job + i, .node = "n2", .cpus = 1, .start = begin + i * spacing};
      o.jobs.push_back(ended(job, job.start + 600));
      o.observed_at = job.start + 700;
    }
    o.sequence = ++sequence_;
    client_->send(std::move(o));
  }
  void send_snapshot() {
    const std::int64_t now = std::time(nullptr);
    client_->send(protocol::SnapshotBegin{++sequence_, now});
    protocol::Observations o;
    o.sequence = ++sequence_;
    o.observed_at = now;
    o.nodes = large_nodes();
    client_->send(std::move(o));
    client_->send(protocol::SnapshotEnd{++sequence_, now});
  }
  void await_acknowledgement() {
    while (client_->expect<protocol::Ack>().sequence < sequence_) continue;
  }

 private:
  std::unique_ptr<TestClient> client_;
  std::uint64_t sequence_ = 0;
};

// The longest time that an answer to a ping took while it lived.
class Pings {
 public:
  explicit Pings(const Daemon& daemon) : client_(daemon.connect({})), thread_([this] { run(); }) {}
  double stop() {
    stop_ = true;
    thread_.join();
    return longest_;
  }

 private:
  void run() {
    while (!stop_) {
      const auto begin = Clock::now();
      static_cast<void>(client_->ask(R"({"request":"ping"})"));
      longest_ = std::max(longest_, seconds_since(begin));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  std::unique_ptr<TestClient> client_;
  double longest_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace shapley::daemon
