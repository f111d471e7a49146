// What a thread other than the main one does now, so that a thread that hangs is noticed: an object exists as long as
// the thread is within one piece of work. A thread that waits for work has none. Thread-safe.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <vector>

namespace shapley {

class PieceOfWork {
 public:
  using Clock = std::chrono::steady_clock;
  // No question and no message takes this long: each has a limit of its own, a minute and a half at most.
  static constexpr std::chrono::minutes k_bound{5};
  // For work on the whole books: computing them again, or writing them.
  static constexpr std::chrono::hours k_long_bound{1};

  // The thread's name, for the log.
  explicit PieceOfWork(std::string thread, Clock::duration bound = k_bound);
  ~PieceOfWork();
  PieceOfWork(const PieceOfWork&) = delete;
  PieceOfWork& operator=(const PieceOfWork&) = delete;

  // Threads of this process that are within one piece of work for longer than its bound.
  [[nodiscard]] static std::vector<std::string> overdue(Clock::time_point now);

 private:
  struct Begun {
    std::string thread;
    Clock::time_point due;
  };
  struct All;
  static All& all();

  std::list<Begun>::iterator own_;
};

}  // namespace shapley
