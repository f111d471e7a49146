// A file descriptor that closes itself, and the event that wakes a thread which sleeps in poll(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.hpp"

namespace shapley::client {

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

// "operation object: cause" with the text of an errno value.
[[nodiscard]] tl::unexpected<Error> system_failure(std::string_view operation, std::string_view object, int error);

// An eventfd that wakes who polls it. signal() neither blocks nor allocates, from any thread; it stays set until
// clear().
class EventDescriptor {
 public:
  EventDescriptor() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  [[nodiscard]] bool is_open() const { return event_.is_open(); }
  [[nodiscard]] int descriptor() const { return event_.get(); }
  void signal() {
    const std::uint64_t one = 1;
    // EAGAIN means the counter is at its maximum: it is set already.
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  }
  void clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
  }

 private:
  Descriptor event_;
};

}  // namespace shapley::client
