// Support for long work of shapley-sim: several threads, Ctrl-C, the progress bar, and exit codes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "base/mutex.hpp"

namespace shapley::sim {

// Independent pieces of work on several threads. Each piece writes only its own result, so the results do not depend on
// the number of threads.
// Calls `work(i)` for i in 0 .. count-1, each once, on `threads` threads (0: one per core). Starts no further piece
// after Ctrl-C or an error; returns the error of the lowest piece that failed.
[[nodiscard]] Expected<void> run_parallel(std::size_t count, unsigned threads,
                                          const std::function<Expected<void>(std::size_t)>& work);

// Reports on standard error that only `done` of `count` are finished; nothing if all are.
void say_unfinished(std::size_t done, std::size_t count, const std::string& what);

// Ctrl-C keeps finished results: after the first SIGINT long work stops at the end of the current piece, the second
// ends the program at once.

// After this call the first SIGINT only sets a flag.
void catch_interrupt();
[[nodiscard]] bool interrupted();

// A progress bar on standard error with the time left; nothing when standard error is no terminal. Thread-safe.
//
// "[#####.....]  50 %  5/10  1 min 30 s left"; the time is estimated from the mean of the finished pieces.
[[nodiscard]] std::string progress_line(const std::string& what, std::size_t done, std::size_t total,
                                        std::chrono::milliseconds elapsed);

class Progress {
 public:
  Progress(std::string what, std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // leaves an empty line where the bar was

  void one_more();

 private:
  void draw() SHAPLEY_HOLDS(mutex_);

  std::string what_;
  std::size_t total_;
  bool visible_;
  Mutex mutex_;
  std::size_t done_ SHAPLEY_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Exit codes of shapley-sim (lab/docs/shapley-sim.md).

inline constexpr int k_exit_done = 0;
inline constexpr int k_exit_input = 1;        // the input cannot be used
inline constexpr int k_exit_usage = 2;        // the command line is wrong
inline constexpr int k_exit_interrupted = 3;  // Ctrl-C: what was finished is printed
inline constexpr int k_exit_internal = 70;    // a defect of shapley-sim itself

}  // namespace shapley::sim
