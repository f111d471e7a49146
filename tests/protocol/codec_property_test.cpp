#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "arbitrary_messages.hpp"
#include "protocol/codec.hpp"

namespace shapley::protocol {
namespace {

constexpr std::size_t k_header_bytes = 4;

std::string body_of(const Message& message) {
  return encode_frame(message).substr(k_header_bytes);
}

class RoundTrip : public testing::TestWithParam<std::size_t> {};

TEST_P(RoundTrip, KeepsEveryMember) {
  EXPECT_TRUE(rc::check([type = GetParam()] {
    const Message message = pick_message(type);
    const Expected<Message> decoded = decode_body(body_of(message));
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->index() == type);
    RC_ASSERT(*decoded == message);
  }));
}

INSTANTIATE_TEST_SUITE_P(EveryMessage, RoundTrip, testing::Range(std::size_t{0}, std::variant_size_v<Message>));

RC_GTEST_PROP(Frames, ComeOutAsTheyWentInHoweverTheyAreCut, ()) {
  std::vector<Message> sent;
  std::string stream;
  const auto count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) stream += encode_frame(sent.emplace_back(pick_message()));
  FrameReader reader;
  std::vector<Message> received;
  for (std::size_t at = 0; at < stream.size();) {
    const auto piece = *rc::gen::inRange<std::size_t>(1, 400);
    reader.feed(std::string_view(stream).substr(at, piece));
    at += piece;
    for (;;) {
      auto body = reader.next();
      RC_ASSERT(body.has_value());
      if (!*body) break;
      auto message = decode_body(**body);
      RC_ASSERT(message.has_value());
      received.push_back(*std::move(message));
    }
  }
  RC_ASSERT(received == sent);
}

// What a decoder accepts it must also be able to say again: nothing half-read, nothing out of range.
void check_answer(const std::string& body) {
  const Expected<Message> message = decode_body(body);
  if (!message) {
    RC_ASSERT(message.error().code == Errc::protocol);
    RC_ASSERT(!message.error().what.empty());
    return;
  }
  const Expected<Message> again = decode_body(body_of(*message));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *message);
}

RC_GTEST_PROP(HostileBodies, CutShortAreRefused, ()) {
  const std::string body = body_of(pick_message());
  const auto kept = *rc::gen::inRange<std::size_t>(0, body.size());
  const Expected<Message> message = decode_body(body.substr(0, kept));
  RC_ASSERT(!message.has_value());
  RC_ASSERT(message.error().code == Errc::protocol);
}

RC_GTEST_PROP(HostileBodies, WithChangedBytesNeverCrash, ()) {
  std::string body = body_of(pick_message());
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
  }
  check_answer(body);
}

RC_GTEST_PROP(HostileBodies, OfRandomBytesNeverCrash, ()) {
  check_answer(static_cast<char>(*rc::gen::inRange(0, 16)) + *rc::gen::arbitrary<std::string>());
}

// Random bytes rarely nest. These are the bytes with which MessagePack begins arrays, maps, strings, numbers and nil.
RC_GTEST_PROP(HostileBodies, OfRandomStructureNeverCrash, ()) {
  const auto structure = rc::gen::element<int>(0x00, 0x01, 0x7f, 0x80, 0x81, 0x90, 0x91, 0x92, 0x96, 0x9f, 0xa0, 0xa3,
                                               0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc7, 0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3,
                                               0xd4, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff);
  std::string body(1, static_cast<char>(*rc::gen::inRange(0, 12)));
  for (const int byte : *rc::gen::container<std::vector<int>>(structure)) body.push_back(static_cast<char>(byte));
  check_answer(body);
}

}  // namespace
}  // namespace shapley::protocol
