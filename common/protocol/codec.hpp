// Frames on the wire: 4 bytes length (big endian, of what follows), 1 byte message type, MessagePack array of the
// members in the order of messages.hpp. Unknown trailing members are ignored, missing ones keep their defaults; an
// unknown type or a malformed body is Errc::protocol, and so is a list so long for its frame that it can only be meant
// to eat our memory. Nothing here throws, exhausted memory apart. Worked example: docs/reference/protocol.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "protocol/messages.hpp"

namespace shapley::protocol {

// A frame larger than this is refused before it is read (1,000 job records on 1,000 nodes each stay below it).
inline constexpr std::size_t k_max_frame_bytes = 64U << 20U;
// Before Hello was accepted a peer may send no more than this.
inline constexpr std::size_t k_max_first_frame_bytes = 4096;

// The whole frame, header included.
[[nodiscard]] std::string encode_frame(const Message& message);

// The message in one frame body (type byte and payload, without the length).
[[nodiscard]] Expected<Message> decode_body(std::string_view body);

// Collects bytes and yields frame bodies. After an error the connection is beyond repair.
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

}  // namespace shapley::protocol
