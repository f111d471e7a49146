// What a thread other than the main one is doing now, so that one that hangs is noticed: an object is there for as long
// as the thread is within one piece of work. A thread that waits for work has none. Any thread may use all of it.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <vector>

namespace shapley {

class PieceOfWork {
 public:
  using Clock = std::chrono::steady_clock;
  // No question and no message takes so long: each has a limit of its own, a minute and a half at most.
  static constexpr std::chrono::minutes k_bound{5};
  // All of the books are made again, or written.
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
