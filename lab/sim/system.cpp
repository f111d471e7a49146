#include "sim/system.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/printable.hpp"

namespace shapley::sim {

Expected<void> run_parallel(std::size_t count, unsigned threads,
                            const std::function<Expected<void>(std::size_t)>& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::map<std::size_t, Error> errors;
  const auto worker = [&] {
    while (!failed && !interrupted()) {
      const std::size_t i = next++;
      if (i >= count) return;
      if (auto done = work(i); !done) {
        failed = true;
        const std::lock_guard lock(mutex);
        errors.emplace(i, done.error());
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) helpers.emplace_back(worker);
    worker();
  }
  if (!errors.empty()) return tl::unexpected<Error>(errors.begin()->second);
  return {};
}

void say_unfinished(std::size_t done, std::size_t count, const std::string& what) {
  if (done == count) return;
  std::cerr << "shapley-sim: interrupted: " << done << " of " << count << ' ' << what << " are finished\n";
}

namespace {

std::atomic<bool> mark{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

constexpr std::size_t k_width = 30;

std::string duration_text(std::chrono::milliseconds duration) {
  const auto seconds = (duration.count() + 999) / 1000;
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

}  // namespace

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { mark = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return mark;
}

std::string progress_line(const std::string& what, std::size_t done, std::size_t total,
                          std::chrono::milliseconds elapsed) {
  const std::size_t filled = total == 0 ? k_width : k_width * done / total;
  std::string line = what + " [" + std::string(filled, '#') + std::string(k_width - filled, '.') + "] " +
                     std::to_string(done) + "/" + std::to_string(total);
  if (done > 0 && done < total) {
    const auto left = elapsed * static_cast<std::int64_t>(total - done) / static_cast<std::int64_t>(done);
    line += "  " + duration_text(left) + " left";
  }
  return line;
}

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), visible_(isatty(STDERR_FILENO) == 1) {
  const MutexLock lock(mutex_);
  draw();
}

Progress::~Progress() {
  if (visible_) std::cerr << TerminalControl::line_begin << TerminalControl::erase_to_line_end << std::flush;
}

void Progress::one_more() {
  const MutexLock lock(mutex_);
  ++done_;
  draw();
}

void Progress::draw() {
  if (!visible_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_);
  std::cerr << TerminalControl::line_begin << printable(progress_line(what_, done_, total_, elapsed))
            << TerminalControl::erase_to_line_end << std::flush;
}

}  // namespace shapley::sim
