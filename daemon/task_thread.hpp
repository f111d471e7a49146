// A thread that works on one task at a time, which another thread assigns.
#pragma once

#include <condition_variable>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/contract.hpp"
#include "base/mutex.hpp"
#include "base/piece_of_work.hpp"

namespace shapley::daemon {

template <typename Task>
class TaskThread {
 public:
  // `name` is for the log, where the thread hangs; empty: it waits for others, as another host or a file of another
  // site, which no restart of ours makes answer. Then it gives no sign of life, and each wait needs a limit. `work` is
  // called in the thread. It may use objects that were made before this one and outlive it.
  TaskThread(std::string name, std::function<void(Task& task)> work)
      : name_(std::move(name)), work_(std::move(work)), thread_([this] { run(); }) {}
  ~TaskThread() { stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // REQUIRES: the last task is done, and begin_stop() was not called.
  void give(Task task) {
    {
      const MutexLock lock(mutex_);
      SHAPLEY_REQUIRE(!given_ && !stopping_);
      given_ = std::move(task);
    }
    changed_.notify_one();
  }

  // No further task begins.
  void begin_stop() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
  }
  // Waits for the present task, and ends the thread.
  void stop() {
    if (!thread_.joinable()) return;
    begin_stop();
    thread_.join();
  }

 private:
  void run() {
    while (auto task = next()) {
      std::optional<PieceOfWork> busy;
      if (!name_.empty()) busy.emplace(name_);
      work_(*task);
    }
  }
  [[nodiscard]] std::optional<Task> next() {
    const MutexLock lock(mutex_);
    while (!stopping_ && !given_) changed_.wait(mutex_);
    if (stopping_) return std::nullopt;
    return std::exchange(given_, std::nullopt);
  }

  std::string name_;
  std::function<void(Task& task)> work_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Task> given_ SHAPLEY_GUARDED_BY(mutex_);
  bool stopping_ SHAPLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
