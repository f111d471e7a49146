// The scanning thread's wake-up signal: sleeps until something is to be done, and remembers what happened while nobody
// slept. Any thread; stop stays set.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "plugin/client/shapley_client.h"

namespace shapley::client {

// A hint is taken up after this long at most.
inline constexpr std::chrono::milliseconds k_hint_delay{50};

class WakeUpSignal {
 public:
  // From slurmctld's threads, under its locks: a store, no system call. So it wakes nobody; the sleeper polls for
  // hints.
  void hint() { hinted_ = true; }
  void ranks_changed() { raise(ranks_); }
  void stop() { raise(stopped_); }

  // The most urgent reason, which is thereby taken (stop excepted): stop, then ranks, then hint, else the tick.
  [[nodiscard]] enum shapley_wake wait(std::chrono::milliseconds timeout);

 private:
  void raise(bool& flag);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> hinted_ = false;
  bool ranks_ = false;
  bool stopped_ = false;
};

}  // namespace shapley::client
