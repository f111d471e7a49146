// Runs another program, waits for it and takes what it writes: no shell, no input, bounded in time, memory and output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley {

enum class ChildEnd {
  exited,
  signalled,  // by a signal that is not ours
  late,       // killed: it had not closed its output within ChildOptions::time
  overlong,   // killed: it wrote more than ChildOptions::output_bytes
  unwanted,   // killed: ChildOptions::ended was set
};

struct ChildRun {
  ChildEnd end = ChildEnd::exited;
  int exit_code = 0;   // 128 and more: ended by the signal exit_code - 128
  std::string output;  // what it wrote until its end
  std::string errors;  // the first ChildOptions::error_bytes of them
};

struct ChildOptions {
  std::chrono::milliseconds time{60'000};  // of the wall clock, until it has closed its output
  std::size_t memory_bytes = 0;            // of address space (RLIMIT_AS); 0: no bound
  std::size_t output_bytes = 16UL << 20U;  // of standard output
  std::size_t error_bytes = 4096;          // so many of standard error are kept; 0: it goes to /dev/null
  const std::atomic<bool>* ended =
      nullptr;                  // another thread sets it to have it killed within 100 ms; null: nobody does
  bool is_dispensable = false;  // the first that the kernel ends when memory runs out
  // NAME=VALUE, all of them, and no signal is blocked or ignored; nullopt: it inherits ours, and how we treat signals.
  std::optional<std::vector<std::string>> environment = std::nullopt;
};

// `words`: the program, looked for in our PATH unless it has a slash, and its arguments; not empty. Any thread; blocks
// until the program has ended and is reaped. Errors: Errc::not_found when there is no such program, Errc::io when it
// cannot be started or the system refuses ("PROGRAM: the system's words").
[[nodiscard]] Expected<ChildRun> run_child(const std::vector<std::string>& words, const ChildOptions& options);

}  // namespace shapley
