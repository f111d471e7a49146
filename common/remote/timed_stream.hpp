// A connection with a deadline for every operation, which also ends when its owner ends; the addresses of a host and
// port, and of the ends of a connection.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <netdb.h>

#include "base/error.hpp"
#include "base/process.hpp"
#include "config/values.hpp"

namespace shapley::remote {

class TimedStream {
 public:
  using Clock = std::chrono::steady_clock;

  // A nonblocking socket, and a descriptor of the owner that becomes readable when everything is to end.
  TimedStream(Descriptor socket, int wake_up) : socket_(std::move(socket)), wake_up_(wake_up) {}

  // All functions below: Errc::unavailable, with the cause alone, at the deadline, when the other side hung up, and
  // when everything is to end.
  [[nodiscard]] Expected<void> connect_to(const void* address, std::size_t size, Clock::time_point until);
  [[nodiscard]] Expected<void> send(std::string_view bytes, Clock::time_point until) const;
  // Receives some bytes, at least one, and returns how many.
  [[nodiscard]] Expected<std::size_t> receive(std::span<char> buffer, Clock::time_point until) const;
  // Receives as many bytes as fit into the buffer.
  [[nodiscard]] Expected<void> receive_all(std::span<char> buffer, Clock::time_point until) const;

  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  [[nodiscard]] Expected<void> await(short events, Clock::time_point until) const;

  Descriptor socket_;
  int wake_up_;
};

// Waits until `descriptor` (-1: none) is ready for `events`. True: it is; false: the deadline passed. An error once
// `wake_up` is readable.
[[nodiscard]] Expected<bool> wait_for(int descriptor, short events, int wake_up, TimedStream::Clock::time_point until);

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// At least one address. Blocks as long as the resolver does. Errc::unavailable.
[[nodiscard]] Expected<Addresses> resolve(const config::Endpoint& endpoint);

// The own address of a connected socket, "[10.0.0.1]:7020", as numbers, without a zone; an IPv4 address is written as
// one, even if the socket has it mapped. Errc::unavailable.
[[nodiscard]] Expected<std::string> own_end(int socket);
[[nodiscard]] Expected<std::string> other_end(int socket);

}  // namespace shapley::remote
