// Frames on the wire: 4 bytes length (big endian, of what follows), 1 byte message type, MessagePack array of the
// members in the order of messages.hpp. Unknown trailing members are ignored, missing ones keep their defaults; an
// unknown type or a malformed body is Errc::protocol, and so is a list so long for its frame that it can only be meant
// to eat our memory. Nothing here throws, exhausted memory apart. Worked example: docs/reference/protocol.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "protocol/messages.hpp"

namespace shapley::protocol {

// A larger frame is refused before it is read (1,000 jobs of 1,000 nodes each are less). It takes .7 s to decode.
inline constexpr std::size_t k_max_frame_bytes = 64U << 20U;
// The limit for a peer whose Hello was not accepted yet.
inline constexpr std::size_t k_max_first_frame_bytes = 4096;

// The message as a whole frame, header included.
[[nodiscard]] std::string encode_frame(const Message& message);

// The message in one frame body (type byte and payload, without the length).
[[nodiscard]] Expected<Message> decode_body(std::string_view body);

// Collects bytes and yields frame bodies. After an error the connection cannot be used any more.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_frame_bytes = k_max_frame_bytes) : max_(max_frame_bytes) {}
  void set_limit(std::size_t max_frame_bytes) { max_ = max_frame_bytes; }
  void feed(std::string_view bytes);
  // The next complete body; nullopt when more bytes are needed; Errc::limit for a frame over the limit.
  [[nodiscard]] Expected<std::optional<std::string>> next();

 private:
  std::size_t max_;
  std::string buffer_;
  std::size_t consumed_ = 0;
};

// A reader's conversation: the hello, then questions one at a time, over any stream of bytes with a deadline.
//
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

  // The other side's reply: Welcome, Refused, or a message that no shapleyd sends.
  Expected<Message> greet(const Hello& hello, Deadline until) {
    SHAPLEY_TRY(send(hello, until));
    return receive(until);
  }

  Expected<std::string> ask(const std::string& request, Deadline until) {
    const std::uint64_t id = ++last_id_;
    SHAPLEY_TRY(send(Query{.id = id, .json = request}, until));
    while (true) {
      SHAPLEY_TRY_ASSIGN(Message message, receive(until));
      // Other messages are for other roles; a reader waits for its own answer.
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
