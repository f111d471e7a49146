// Runs a program of ours (base/child_process.hpp): bounded in time, memory and output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::daemon {

struct ChildLimits {
  std::chrono::milliseconds time{60'000};  // of the wall clock, then it is killed
  std::size_t memory_bytes = 0;            // of address space (RLIMIT_AS); 0: no bound
  std::size_t output_bytes = 16UL << 20U;  // of standard output; of standard error the first 4 KiB are kept
  const std::atomic<bool>* ended =
      nullptr;  // another thread sets it to have it killed within 100 ms; null: nobody does
};

struct ChildResult {
  int exit_code = 0;  // 128 and more: ended by the signal exit_code - 128
  std::string output;
  std::string errors;
};

// Any thread; blocks until the program has ended and is reaped. It gets no input, an environment with PATH and LC_ALL=C
// only, and is the first that the kernel ends when memory runs out. Errors: Errc::io when it cannot be started,
// Errc::limit when it exceeded a limit or `ended` was set (the text says which).
[[nodiscard]] Expected<ChildResult> run_child(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments, const ChildLimits& limits);

}  // namespace shapley::daemon
