// PriorityParameters: what an administrator writes is taken, and what is wrong is refused by name.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "config/configuration.hpp"

extern "C" {
#include "plugin/options.h"
}

namespace {

struct Parsed {
  bool ok = false;
  shapley_options_t options{};
  std::string fault;
};

Parsed parse(const char* text) {
  Parsed result;
  char fault[256] = "";
  result.ok = shapley_options_parse(text, &result.options, fault, sizeof(fault));
  result.fault = fault;
  return result;
}

TEST(Options, NothingGivesTheDefaults) {
  for (const char* text : {static_cast<const char*>(nullptr), "", " ", ",,"}) {
    const Parsed parsed = parse(text);
    ASSERT_TRUE(parsed.ok) << parsed.fault;
    EXPECT_STREQ(parsed.options.socket_path, "/run/shapley/shapleyd.sock");
    EXPECT_EQ(parsed.options.interval_ms, 1000U);
    EXPECT_EQ(parsed.options.spool_max_bytes, 64ULL << 20);
  }
}

// Without a word in slurm.conf and shapleyd.yaml the two must meet.
TEST(Options, TheDefaultSocketIsShapleyds) {
  EXPECT_EQ(parse("").options.socket_path, shapley::config::Configuration{}.socket);
}

TEST(Options, EveryKeyIsTaken) {
  const Parsed parsed = parse("socket=/srv/s.sock, interval=0.25 ,spool_max=2");
  ASSERT_TRUE(parsed.ok) << parsed.fault;
  EXPECT_STREQ(parsed.options.socket_path, "/srv/s.sock");
  EXPECT_EQ(parsed.options.interval_ms, 250U);
  EXPECT_EQ(parsed.options.spool_max_bytes, 2ULL << 20);
}

TEST(Options, UnknownOnesAreRefusedByNameWithWhatIsAllowed) {
  for (const char* text : {"sokcet=/x", "interval=1,sokcet=/x", "sokcet", "Socket=/x"}) {
    const Parsed parsed = parse(text);
    EXPECT_FALSE(parsed.ok) << text;
    EXPECT_NE(parsed.fault.find(text[0] == 'S' ? "\"Socket\"" : "\"sokcet\""), std::string::npos) << parsed.fault;
    for (const char* allowed : {"socket=", "interval=", "spool_max="})
      EXPECT_NE(parsed.fault.find(allowed), std::string::npos) << parsed.fault;
  }
}

TEST(Options, BadValuesAreRefusedWithWhatIsExpected) {
  const std::string too_long = "socket=/" + std::string(107, 'x');
  for (const char* text :
       {"socket=relative", "socket=", "socket", too_long.c_str(), "interval=0", "interval=0.05", "interval=61",
        "interval=1s", "interval=nan", "interval=-1", "interval=1e1", "interval=.", "interval=1.2.3", "interval",
        "spool_max=0", "spool_max=1.5", "spool_max=65537", "spool_max=1M", "socket=/a,socket=/b"}) {
    const Parsed parsed = parse(text);
    EXPECT_FALSE(parsed.ok) << text;
    const std::string key = std::string(text).substr(0, std::string(text).find('='));
    EXPECT_TRUE(parsed.fault.starts_with(key)) << parsed.fault;
  }
}

TEST(Options, LimitsThemselvesAreAllowed) {
  EXPECT_EQ(parse("interval=0.1").options.interval_ms, 100U);
  EXPECT_EQ(parse("interval=60").options.interval_ms, 60000U);
  EXPECT_EQ(parse("spool_max=65536").options.spool_max_bytes, 64ULL << 30);
  EXPECT_TRUE(parse(("socket=/" + std::string(106, 'x')).c_str()).ok);
}

TEST(Options, AFaultLeavesTheOptionsAlone) {
  shapley_options_t options{};
  char fault[64];
  ASSERT_TRUE(shapley_options_parse("interval=2", &options, fault, sizeof(fault)));
  EXPECT_FALSE(shapley_options_parse("interval=3,nonsense=1", &options, fault, sizeof(fault)));
  EXPECT_EQ(options.interval_ms, 2000U);
}

TEST(Options, ALineWithoutEndIsRefused) {
  EXPECT_FALSE(parse(std::string(5000, ',').c_str()).ok);
}

}  // namespace
