#include "base/slurm_text.hpp"

#include <gtest/gtest.h>

#include "tests/support/time_zone.hpp"

namespace shapley {
namespace {

TEST(SlurmTime, an_hour_shown_twice_means_two_instants) {
  const testing::TimeZone berlin(testing::k_berlin);
  const auto time = parse_slurm_time("2026-10-25T02:30:00");
  ASSERT_TRUE(time && time->twin);
  EXPECT_EQ(time->instant, Instant{1792888200});  // 00:30 UTC, summer time
  EXPECT_EQ(time->twin, Instant{1792891800});     // 01:30 UTC
  EXPECT_FALSE(parse_slurm_time("2026-10-25T03:30:00")->twin);
}

TEST(SlurmTime, an_hour_that_is_skipped_means_none) {
  const testing::TimeZone berlin(testing::k_berlin);
  EXPECT_FALSE(parse_slurm_time("2026-03-29T02:30:00"));
  EXPECT_TRUE(parse_slurm_time("2026-03-29T03:30:00"));
}

TEST(SlurmTime, accepts_one_form_and_seconds) {
  const testing::TimeZone utc("UTC0");
  EXPECT_EQ(parse_slurm_time("1970-01-01T00:00:00")->instant, Instant{0});
  for (const char* bad :
       {"2026-11-21", "2026-11-21 07:00:00", "2026-11-21T07:00:00Z", "2026-11-21T24:00:00", "2026-13-01T00:00:00",
        "2026-11-21T07:60:00", "2026-1-21T07:00:000", "-026-11-21T07:00:00", "1969-12-31T23:59:59"}) {
    EXPECT_FALSE(parse_slurm_time(bad)) << bad;
  }
  EXPECT_EQ(parse_slurm_time("1795244400")->instant, Instant{1795244400});
  EXPECT_FALSE(parse_slurm_time("1795244400000000"));
  for (const char* none : {"", "0", "Unknown", "None", "N/A"}) {
    ASSERT_TRUE(parse_slurm_time(none)) << none;
    EXPECT_FALSE(parse_slurm_time(none)->instant) << none;
  }
}

TEST(SlurmDuration, accepts_what_sacct_prints) {
  EXPECT_EQ(parse_slurm_duration("00:00:00"), Duration{0});
  EXPECT_EQ(parse_slurm_duration("01:02:03"), Duration{3723});
  EXPECT_EQ(parse_slurm_duration("10-00:00:01"), Duration{864001});
  EXPECT_EQ(parse_slurm_duration("02:03"), Duration{123});
  for (const char* bad : {"", "5", "-1:00:00", "1:2:3:4", "a:b", "1-", "00:00:00.000", "99999999999999999999:00"}) {
    EXPECT_FALSE(parse_slurm_duration(bad)) << bad;
  }
}

}  // namespace
}  // namespace shapley
