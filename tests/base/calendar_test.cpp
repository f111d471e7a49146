#include "base/calendar.hpp"

#include <gtest/gtest.h>

namespace shapley {
namespace {

Instant at(const char* text) {
  const auto t = parse_instant(text);
  EXPECT_TRUE(t.has_value()) << text;
  return t.value_or(Instant{});
}

TEST(Calendar, ReadsAndWritesInstants) {
  EXPECT_EQ(at("1970-01-01").value, 0);
  EXPECT_EQ(at("2024-02-29T23:59:59Z").value, 1709251199);
  EXPECT_EQ(format_instant(at("2026-11-21T07:05:09")), "2026-11-21T07:05:09Z");
}

TEST(Calendar, RefusesImpossibleDates) {
  for (const char* text : {"", "2026", "2026-13-01", "2025-02-29", "2026-1-1", "1969-12-31", "2026-01-01T24:00:00",
                           "2026-01-01 00:00:00", "2026-01-01T00:00", "2026-01-01TZ", "2026-01-01x"}) {
    EXPECT_FALSE(parse_instant(text).has_value()) << text;
  }
}

TEST(Calendar, DaysBeginAtMidnight) {
  EXPECT_EQ(day_begin(at("2026-11-21T23:59:59")), at("2026-11-21"));
  EXPECT_EQ(day_begin(at("2026-11-21")), at("2026-11-21"));
  EXPECT_EQ(day_begin(Instant{-1}), Instant{-k_day_s});
}

TEST(Calendar, PeriodsMeetWithoutGapOrOverlap) {
  const Instant t = at("2026-11-21T07:00:00");
  EXPECT_EQ(period_begin(Period::monthly, t), at("2026-11-01"));
  EXPECT_EQ(period_end(Period::monthly, t), at("2026-12-01"));
  EXPECT_EQ(period_begin(Period::quarterly, t), at("2026-10-01"));
  EXPECT_EQ(period_end(Period::quarterly, t), at("2027-01-01"));
  EXPECT_EQ(period_begin(Period::yearly, t), at("2026-01-01"));
  EXPECT_EQ(period_end(Period::yearly, t), at("2027-01-01"));
  EXPECT_EQ(period_begin(Period::none, t), k_beginning_of_time);
  EXPECT_EQ(period_end(Period::none, t), k_end_of_time);
  // A boundary belongs to the period that it begins.
  EXPECT_EQ(period_begin(Period::monthly, at("2026-12-01")), at("2026-12-01"));
}

}  // namespace
}  // namespace shapley
