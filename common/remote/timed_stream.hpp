// A connection with a deadline for everything that is done with it, which ends when its owner ends.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace shapley::remote {

// "does not answer: CAUSE"; Errc::unavailable.
[[nodiscard]] tl::unexpected<Error> away(std::string_view cause);

class TimedStream {
 public:
  using Clock = std::chrono::steady_clock;

  // A socket that does not block, and a descriptor that becomes readable when all is to end; the latter is the owner's.
  TimedStream(Descriptor socket, int wake_up) : socket_(std::move(socket)), wake_up_(wake_up) {}

  // All below: Errc::unavailable at the deadline, when the other side hung up, and when all is to end.
  [[nodiscard]] Expected<void> connect_to(const void* address, std::size_t size, Clock::time_point until);
  [[nodiscard]] Expected<void> send(std::string_view bytes, Clock::time_point until) const;
  // Some bytes, at least one: how many.
  [[nodiscard]] Expected<std::size_t> receive(std::span<char> buffer, Clock::time_point until) const;
  // As many as there is room for.
  [[nodiscard]] Expected<void> receive_all(std::span<char> buffer, Clock::time_point until) const;

  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  Descriptor socket_;
  int wake_up_;
};

// Waits until `descriptor` (-1: none) is ready for `events`. True: it is; false: the deadline passed. An error once
// `wake_up` is readable.
[[nodiscard]] Expected<bool> wait_for(int descriptor, short events, int wake_up, TimedStream::Clock::time_point until);

}  // namespace shapley::remote
