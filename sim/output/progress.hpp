// A bar on standard error with the time left; nothing at all when standard error is no terminal. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace shapley::sim {

// "[#####.....]  50 %  5/10  1 min 30 s left"; the time is guessed from the mean of the finished pieces.
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
  void draw();

  std::string what_;
  std::size_t total_;
  bool visible_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace shapley::sim
