// A reader's conversation: the hello, then questions one at a time, over any stream of bytes with a deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::protocol {

// A Stream has
//   Expected<void> send(std::string_view bytes, Deadline until)               all of them
//   Expected<std::size_t> receive(std::span<char> buffer, Deadline until)     some, at least one: how many
// whose errors become the conversation's; after one the conversation is of no more use.
template <typename Stream>
class Asking {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  explicit Asking(Stream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] Stream& stream() { return stream_; }

  // What the other side says to it: Welcome, Refused, or what no shapleyd says.
  Expected<Message> greet(const Hello& hello, Deadline until) {
    SHAPLEY_TRY(send(hello, until));
    return receive(until);
  }

  Expected<std::string> ask(const std::string& request, Deadline until) {
    const std::uint64_t id = ++last_id_;
    SHAPLEY_TRY(send(Query{.id = id, .json = request}, until));
    while (true) {
      SHAPLEY_TRY_ASSIGN(Message message, receive(until));
      // Anything else is news for other roles; a reader waits for its own answer.
      if (auto* reply = std::get_if<Reply>(&message); reply != nullptr && reply->id == id) {
        return std::move(reply->json);
      }
    }
  }

 private:
  Expected<void> send(const Message& message, Deadline until) { return stream_.send(encode_frame(message), until); }

  Expected<Message> receive(Deadline until) {
    constexpr std::size_t k_read_bytes = 64U << 10U;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, frames_.next());
      if (body) return decode_body(*body);
      std::array<char, k_read_bytes> buffer{};
      SHAPLEY_TRY_ASSIGN(const std::size_t n, stream_.receive(buffer, until));
      frames_.feed({buffer.data(), n});
    }
  }

  Stream stream_;
  FrameReader frames_;
  std::uint64_t last_id_ = 0;
};

}  // namespace shapley::protocol
