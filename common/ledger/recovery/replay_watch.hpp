// What other threads may know of a replay, and tell it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace shapley::ledger {

// Lets other threads follow a replay, and end it.
struct ReplayWatch {
  std::atomic<std::int64_t> done = 0;   // events
  std::atomic<std::int64_t> total = 0;  // events; 0: not known yet
  std::atomic<bool> stop = false;       // set it, and the replay ends with Errc::unavailable or Errc::limit

  // Of the events, from 0 to 100; 0 while their number is not known.
  [[nodiscard]] int percent() const {
    constexpr std::int64_t k_all = 100;
    const std::int64_t of = total;
    return of <= 0 ? 0 : static_cast<int>(std::clamp<std::int64_t>(done * k_all / of, 0, k_all));
  }
};

}  // namespace shapley::ledger
