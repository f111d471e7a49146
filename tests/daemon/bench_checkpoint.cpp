// For how long a checkpoint keeps shapleyd from answering, and how long it takes to stop and to start. Measures,
// asserts nothing:
//
//   bench_checkpoint [JOBS [SHAPLEYD...]]
//
// The books remember so many finished jobs (150,000); then others come, ten at a time, while a checkpoint falls due and
// is made; SIGTERM then, and SIGTERM while the next one is made. SHAPLEYD are the programs to measure, one after the
// other, if it is not that of this build alone.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "bench_daemon.hpp"
#include "records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::uint32_t k_in_a_frame = 1000;
constexpr std::uint32_t k_in_a_small_frame = 10;
constexpr std::int64_t k_checkpoint_events = 100'000;
constexpr std::int64_t k_events_of_a_frame = 3 * k_in_a_frame;

std::int64_t events_since_checkpoint(const Daemon& daemon) {
  return daemon.connect({})->ask(R"({"request":"status"})")["daemon"]["events_since_checkpoint"];
}

void remember_jobs(const std::string& program, const TempDirectory& directory, std::uint32_t jobs, std::int64_t begin) {
  Daemon daemon(program, directory);
  Feed feed(daemon);
  for (std::uint32_t sent = 0; sent < jobs; sent += k_in_a_frame) {
    feed.send_jobs(1'000'000 + sent, std::min(k_in_a_frame, jobs - sent), begin + sent / 20, 0);
    feed.await_acknowledgement();
  }
}

// Jobs that are new to the daemon, each frame a little later than the one before.
class NewJobs {
 public:
  NewJobs(const Daemon& daemon, std::uint32_t first, std::int64_t begin) : feed_(daemon), next_(first), begin_(begin) {}
  void send(std::uint32_t jobs) {
    feed_.send_jobs(next_, jobs, begin_ + (next_ % 1'000'000) / 20, 0);
    feed_.await_acknowledgement();
    next_ += jobs;
  }
  // Until the next frame but one would make a checkpoint fall due: the small frames of a quiet time do not.
  void send_nearly_enough(const Daemon& daemon) {
    while (events_since_checkpoint(daemon) < k_checkpoint_events - 2 * k_events_of_a_frame) send(k_in_a_frame);
  }

 private:
  Feed feed_;
  std::uint32_t next_;
  std::int64_t begin_;
};

double stop(Daemon& daemon) {
  const auto begin = Clock::now();
  daemon.stop();
  return seconds_since(begin);
}

void measure(const std::string& program, std::uint32_t jobs) {
  const TempDirectory directory;
  std::ofstream(directory / "shapleyd.yaml") << yaml_in(directory);
  const std::int64_t begin = std::time(nullptr) - 5 * 3600;
  remember_jobs(program, directory, jobs, begin);
  constexpr std::chrono::milliseconds k_between_frames{50};
  double quiet = 0;
  double with_checkpoint = 0;
  double stopped = 0;
  {
    Daemon daemon(program, directory);
    NewJobs fresh(daemon, 2'000'000, begin + 7500);
    fresh.send_nearly_enough(daemon);
    {
      Pings pings(daemon);
      for (int i = 0; i < 60; ++i, std::this_thread::sleep_for(k_between_frames)) fresh.send(k_in_a_small_frame);
      quiet = pings.stop();
    }
    Pings pings(daemon);
    // It takes some seconds. No client asks for the status meanwhile, whose answer takes its own time.
    for (int i = 0; i < 240; ++i, std::this_thread::sleep_for(k_between_frames)) fresh.send(k_in_a_small_frame);
    with_checkpoint = pings.stop();
    if (events_since_checkpoint(daemon) > k_checkpoint_events / 2) std::puts("no checkpoint was made meanwhile");
    stopped = stop(daemon);
  }
  const auto start = Clock::now();
  Daemon daemon(program, directory);
  static_cast<void>(daemon.connect({}));
  const double started = seconds_since(start);
  NewJobs fresh(daemon, 3'000'000, begin + 9500);
  fresh.send_nearly_enough(daemon);
  for (int i = 0; i < 3; ++i) fresh.send(k_in_a_frame);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // it is under way
  const double stopped_during = stop(daemon);
  const auto again = Clock::now();
  Daemon last(program, directory);
  static_cast<void>(last.connect({}));
  std::printf(
      "%s, %u remembered jobs: longest wait for a ping %.3f s with a checkpoint, %.3f s without; stop %.2f s, start "
      "after it %.2f s; stop while a checkpoint is due %.2f s, start after it %.2f s\n",
      program.c_str(), jobs, with_checkpoint, quiet, stopped, started, stopped_during, seconds_since(again));
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  const std::uint32_t jobs = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 150'000;
  std::vector<std::string> programs(argv + std::min(argc, 2), argv + argc);
  if (programs.empty()) programs = {SHAPLEYD};
  for (const std::string& program : programs) shapley::daemon::measure(program, jobs);
  return testing::Test::HasFailure() ? 1 : 0;
}
