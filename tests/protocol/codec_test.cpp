// Bytes written by hand from the MessagePack specification are the independent witness here.
#include "protocol/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::protocol {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

constexpr int k_hello = 0, k_welcome = 1, k_refused = 2, k_observations = 4, k_ack = 6, k_ranks = 7, k_rules = 8,
              k_levels = 11;

template <typename T>
T decoded(const std::string& body) {
  const auto message = decode_body(body);
  if (!message) {
    ADD_FAILURE() << message.error().what;
    return {};
  }
  if (!std::holds_alternative<T>(*message)) {
    ADD_FAILURE() << "message of another type, " << message->index();
    return {};
  }
  return std::get<T>(*message);
}

TEST(Codec, WritesLengthTypeAndMembersInOrder) {
  EXPECT_EQ(encode_frame(Ack{.sequence = 300}), bytes({0, 0, 0, 5, k_ack, 0x91, 0xcd, 0x01, 0x2c}));
  EXPECT_EQ(encode_frame(Ranks{.generation = 1, .computed_at = -1, .organizations = {"ab", ""}}),
            bytes({0, 0, 0, 14, k_ranks, 0x98, 0x01, 0xff, 0x92, 0xa2, 'a', 'b', 0xa0, 0x90, 0x90, 0x90, 0x90, 0x00}));
  EXPECT_EQ(encode_frame(Rules{.rules = {{.organization = "x", .kind = RuleKind::user, .name = "", .id = 1000}}}),
            bytes({0,    0,    0,    22,   k_rules, 0x93, 0x91, 0x94, 0xa1, 'x', 0x03, 0xa0, 0xcd,
                   0x03, 0xe8, 0x93, 0x00, 0x91,    0x92, 0xa3, 'c',  'p',  'u', 0x01, 0x90, 0x90}));
  EXPECT_EQ(encode_frame(Levels{.generation = 2, .computed_at = 3, .jobs = {{7, 1}, {300, 15}}}),
            bytes({0, 0, 0, 13, k_levels, 0x93, 0x02, 0x03, 0x92, 0x92, 0x07, 0x01, 0x92, 0xcd, 0x01, 0x2c, 0x0f}));
}

TEST(Codec, WidensIntegersToBothEnds) {
  constexpr Int128 k_most = (Int128{1} << 126) - 1 + (Int128{1} << 126);
  for (const Int128 value : {Int128{0}, Int128{-1}, Int128{1} << 64, -(Int128{1} << 64) - 1, k_most, -k_most - 1})
    EXPECT_EQ(value_of(wide(value)), value);
  EXPECT_EQ(wide(-1), (Wide{-1, ~std::uint64_t{0}}));
}

TEST(Codec, TypeIsThePositionInMessage) {
  // The numbers are on the wire and in spools: they may never change.
  EXPECT_EQ(Message{Hello{}}.index(), 0U);
  EXPECT_EQ(Message{Welcome{}}.index(), 1U);
  EXPECT_EQ(Message{Refused{}}.index(), 2U);
  EXPECT_EQ(Message{SnapshotBegin{}}.index(), 3U);
  EXPECT_EQ(Message{Observations{}}.index(), 4U);
  EXPECT_EQ(Message{SnapshotEnd{}}.index(), 5U);
  EXPECT_EQ(Message{Ack{}}.index(), 6U);
  EXPECT_EQ(Message{Ranks{}}.index(), 7U);
  EXPECT_EQ(Message{Rules{}}.index(), 8U);
  EXPECT_EQ(Message{Query{}}.index(), 9U);
  EXPECT_EQ(Message{Reply{}}.index(), 10U);
  EXPECT_EQ(Message{Levels{}}.index(), 11U);
  EXPECT_EQ(encode_frame(Query{.id = 1, .json = "{}"})[4], 9);
}

TEST(Codec, IgnoresUnknownTrailingMembers) {
  // Ack of a later version with a number, a map and a nested list after the sequence.
  const auto later =
      bytes({k_ack, 0x94, 0x07, 0xcf, 1, 2, 3, 4, 5, 6, 7, 8, 0x81, 0xa1, 'k', 0xc0, 0x92, 0x91, 0xc3, 0xa1, 'z'});
  EXPECT_EQ(decoded<Ack>(later).sequence, 7U);
}

