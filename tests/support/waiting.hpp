// Waiting for what another thread or process does: until it is so, never for a fixed time and never without end.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace shapley::test {

// How long a test waits for what must come. Far above what a machine ten times slower needs, so that only a fault runs
// into it; nothing waits so long when all is well.
inline constexpr std::chrono::seconds k_timeout{240};
// A wait that lasts so long says where it is, and again each time, so that a test that is ended from outside has said
// so.
inline constexpr std::chrono::seconds k_notice{20};

// True as soon as the condition holds, false after k_timeout. The place is that of the call.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  const auto begin = std::chrono::steady_clock::now();
  auto notice = begin + k_notice;
  for (;;) {
    const auto asked = std::chrono::steady_clock::now();
    if (condition()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now > begin + k_timeout) return false;
    if (now > notice) {
      std::fprintf(stderr, "%s:%d: still waiting for the condition\n", file, line);
      notice += k_notice;
    }
    // A condition that takes long to find out leaves most of a busy processor to what it waits for.
    std::this_thread::sleep_for(
        std::max<std::chrono::steady_clock::duration>(std::chrono::milliseconds(2), 3 * (now - asked)));
  }
}

// What is done while it lives ends within k_timeout; otherwise it says what was waited for and ends the process. For
// calls that block and take no timeout: join(), a read from a pipe.
class Deadline {
 public:
  // `what` completes the sentence "... did not come to an end".
  explicit Deadline(std::string what) : what_(std::move(what)), thread_([this] { watch(); }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, k_timeout, [this] { return over_; })) return;
    std::fprintf(stderr, "%s did not come to an end within %lld s\n", what_.c_str(),
                 static_cast<long long>(k_timeout.count()));
    std::abort();
  }

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace shapley::test
