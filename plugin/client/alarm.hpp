// The scanning thread's clock: sleeps until something is to be done, and remembers what happened while nobody slept.
// Any thread; stop stays set.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "plugin/client/shapley_client.h"

namespace shapley::client {

class Alarm {
 public:
  void hint() { raise(hinted_); }
  void ranks_changed() { raise(ranks_); }
  void stop() { raise(stopped_); }

  // The most urgent reason, which is thereby taken (stop excepted): stop, then ranks, then hint, else the tick.
  [[nodiscard]] enum shapley_wake wait(std::chrono::milliseconds timeout);

 private:
  void raise(bool& flag);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool hinted_ = false;
  bool ranks_ = false;
  bool stopped_ = false;
};

}  // namespace shapley::client