TEST(Codec, MissingTrailingMembersKeepTheirDefaults) {
  const auto welcome = decoded<Welcome>(bytes({k_welcome, 0x93, 0x01, 0xa1, 'd', 0xc2}));
  EXPECT_EQ(welcome, (Welcome{.version = 1, .program = "d", .act = false, .strict = true}));
  EXPECT_EQ(decoded<Hello>(bytes({k_hello, 0x90})), Hello{});
  // Of releases before they had a rule that brakes.
  EXPECT_EQ(
      decoded<Ranks>(bytes({k_ranks, 0x96, 0x01, 0x02, 0x91, 0xa1, 'a', 0x91, 0x03, 0x91, 0x04, 0x91, 0x05})),
      (Ranks{
          .generation = 1, .computed_at = 2, .organizations = {"a"}, .leads = {3}, .lacking = {4}, .returning = {5}}));
  // Ranks of releases before they had `returning`, and before they had leads.
  EXPECT_EQ(decoded<Ranks>(bytes({k_ranks, 0x95, 0x01, 0x02, 0x91, 0xa1, 'a', 0x91, 0x03, 0x91, 0x04})),
            (Ranks{.generation = 1, .computed_at = 2, .organizations = {"a"}, .leads = {3}, .lacking = {4}}));
  EXPECT_EQ(decoded<Ranks>(bytes({k_ranks, 0x93, 0x01, 0x02, 0x91, 0xa1, 'a'})),
            (Ranks{.generation = 1, .computed_at = 2, .organizations = {"a"}}));
  // Also within a record of a list: a job with nothing but its id.
  const auto seen = decoded<Observations>(bytes({k_observations, 0x93, 0x01, 0x02, 0x91, 0x91, 0x2a}));
  ASSERT_EQ(seen.jobs.size(), 1U);
  JobUpdate expected;
  expected.job_id = 42;
  EXPECT_EQ(seen.jobs[0], expected);
  EXPECT_EQ(seen.jobs[0].array_task_id, -1);
}

// What a plugin without them sent, or left in its spool: a job of 31 members on a node of two, and a node of four.
TEST(Codec, RecordsWithoutMemoryAndGresAreRead) {
  const std::string job = bytes({0xdc, 0x00, 0x1f, 0x2a, 0x00, 0xff, 0x01, 0x00, 0x00, 0x01, 0xc2, 0xa0, 0x00,
                                 0x00, 0x00, 0xa0, 0x90, 0xa0, 0xa0, 0xa0, 0xa0, 0x00, 0x00, 0x05, 0x00, 0x00,
                                 0x00, 0x00, 0x00, 0x02, 0x91, 0x92, 0xa2, 'n',  '1',  0x02, 0x90, 0x90, 0x3c});
  const std::string node = bytes({0x94, 0xa2, 'n', '1', 0x08, 0xc2, 0x91, 0x92, 0xa3, 'c', 'p', 'u', 0x08});
  const auto seen = decoded<Observations>(bytes({k_observations, 0x94, 0x01, 0x02, 0x91}) + job + bytes({0x91}) + node);
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_EQ(seen.jobs[0].time_limit_s, 60U);
  ASSERT_EQ(seen.jobs[0].nodes.size(), 1U);
  EXPECT_EQ(seen.jobs[0].nodes[0], (NodeHolding{.node = "n1", .cpus = 2, .memory = 0, .gres = {}}));
  EXPECT_EQ(seen.jobs[0].requested_nodes, 1U);
  EXPECT_EQ(seen.jobs[0].requested_memory, 0U);
  EXPECT_FALSE(seen.jobs[0].exclusive);
  EXPECT_TRUE(seen.jobs[0].requested_gres.empty());
  EXPECT_EQ(seen.jobs[0].required_nodes + seen.jobs[0].excluded_nodes, "");
  EXPECT_EQ(seen.jobs[0].features + seen.jobs[0].reservation, "");
  ASSERT_EQ(seen.nodes.size(), 1U);
  EXPECT_EQ(seen.nodes[0], (NodeRecord{.name = "n1", .cpus = 8, .usable = false, .tres = {{"cpu", 8}}}));
  EXPECT_EQ(seen.nodes[0].allocation_unit, 1U);
}

