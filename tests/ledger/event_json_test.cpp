#include "ledger/encoding/event_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/chain/hash_chain.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;

SegmentOpened two_nodes() {
  return {.key = {SegmentKind::run, {17}, {1700000000}, 0},
          .organization = "physics",
          .begin = {1700000000},
          .processors = {6'000'000},
          .nodes = {{"n1", {4'000'000}}, {"n2", {2'000'000}}}};
}

RC_GTEST_PROP(EventJson, decoding_returns_what_was_encoded, ()) {
  const Event event = *testing::any_event();
  RC_ASSERT(well_formed(event).has_value());
  const std::string payload = encode(event);
  RC_ASSERT(payload.find('\n') == std::string::npos);  // the hash chain counts on one line
  RC_ASSERT(is_utf8(payload));
  const auto decoded = decode(kind_of(event), payload);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == event);
  RC_ASSERT(encode(*decoded) == payload);
}

// The stored form is a contract with every ledger in the field.
TEST(EventJson, has_the_documented_form) {
  EXPECT_EQ(
      encode(two_nodes()),
      R"({"anchor":1700000000,"begin":1700000000,"job":17,"kind":"run","nodes":[{"node":"n1","processors":4000000},)"
      R"({"node":"n2","processors":2000000}],"ordinal":0,"organization":"physics","processors":6000000})");
  SegmentOpened task = two_nodes();
  task.nodes.pop_back();
  task.processors = {4'000'000};
  task.placement = "nodes=n1";
  task.released = {1699999999};
  task.waited_as = {16};
  EXPECT_EQ(
      encode(task),
      R"({"anchor":1700000000,"begin":1700000000,"job":17,"kind":"run","nodes":[{"node":"n1","processors":4000000}],)"
      R"("ordinal":0,"organization":"physics","placement":"nodes=n1","processors":4000000,"released":1699999999,)"
      R"("waited_as":16})");
  EXPECT_EQ(encode(SegmentClosed{{SegmentKind::wait, {17}, {5}, 2}, {9}, CloseReason::started, "RUNNING"}),
            R"({"anchor":5,"end":9,"job":17,"job_state":"RUNNING","kind":"wait","ordinal":2,"reason":"started"})");
  EXPECT_EQ(encode(RankingDeclared{{5}, "shapley_rate", 3600, 500'000, {{"physics", 0}}}),
            R"({"at":5,"contribution":"shapley_rate","exceptions":[{"organization":"physics","parts_per_million":0}],)"
            R"("guarantee":500000,"horizon":3600})");
  // What runs counts: ledgers of before have no such member, and say that it does not.
  EXPECT_EQ(encode(RankingDeclared{{5}, "direct_contr", 3600, 500'000, {}, 100'000}),
            R"({"at":5,"contribution":"direct_contr","exceptions":[],"guarantee":500000,"horizon":3600,)"
            R"("running_weight":100000})");
  // So it is with a rule that brakes.
  EXPECT_EQ(encode(RankingDeclared{{5}, "direct_contr", 0, 500'000, {}, 0, Guests::last, KeyRule::braking}),
            R"({"at":5,"contribution":"direct_contr","exceptions":[],"guarantee":500000,"guests":"last","horizon":0,)"
            R"("rule":"braking"})");
  EXPECT_EQ(encode(ResidualMeasured{{5}, 7200, 20}), R"({"at":5,"runs":20,"seconds":7200})");
  EXPECT_EQ(encode(HindsightBounded{{5}, Coalitions::pairs, 2000, 1000}),
            R"({"at":5,"bound":1000,"coalitions":"pairs","needed":2000})");
  EXPECT_EQ(encode(PeriodDeclared{{5}, Period::monthly}), R"({"at":5,"period":"monthly"})");
}

TEST(EventJson, keeps_bytes_that_are_no_utf8) {
  const ConfigurationLoaded event{{5}, "caf\xe9"};
  EXPECT_EQ(encode(event), R"({"at":5,"text":{"hex":"636166e9"}})");
  EXPECT_EQ(std::get<ConfigurationLoaded>(*decode("configuration_loaded", encode(event))).text, "caf\xe9");
  // Text that could be a string must be one: one event, one payload.
  EXPECT_FALSE(decode("configuration_loaded", R"({"at":5,"text":{"hex":"6161"}})"));
}

struct Refused {
  const char* kind;
  const char* payload;
  const char* because;
};

class DecodeRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(DecodeRefuses, and_says_why) {
  const auto decoded = decode(GetParam().kind, GetParam().payload);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Errc::corrupt);
  EXPECT_NE(decoded.error().what.find(GetParam().because), std::string::npos) << decoded.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    EventJson, DecodeRefuses,
    ::testing::Values(
        Refused{"segment_opened", "{", "no JSON"}, Refused{"segment_opened", "[]", "not an object"},
        Refused{"period_declared", "17", "not an object"},
        Refused{"segment_exploded", "{}", "unknown kind 'segment_exploded'"},
        Refused{"period_declared", R"({"at":5})", "period is missing"},
        Refused{"period_declared", R"({"at":5,"period":"weekly"})", "period is no known word"},
        Refused{"period_declared", R"({"at":5,"period":"none","x":1})", "unknown members"},
        Refused{"period_declared", R"({"at":"5","period":"none"})", "at is no integer"},
        Refused{"period_declared", R"({"at":5.5,"period":"none"})", "at is no integer"},
        Refused{"period_declared", R"({"at":18446744073709551615,"period":"none"})", "at is no integer"},
        Refused{"configuration_loaded", R"({"at":5,"text":17})", "text is no text"},
        Refused{"configuration_loaded", R"({"at":5,"text":{"hex":"0g"}})", "text is no text"},
        Refused{"segment_retracted", R"({"anchor":1,"at":5,"job":-1,"kind":"run","ordinal":0})", "job is no integer"},
        Refused{"segment_retracted", R"({"anchor":1,"at":5,"job":4294967296,"kind":"run","ordinal":0})",
                "job is no integer"},
        Refused{"organizations_declared", R"({"at":5,"names":"a"})", "names is no array"},
        Refused{
            "segment_opened",
            R"({"anchor":1,"begin":1,"job":1,"kind":"run","nodes":[],"ordinal":0,"organization":"a","processors":0,)"
            R"("released":null})",
            "released is written though it says nothing"},
        Refused{
            "segment_opened",
            R"({"anchor":1,"begin":1,"job":1,"kind":"run","nodes":[17],"ordinal":0,"organization":"a","processors":0})",
            "not an object"}));

struct Malformed {
  Event event;
  const char* because;
};

class WellFormedRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(WellFormedRefuses, and_says_why) {
  const auto verdict = well_formed(GetParam().event);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, Errc::invalid_argument);
  EXPECT_NE(verdict.error().what.find(GetParam().because), std::string::npos) << verdict.error().what;
  EXPECT_NE(verdict.error().what.find(event_key(GetParam().event)), std::string::npos) << verdict.error().what;
  // What may not be written may not be read either.
  EXPECT_FALSE(decode(kind_of(GetParam().event), encode(GetParam().event)));
}

template <typename Change>
Event changed(Change change) {
  SegmentOpened event = two_nodes();
  change(event);
  return event;
}

INSTANTIATE_TEST_SUITE_P(
    EventJson, WellFormedRefuses,
    ::testing::Values(
        Malformed{changed([](auto& e) { e.processors = {5}; }), "sum over its nodes"},
        Malformed{changed([](auto& e) { std::swap(e.nodes[0], e.nodes[1]); }), "ascend"},
        Malformed{changed([](auto& e) { e.nodes[0].processors = {0}; }), "must be positive"},
        Malformed{changed([](auto& e) { e.organization = ""; }), "needs a name"},
        Malformed{changed([](auto& e) { e.begin = {-1}; }), "1970"},
        Malformed{changed([](auto& e) { e.key.kind = SegmentKind::wait; }), "a wait holds no nodes"},
        Malformed{changed([](auto& e) { e.released = {-1}; }), "1970"},
        Malformed{changed([](auto& e) { e.released = e.begin + Duration{1}; }), "before it is released"},
        Malformed{changed([](auto& e) { e.waited_as = {16}; }), "was released"},
        Malformed{changed([](auto& e) {
                    e.released = e.begin;
                    e.waited_as = e.key.job;
                  }),
                  "its own job"},
        Malformed{changed([](auto& e) {
                    e.key.kind = SegmentKind::wait;
                    e.nodes.clear();
                    e.released = e.begin;
                  }),
                  "at its anchor"},
        Malformed{changed([](auto& e) {
                    e.key.kind = SegmentKind::wait;
                    e.nodes.clear();
                    e.waited_as = e.key.job;
                  }),
                  "its own job"},
        Malformed{SegmentClosed{{}, {-5}, CloseReason::ended, ""}, "1970"},
        Malformed{SegmentRetracted{{}, {-5}}, "1970"}, Malformed{OrganizationsDeclared{{5}, {"a", "a"}}, "once"},
        Malformed{OwnershipStated{"n1", {5}, {{{7}, {{"a", 600'000}, {"b", 400'001}}}}}, "exceed 100 %"},
        Malformed{CapacityChanged{"n1", {5}, 0, {-1}}, "0 to a million"},
        Malformed{CapacityChanged{"n1", {5}, 0, {}, {}, 8, 0, {}, 7}, "all CPUs or none"},
        Malformed{CapacityChanged{"n1", {5}, 0, {}, {}, 0, 0, {}, 0}, "1 to a million"},
        Malformed{RankingDeclared{{5}, "", 0, 0, {}}, "name"},
        Malformed{RankingDeclared{{5}, "direct_contr", -1, 0, {}}, "horizon"},
        Malformed{RankingDeclared{{5}, "direct_contr", 0, 1'000'001, {}}, "guarantee"},
        Malformed{RankingDeclared{{5}, "direct_contr", 0, 0, {{"b", 1}, {"a", 1}}}, "ascend"},
        Malformed{RankingDeclared{{5}, "direct_contr", 0, 0, {}, -1}, "weight of what runs"},
        Malformed{RankingDeclared{{5}, "direct_contr", 0, 0, {}, 1'000'001}, "weight of what runs"},
        Malformed{RankingDeclared{{5}, "direct_contr", 1, 0, {}, 0, Guests::last, KeyRule::braking}, "brakes"},
        Malformed{RankingDeclared{{5}, "direct_contr", 0, 0, {}, 1, Guests::last, KeyRule::braking}, "brakes"},
        Malformed{ResidualMeasured{{5}, 0, 20}, "1 second to 365 days"},
        Malformed{ResidualMeasured{{5}, 31'536'001, 20}, "1 second to 365 days"},
        Malformed{ResidualMeasured{{5}, 60, 0}, "one run"}, Malformed{PeriodDeclared{{-1}, Period::none}, "1970"},
        Malformed{testing::described({1}, {-1}, "a"), "1970"}, Malformed{ConfigurationLoaded{{-1}, ""}, "1970"}));

TEST(Text, knows_utf8) {
  for (const char* good :
       {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << to_hex(good);
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xc3(", "\xe2(\xac"}) {
    EXPECT_FALSE(is_utf8(bad)) << to_hex(bad);
  }
}

RC_GTEST_PROP(Text, hex_returns, (const std::string& bytes)) {
  RC_ASSERT(from_hex(to_hex(bytes)) == bytes);
}

}  // namespace
}  // namespace shapley::ledger
