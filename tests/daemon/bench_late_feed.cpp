// How long a feed of old records keeps shapleyd busy, and for how long it answers no client. Measures, asserts nothing:
//
//   bench_late_feed [EVENTS [SHAPLEYD]]
//
// A ledger of so many events (1,000,000) is made, whose books remember the last two days; then 58 frames of 100 runs
// each come that are older. SHAPLEYD is the program to measure, if it is another one than that of this build.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "bench_daemon.hpp"
#include "records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::uint32_t k_late_frames = 58;
constexpr std::uint32_t k_late_jobs = 100;  // in each

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

bool is_rebuilt(const Daemon& daemon) {
  const auto status = daemon.connect({})->ask(R"({"request":"status"})");
  const auto rebuild = status["daemon"].find("rebuild");
  return rebuild == status["daemon"].end() || rebuild->is_null();
}

void await_rebuilt(const Daemon& daemon) {
  while (!is_rebuilt(daemon)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// A ledger whose last events are ten days old.
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
