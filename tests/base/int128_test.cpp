#include "base/int128.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace shapley {
namespace {

__extension__ using UInt128 = unsigned __int128;
constexpr Int128 k_max = static_cast<Int128>(~static_cast<UInt128>(0) >> 1U);

TEST(Int128Text, RoundTripsTheEndsOfTheRange) {
  for (const Int128 value :
       {Int128{0}, Int128{-1}, Int128{std::numeric_limits<long>::max()} * 1000, k_max, -k_max - 1}) {
    const auto parsed = parse_int128(to_string(value));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_TRUE(*parsed == value);
  }
  EXPECT_EQ(to_string(k_max), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(-k_max - 1), "-170141183460469231731687303715884105728");
}

TEST(Int128Text, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "170141183460469231731687303715884105728",
                           "-170141183460469231731687303715884105729", "999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_int128(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace shapley
