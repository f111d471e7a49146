#include "plugin/client/alarm.hpp"

#include <utility>

namespace shapley::client {

void Alarm::raise(bool& flag) {
  {
    const std::lock_guard lock(mutex_);
    flag = true;
  }
  changed_.notify_all();
}

enum shapley_wake Alarm::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, std::chrono::steady_clock::now() + timeout,
                      [this] { return hinted_ || ranks_ || stopped_; });
  if (stopped_) return SHAPLEY_WAKE_STOP;
  if (std::exchange(ranks_, false)) return SHAPLEY_WAKE_RANKS;
  if (std::exchange(hinted_, false)) return SHAPLEY_WAKE_HINT;
  return SHAPLEY_WAKE_TICK;
}

}  // namespace shapley::client
