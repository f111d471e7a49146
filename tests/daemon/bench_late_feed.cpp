// How long a feed of old records keeps shapleyd busy, and for how long it answers nobody. Measures, asserts nothing:
//
//   bench_late_feed [EVENTS [SHAPLEYD]]
//
// A ledger of so many events (1,000,000) is made, whose books remember the last two days; then 58 frames of 100 runs
// each come that are older. SHAPLEYD is the program to measure, if it is another one than that of this build.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "records.hpp"
#include "test_client.hpp"
#include "tests/support/child.hpp"

namespace shapley::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t k_day = 24 * 3600;
constexpr std::uint32_t k_late_frames = 58;
constexpr std::uint32_t k_late_jobs = 100;  // in each

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

class Daemon {
 public:
  Daemon(std::string program, const TempDirectory& directory) : directory_(directory) {
    const std::string configuration = (directory / "shapleyd.yaml").string();
    const std::string log = (directory / "log").string();
    child_ = std::make_unique<test::Child>("shapleyd", [&] {
      const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      execl(program.c_str(), program.c_str(), "--config", configuration.c_str(), nullptr);
    });
  }
  ~Daemon() { stop(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void stop() {
    child_->signal(SIGTERM);
    child_->wait();
  }

  // Waits until the daemon serves.
  [[nodiscard]] std::unique_ptr<TestClient> connect(const protocol::Hello& hello) const {
    std::unique_ptr<TestClient> client;
    static_cast<void>(test::eventually([&] {
      client = std::make_unique<TestClient>(directory_ / "sock");
      return client->is_connected();
    }));
    client->send(hello);
    client->expect<protocol::Welcome>();
    return client;
  }

 private:
  const TempDirectory& directory_;
  std::unique_ptr<test::Child> child_;
};

// Large enough for all that runs at a time.
std::vector<protocol::NodeRecord> large_nodes() {
  constexpr std::uint32_t k_cpus = 4096;
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

bool is_rebuilt(const Daemon& daemon) {
  const auto status = daemon.connect({})->ask(R"({"request":"status"})");
  const auto rebuild = status["daemon"].find("rebuild");
  return rebuild == status["daemon"].end() || rebuild->is_null();
}

void await_rebuilt(const Daemon& daemon) {
  while (!is_rebuilt(daemon)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// A ledger whose checkpoint remembers the last two days only.
void make_ledger(const TempDirectory& directory, std::uint32_t jobs, std::int64_t begin, std::int64_t spacing) {
  Daemon daemon(SHAPLEYD, directory);
  Feed feed(daemon);
  constexpr std::uint32_t k_in_a_frame = 1000;
  for (std::uint32_t sent = 0; sent < jobs; sent += k_in_a_frame) {
    feed.send_jobs(1'000'000 + sent, std::min(k_in_a_frame, jobs - sent), begin + sent * spacing, spacing);
    feed.await_acknowledgement();
  }
  feed.send_snapshot();
  feed.await_acknowledgement();
  await_rebuilt(daemon);
  daemon.stop();
  std::filesystem::remove(directory / "log");
}

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

void measure(const std::string& program, std::uint32_t events) {
  constexpr std::uint32_t k_events_a_job = 3;
  const std::uint32_t jobs = events / k_events_a_job;
  const std::int64_t now = std::time(nullptr);
  const std::int64_t begin = now - 60 * k_day;
  const TempDirectory directory;
  std::ofstream(directory / "shapleyd.yaml") << yaml_in(directory);
  make_ledger(directory, jobs, begin, std::max<std::int64_t>(1, 50 * k_day / jobs));

  Daemon daemon(program, directory);
  Feed feed(daemon);
  Pings pings(daemon);
  const auto start = Clock::now();
  for (std::uint32_t i = 0; i < k_late_frames; ++i) {
    feed.send_jobs(10'000 + i * k_late_jobs, k_late_jobs, now - 9 * k_day + i * 3600, 10);
  }
  feed.send_snapshot();
  feed.await_acknowledgement();
  const double acknowledged = seconds_since(start);
  await_rebuilt(daemon);
  const double rebuilt = seconds_since(start);
  const double longest = pings.stop();
  daemon.stop();
  const std::string log = text_of(directory / "log");
  std::printf(
      "%u events: %zu rebuilds; all acknowledged after %.2f s, in the books after %.2f s; longest wait for a ping %.3f "
      "s\n",
      jobs * k_events_a_job, count(log, "rebuilding from") + count(log, "books: rebuilt"), acknowledged, rebuilt,
      longest);
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  const std::uint32_t events = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 1'000'000;
  shapley::daemon::measure(argc > 2 ? argv[2] : SHAPLEYD, events);
  return testing::Test::HasFailure() ? 1 : 0;
}