// What a shapleyd sends that does not say how it charges.
TEST(Codec, RulesWithoutAChargeMeanDominant) {
  const auto rules = decoded<Rules>(bytes({k_rules, 0x91, 0x91, 0x94, 0xa1, 'x', 0x03, 0xa0, 0x07}));
  ASSERT_EQ(rules.rules.size(), 1U);
  EXPECT_EQ(rules.charge, ChargeRule{});
  EXPECT_EQ(rules.charge.charge, Charge::dominant);
}

struct BadBody {
  const char* why;
  std::string body;
};

class Malformed : public testing::TestWithParam<BadBody> {};

TEST_P(Malformed, IsAProtocolErrorThatSaysSo) {
  const auto message = decode_body(GetParam().body);
  ASSERT_FALSE(message.has_value()) << GetParam().why;
  EXPECT_EQ(message.error().code, Errc::protocol);
  EXPECT_EQ(message.error().what.rfind("protocol: decode: ", 0), 0U) << message.error().what;
}

std::string list_of_empty_jobs(std::size_t count) {
  std::string body = bytes({k_observations, 0x93, 0x00, 0x00, 0xdd});
  for (const unsigned shift : {24U, 16U, 8U, 0U}) body.push_back(static_cast<char>((count >> shift) & 0xffU));
  return body.append(count, static_cast<char>(0x90));
}

// One job with the defaults up to its tres, and this for depends_on.
std::string jobs_that_depend_on(const std::string& list) {
  const std::string defaults =
      bytes({0x2a, 0x00, 0xff, 0x01, 0x00, 0x00, 0x00, 0xc2, 0xa0, 0x00, 0x00, 0x00, 0xa0, 0x90, 0xa0,
             0xa0, 0xa0, 0xa0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90, 0x90});
  return bytes({k_observations, 0x93, 0x00, 0x00, 0x91, 0xdc, 0x00, 0x1e}) + defaults + list;
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, Malformed,
    testing::Values(
        BadBody{"empty", ""}, BadBody{"type only", bytes({k_ack})}, BadBody{"unknown type", bytes({12, 0x90})},
        BadBody{"no list", bytes({k_ack, 0x07})}, BadBody{"nil", bytes({k_ack, 0xc0})},
        BadBody{"map", bytes({k_ack, 0x81, 0x00, 0x07})}, BadBody{"bytes after it", bytes({k_ack, 0x91, 0x07, 0x00})},
        BadBody{"negative sequence", bytes({k_ack, 0x91, 0xff})},
        BadBody{"text for a number", bytes({k_ack, 0x91, 0xa1, '7'})},
        BadBody{"fraction for a number", bytes({k_ack, 0x91, 0xcb, 0x40, 0x1c, 0, 0, 0, 0, 0, 0})},
        BadBody{"number for a text", bytes({k_refused, 0x91, 0x07})},
        BadBody{"text for a truth", bytes({k_welcome, 0x93, 0x01, 0xa0, 0xa1, 'y'})},
        BadBody{"2^32 in 32 bits", bytes({k_hello, 0x91, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0})},
        BadBody{"role 2", bytes({k_hello, 0x92, 0x01, 0x02})}, BadBody{"role -1", bytes({k_hello, 0x92, 0x01, 0xff})},
        BadBody{"role 256", bytes({k_hello, 0x92, 0x01, 0xcd, 0x01, 0x00})},
        BadBody{"job state 4",
                bytes({k_observations, 0x93, 0x00, 0x00, 0x91, 0x97, 0x01, 0x00, 0xff, 0x01, 0x00, 0x00, 0x04})},
        BadBody{"wait reason 8", bytes({k_observations, 0x93, 0x00, 0x00, 0x91, 0x9a, 0x01, 0x00, 0xff, 0x01, 0x00,
                                        0x00, 0x00, 0xc2, 0xa0, 0x08})},
        BadBody{"charge 4", bytes({k_rules, 0x92, 0x90, 0x91, 0x04})},
        BadBody{"rule kind 5", bytes({k_rules, 0x91, 0x91, 0x92, 0xa1, 'x', 0x05})},
        BadBody{"claims 2^32-1 elements", bytes({k_ranks, 0x93, 0x00, 0x00, 0xdd, 0xff, 0xff, 0xff, 0xff})},
        BadBody{"claims 2^32-1 bytes of text", bytes({k_refused, 0x91, 0xdb, 0xff, 0xff, 0xff, 0xff})},
        BadBody{"nested too deeply", bytes({k_ack}) + std::string(4000, static_cast<char>(0x91)) + '\0'},
        BadBody{"reserved byte", bytes({k_ack, 0x91, 0xc1})},
        BadBody{"a megabyte of empty jobs", list_of_empty_jobs(1'000'000)},
        BadBody{"level of a negative job", bytes({k_levels, 0x93, 0x01, 0x02, 0x91, 0x92, 0xff, 0x01})},
        BadBody{"level of 33 bits",
                bytes({k_levels, 0x93, 0x01, 0x02, 0x91, 0x92, 0x07, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0})},
        BadBody{"levels claim 2^32-1 jobs", bytes({k_levels, 0x93, 0x01, 0x02, 0xdd, 0xff, 0xff, 0xff, 0xff})},
        BadBody{"a job's level is no list", bytes({k_levels, 0x93, 0x01, 0x02, 0x91, 0x07})},
        BadBody{"dependency on a text", jobs_that_depend_on(bytes({0x91, 0xa1, 'x'}))},
        BadBody{"dependencies claim 2^32-1 jobs", jobs_that_depend_on(bytes({0xdd, 0xff, 0xff, 0xff, 0xff}))}));

