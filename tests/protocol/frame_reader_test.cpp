#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/codec.hpp"

namespace shapley::protocol {
namespace {

TEST(FrameReader, YieldsTheSameWhereverTheStreamIsCutInTwo) {
  const std::vector<std::string> frames = {encode_frame(Refused{.reason = "another version"}),
                                           encode_frame(Ack{.sequence = 70000}),
                                           encode_frame(Ranks{.organizations = {"a", "b"}})};
  const std::string stream = frames[0] + frames[1] + frames[2];
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader;
    std::string seen;
    for (const auto part : {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      reader.feed(part);
      for (auto body = reader.next(); body && *body; body = reader.next()) seen += encode_frame(*decode_body(**body));
    }
    EXPECT_EQ(seen, stream) << "cut at byte " << cut;
  }
}

TEST(FrameReader, WaitsForTheLastByte) {
  const std::string frame = encode_frame(Ack{.sequence = 1});
  FrameReader reader;
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    reader.feed(std::string_view(frame).substr(i, 1));
    const auto body = reader.next();
    ASSERT_TRUE(body.has_value());
    EXPECT_FALSE(body->has_value()) << "after byte " << i;
  }
  reader.feed(std::string_view(frame).substr(frame.size() - 1));
  const auto body = reader.next();
  ASSERT_TRUE(body.has_value() && body->has_value());
  EXPECT_EQ(**body, frame.substr(4));
}

TEST(FrameReader, RefusesAFrameOverTheLimitFromItsHeaderAlone) {
  FrameReader reader(10);
  reader.feed(std::string_view("\0\0\0\x0b", 4));
  const auto body = reader.next();
  ASSERT_FALSE(body.has_value());
  EXPECT_EQ(body.error().code, Errc::limit);
  EXPECT_EQ(body.error().what, "protocol: frame of 11 bytes exceeds the limit of 10");
}

TEST(FrameReader, TakesAFrameOfExactlyTheLimit) {
  const std::string frame = encode_frame(Refused{.reason = std::string(20, 'x')});
  FrameReader reader(frame.size() - 4);
  reader.feed(frame);
  const auto body = reader.next();
  ASSERT_TRUE(body.has_value() && body->has_value());
}

TEST(FrameReader, FollowsALimitRaisedAfterHello) {
  const std::string large = encode_frame(Query{.id = 1, .json = std::string(5000, ' ')});
  FrameReader reader(k_max_first_frame_bytes);
  reader.feed(encode_frame(Hello{}) + large);
  ASSERT_TRUE(reader.next()->has_value());
  ASSERT_FALSE(reader.next().has_value());
  reader.set_limit(k_max_frame_bytes);
  const auto body = reader.next();
  ASSERT_TRUE(body.has_value() && body->has_value());
  EXPECT_EQ(std::get<Query>(*decode_body(**body)).json.size(), 5000U);
}

TEST(FrameReader, AnEmptyFrameIsForTheDecoderToRefuse) {
  FrameReader reader;
  reader.feed(std::string_view("\0\0\0\0", 4));
  const auto body = reader.next();
  ASSERT_TRUE(body.has_value() && body->has_value());
  EXPECT_EQ(decode_body(**body).error().code, Errc::protocol);
}

TEST(FrameReader, KeepsUpWithAMillionFramesFedTogether) {
  // Quadratic behaviour (erasing the front for each frame) would run into the test's time limit.
  const std::string frame = encode_frame(Ack{.sequence = 1});
  std::string stream;
  for (int i = 0; i < 1'000'000; ++i) stream += frame;
  FrameReader reader;
  reader.feed(stream);
  std::size_t count = 0;
  for (auto body = reader.next(); body && *body; body = reader.next()) {
    ++count;
    if (count % 100 == 0) reader.feed({});
  }
  EXPECT_EQ(count, 1'000'000U);
}

}  // namespace
}  // namespace shapley::protocol
