// Work in a thread of its own, which its owner can follow and end. All members are called from one thread, the owner's.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "ledger/recovery/replay_watch.hpp"

namespace shapley::ledger {

class Background {
 public:
  // `work` is to end soon after the watch's `stop` is set. Errc::unavailable: there is no thread to be had.
  [[nodiscard]] static Expected<std::unique_ptr<Background>> start(std::function<void(ReplayWatch&)> work);
  // Ends it if it still runs.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // What the work wrote may be read from then on.
  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] int percent() const { return watch_.percent(); }
  void wait();

 private:
  Background() = default;

  ReplayWatch watch_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace shapley::ledger