TEST(Codec, AcceptsAsManyRecordsAsAnHonestPeerSends) {
  // Bare records are the worst honest case: one byte for each member of a complete record.
  Observations sent;
  sent.jobs.resize(1000);
  sent.gone_nodes.resize(100'000);
  sent.gone.resize(100'000);
  EXPECT_EQ(decoded<Observations>(encode_frame(sent).substr(4)), sent);
}

TEST(Codec, ReadsWhatAJobDependsOn) {
  const auto seen = decoded<Observations>(jobs_that_depend_on(bytes({0x92, 0x07, 0xcd, 0x01, 0x2c})));
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_EQ(seen.jobs[0].depends_on, (std::vector<std::uint32_t>{7, 300}));
  EXPECT_EQ(seen.jobs[0].time_limit_s, 0U) << "a peer that does not know the member yet";
}

// The plugin reads frames of 8 MiB from the daemon.
TEST(Codec, AsManyLevelsAsThereMayBeFitAPluginsFrame) {
  Levels sent{.generation = ~0ULL, .computed_at = -1, .jobs = {}};
  for (std::size_t i = 0; i < k_max_level_jobs; ++i)
    sent.jobs.push_back({static_cast<std::uint32_t>(0xffffffffU - k_max_level_jobs + i), k_max_level});
  const std::string frame = encode_frame(sent);
  EXPECT_LT(frame.size(), std::size_t{8} << 20U);
  EXPECT_EQ(decoded<Levels>(frame.substr(4)), sent);
}

TEST(Codec, AThousandJobsOnAThousandNodesFitAFrame) {
  Observations sent;
  sent.jobs.resize(1000);
  for (JobUpdate& job : sent.jobs) {
    for (int node = 0; node < 1000; ++node) job.nodes.push_back({"compute-node-" + std::to_string(10000 + node), 128});
  }
  const std::string frame = encode_frame(sent);
  EXPECT_LT(frame.size(), k_max_frame_bytes);
  EXPECT_EQ(decoded<Observations>(frame.substr(4)), sent);
}

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
