// For how long a checkpoint keeps shapleyd from answering, and how long it takes to stop. Measures, asserts nothing:
//
//   bench_checkpoint [JOBS [SHAPLEYD]]
//
// The books remember so many finished jobs (150,000); then others come until a checkpoint is due, and SIGTERM. SHAPLEYD
// is the program to measure, if it is another one than that of this build.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "bench_daemon.hpp"
#include "records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::uint32_t k_in_a_frame = 1000;

std::int64_t events_since_checkpoint(const Daemon& daemon) {
  return daemon.connect({})->ask(R"({"request":"status"})")["daemon"]["events_since_checkpoint"];
}

void measure(const std::string& program, std::uint32_t jobs) {
  const TempDirectory directory;
  std::ofstream(directory / "shapleyd.yaml") << yaml_in(directory);
  const std::int64_t begin = std::time(nullptr) - 5 * 3600;
  {
    Daemon daemon(program, directory);
    Feed feed(daemon);
    for (std::uint32_t sent = 0; sent < jobs; sent += k_in_a_frame) {
      feed.send_jobs(1'000'000 + sent, std::min(k_in_a_frame, jobs - sent), begin + sent / 20, 0);
      feed.await_acknowledgement();
    }
  }
  Daemon daemon(program, directory);
  Feed feed(daemon);
  double quiet = 0;
  double longest = 0;
  std::int64_t before = events_since_checkpoint(daemon);
  for (std::uint32_t sent = 0; longest == 0; sent += k_in_a_frame) {
    Pings pings(daemon);
    feed.send_jobs(2'000'000 + sent, k_in_a_frame, begin + 7500 + sent / 20, 0);
    feed.await_acknowledgement();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // a tick or two
    const double took = pings.stop();
    const std::int64_t now = events_since_checkpoint(daemon);
    (now < before ? longest : quiet) = std::max(now < before ? longest : quiet, took);
    before = now;
  }
  const auto start = Clock::now();
  daemon.stop();
  std::printf("%u remembered jobs: longest wait for a ping %.3f s with a checkpoint, %.3f s without; stop %.2f s\n",
              jobs, longest, quiet, seconds_since(start));
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  const std::uint32_t jobs = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 150'000;
  shapley::daemon::measure(argc > 2 ? argv[2] : SHAPLEYD, jobs);
  return testing::Test::HasFailure() ? 1 : 0;
}
