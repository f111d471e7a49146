// What a program asks of the operating system: file descriptors, other programs, its own end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"

namespace shapley {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void reset() { *this = Descriptor(); }

 private:
  int fd_ = -1;
};

// Runs another program, waits for it and takes what it writes: no shell, bounded in time, memory and output.
enum class ChildEnd {
  exited,
  signalled,  // by a signal that we did not send
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
  std::size_t error_bytes = 4096;          // bytes of standard error that are kept; 0: it goes to /dev/null
  const std::atomic<bool>* ended =
      nullptr;                  // another thread sets it to have the program killed within 100 ms; null: no thread does
  bool is_dispensable = false;  // the kernel ends it before other processes when memory runs out
  std::string input = {};       // its standard input
  // NAME=VALUE, the whole environment, and no signal blocked or ignored; nullopt: it inherits both from us.
  std::optional<std::vector<std::string>> environment = std::nullopt;
};

// `words`: the program, looked for in our PATH unless it has a slash, and its arguments; not empty. Any thread; blocks
// until the program has ended and is reaped. Errors: Errc::not_found when there is no such program, Errc::io when it
// cannot be started or the system refuses ("PROGRAM: the system's words").
[[nodiscard]] Expected<ChildRun> run_child(const std::vector<std::string>& words, const ChildOptions& options);

// How a program's main function handles an exception that reaches it.

// The exit code when memory could not be allocated (sysexits' EX_OSERR): no defect, and another run may work.
inline constexpr int k_exit_no_memory = 71;

// Returns what `body` returns. An exception that leaves it is reported in one sentence by `say`: std::bad_alloc with
// k_exit_no_memory, any other one with `internal`, the program's exit code for a defect. One that leaves another thread
// meanwhile ends the process at once, with the same sentence and code. REQUIRES: no other call of it is under way.
[[nodiscard]] int run_guarded(std::string_view program, int internal,
                              const std::function<void(const std::string&)>& say, const std::function<int()>& body);

}  // namespace shapley
