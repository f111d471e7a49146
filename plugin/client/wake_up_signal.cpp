#include "plugin/client/wake_up_signal.hpp"

#include <algorithm>
#include <utility>

namespace shapley::client {

void WakeUpSignal::raise(bool& flag) {
  {
    const std::lock_guard lock(mutex_);
    flag = true;
  }
  changed_.notify_all();
}

enum shapley_wake WakeUpSignal::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    changed_.wait_until(lock, std::min(deadline, now + k_hint_delay), [this] { return hinted_ || ranks_ || stopped_; });
    if (stopped_) return SHAPLEY_WAKE_STOP;
    if (std::exchange(ranks_, false)) return SHAPLEY_WAKE_RANKS;
    if (hinted_.exchange(false)) return SHAPLEY_WAKE_HINT;
    if (std::chrono::steady_clock::now() >= deadline) return SHAPLEY_WAKE_TICK;
  }
}

}  // namespace shapley::client
