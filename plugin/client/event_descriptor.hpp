// The event that wakes a thread which sleeps in poll(2).
#pragma once

#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace shapley::client {

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
