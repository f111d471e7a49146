#include "ctl/output/amounts.hpp"

#include <gtest/gtest.h>

namespace shapley::ctl {
namespace {

TEST(Amounts, UtilityIsExactWhenShortAndRoundedWhenLong) {
  EXPECT_EQ(short_utility("0"), "0");
  EXPECT_EQ(short_utility("-17"), "-17");
  EXPECT_EQ(short_utility("12441.999995"), "12442");
  EXPECT_EQ(short_utility("-12441.25"), "-12441");
  EXPECT_EQ(short_utility("1000000"), "1.00e6");
  EXPECT_EQ(short_utility("1234567890"), "1.23e9");
  EXPECT_EQ(short_utility("-98765432109876543210.25"), "-9.88e19");
  EXPECT_EQ(short_utility("10000000000"), "1.00e10");
}

TEST(Amounts, StandingsCarryTheirSign) {
  EXPECT_EQ(signed_core_hours(0), "0.0");
  EXPECT_EQ(signed_core_hours(12.44), "+12.4");
  EXPECT_EQ(signed_core_hours(-3.06), "-3.1");
  EXPECT_EQ(signed_core_hours(1204.34), "+1,204.3");
  EXPECT_EQ(signed_core_hours(-1234567.0), "-1,234,567.0");
  EXPECT_EQ(signed_core_hours(0.4123), "+0.412");
  EXPECT_EQ(signed_core_hours(-0.04123), "-0.0412");
  EXPECT_EQ(signed_core_hours(0.0041234), "+0.00412");
  EXPECT_EQ(unsigned_core_hours(0), "0.0");
  EXPECT_EQ(unsigned_core_hours(999.96), "1,000.0");
}

TEST(Amounts, CountsAreGroupedAndInWords) {
  EXPECT_EQ(grouped(1, "run"), "1 run");
  EXPECT_EQ(grouped(1204, "run"), "1,204 runs");
}

TEST(Amounts, NumbersLoseNeedlessZeros) {
  EXPECT_EQ(plain_number(3), "3");
  EXPECT_EQ(plain_number(-0.25), "-0.25");
  EXPECT_EQ(plain_number(0.333333), "0.333333");
  EXPECT_EQ(plain_number(2.0), "2");
  EXPECT_EQ(plain_number(100.0), "100");
  EXPECT_EQ(plain_number(-0.0), "0");
  EXPECT_EQ(plain_number(0.0000001), "1e-07");
}

TEST(Amounts, DurationsInTwoUnits) {
  EXPECT_EQ(short_duration(-5), "0 s");
  EXPECT_EQ(short_duration(59), "59 s");
  EXPECT_EQ(short_duration(3599), "59 min");
  EXPECT_EQ(short_duration(3600), "1 h 0 min");
  EXPECT_EQ(short_duration(5 * 3600 + 12 * 60 + 59), "5 h 12 min");
  EXPECT_EQ(short_duration(9 * 86400 + 4 * 3600), "9 d 4 h");
}

TEST(Amounts, CountsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1204311), "1,204,311");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
}

}  // namespace
}  // namespace shapley::ctl
