#include "config/endpoint.hpp"

#include <gtest/gtest.h>

namespace shapley::config {
namespace {

TEST(Endpoint, is_host_and_port) {
  EXPECT_EQ(*parse_endpoint("ctl2:7020"), (Endpoint{"ctl2", 7020}));
  EXPECT_EQ(*parse_endpoint("10.0.0.2:65535"), (Endpoint{"10.0.0.2", 65535}));
  EXPECT_EQ(*parse_endpoint("[fd00::2]:1"), (Endpoint{"fd00::2", 1}));
}

TEST(Endpoint, nothing_else) {
  for (const char* text :
       {"", ":", "ctl2", "ctl2:", ":7020", "ctl2:0", "ctl2:65536", "ctl2:-1", "ctl2:+1", "ctl2:7020 ", " ctl2:7020",
        "ctl2: 7020", "ctl2:70x", "fd00::2:7020", "[fd00::2]", "[]:7020", "[a:7020", "a/b:7020", "/run/a.sock"}) {
    const auto parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
    EXPECT_NE(parsed.error().what.find("write HOST:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace shapley::config
