// A thread that works on one task at a time, which another thread gives to it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace shapley::daemon {

template <typename Task>
class TaskThread {
 public:
  // `work` is called in the thread. It may use what was there before this object and goes after it.
  explicit TaskThread(std::function<void(Task& task)> work) : work_(std::move(work)), thread_([this] { run(); }) {}
  ~TaskThread() { stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // REQUIRES: the last task is done, and begin_stop() was not called.
  void give(Task task) {
    {
      const std::lock_guard lock(mutex_);
      given_ = std::move(task);
    }
    changed_.notify_one();
  }

  // No task begins any more.
  void begin_stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
  }
  [[nodiscard]] bool is_stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }
  // Waits for the present task, and ends the thread.
  void stop() {
    if (!thread_.joinable()) return;
    begin_stop();
    thread_.join();
  }

 private:
  void run() {
    while (auto task = next()) work_(*task);
  }
  [[nodiscard]] std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || given_; });
    if (stopping_) return std::nullopt;
    return std::exchange(given_, std::nullopt);
  }

  std::function<void(Task& task)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Task> given_;  // guarded by mutex_, as is
  bool stopping_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
