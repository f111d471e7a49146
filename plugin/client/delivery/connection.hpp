// One nonblocking connection to shapleyd's Unix socket (the feeder thread's). No call waits.
//
// The listener must run as root or as our own user: whoever else could bind the path would learn every job and could
// order them. Errors: Errc::io and Errc::unavailable say that the daemon is away or went away, every other code that
// something else answers there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

class Connection {
 public:
  [[nodiscard]] static Expected<Connection> open(const std::string& path);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // REQUIRES: !is_writing(). One frame at a time is the whole write buffer, so a daemon that does not read costs no
  // memory.
  void start_writing(std::string frame);
  [[nodiscard]] bool is_writing() const { return written_ < frame_.size(); }
  // Goes on with the frame as far as the socket takes it.
  [[nodiscard]] Expected<void> write_some();
  // Reads once and appends the messages that are complete. Errc::unavailable when the daemon closed.
  [[nodiscard]] Expected<void> read_some(std::vector<protocol::Message>& messages);

 private:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
  // Ranks and rules of some ten thousand organizations fit; nothing larger has a meaning here.
  protocol::FrameReader reader_{8U << 20U};
  std::string frame_;
  std::size_t written_ = 0;
};

}  // namespace shapley::client
