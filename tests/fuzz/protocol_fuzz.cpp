// A byte stream as a peer sends it: first byte n cuts it into pieces of n + 1 bytes, the rest is the stream.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "protocol/codec.hpp"

namespace {

using shapley::fuzz::require;
namespace protocol = shapley::protocol;

// The frame bodies of a stream that comes in pieces of this size.
std::vector<std::string> bodies_of(std::string_view stream, std::size_t piece) {
  protocol::FrameReader reader;
  std::vector<std::string> bodies;
  while (!stream.empty()) {
    reader.feed(stream.substr(0, piece));
    stream.remove_prefix(std::min(piece, stream.size()));
    while (true) {
      auto body = reader.next();
      if (!body) return bodies;
      if (!*body) break;
      bodies.push_back(std::move(**body));
    }
  }
  return bodies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view stream = shapley::fuzz::text_of(data, size);
  const std::size_t piece = shapley::fuzz::take_byte(stream) + 1U;
  const auto bodies = bodies_of(stream, piece);
  require(bodies == bodies_of(stream, stream.size() + 1), "the pieces of a stream make no difference");
  for (const std::string& body : bodies) {
    const auto message = protocol::decode_body(body);
    if (!message) {
      require(!message.error().what.empty(), "a refusal has words");
      continue;
    }
    const std::string frame = protocol::encode_frame(*message);
    const auto again = protocol::decode_body(std::string_view(frame).substr(4));
    require(again && *again == *message, "decode(encode(m)) == m");
    require(protocol::encode_frame(*again) == frame, "one message has one encoding");
  }
  return 0;
}
