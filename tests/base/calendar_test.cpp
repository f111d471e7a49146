#include "base/calendar.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/time_zone.hpp"

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

std::tm local(std::int64_t instant) {
  const auto seconds = static_cast<std::time_t>(instant);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fields;
}

std::tm fields_of(int month, int day, int hour, int minute) {
  std::tm fields{};
  fields.tm_year = 2026 - 1900;
  fields.tm_mon = month - 1;
  fields.tm_mday = day;
  fields.tm_hour = hour;
  fields.tm_min = minute;
  return fields;
}

std::set<std::int64_t> instants(const std::tm& fields) {
  const auto [standard, summer] = instants_of_local(fields);
  std::set<std::int64_t> found;
  if (standard) found.insert(standard->value);
  if (summer) found.insert(summer->value);
  return found;
}

constexpr std::int64_t k_begin_2026 = 1767225600;

// The definition: all instants of the day before, the day and the day after at which clocks show the fields.
std::set<std::int64_t> searched(const std::tm& fields, std::int64_t near) {
  std::set<std::int64_t> found;
  for (std::int64_t t = near - 86400; t <= near + 86400; t += 1800) {
    const std::tm shown = local(t);
    if (shown.tm_mday == fields.tm_mday && shown.tm_hour == fields.tm_hour && shown.tm_min == fields.tm_min)
      found.insert(t);
  }
  return found;
}

TEST(Calendar, DurationsForPeopleHaveTwoUnitsAtMost) {
  EXPECT_EQ(short_duration(-5), "0 s");
  EXPECT_EQ(short_duration(59), "59 s");
  EXPECT_EQ(short_duration(3599), "59 min");
  EXPECT_EQ(short_duration(3600), "1 h");
  EXPECT_EQ(short_duration(5 * 3600 + 12 * 60 + 59), "5 h 12 min");
  EXPECT_EQ(short_duration(9 * 86400 + 4 * 3600), "9 days 4 h");
  EXPECT_EQ(short_duration(273'843), "3 days 4 h");
  EXPECT_EQ(short_duration(86400), "1 day");
}

TEST(LocalClock, FindsEveryInstantOfAYear) {
  for (const char* name : {"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "LHST-10:30LHDT-11,M10.1.0,M4.1.0",
                           "IST-5:30", "UTC"}) {
    const testing::TimeZone zone(name);
    for (std::int64_t t = k_begin_2026; t < k_begin_2026 + 365 * 86400; t += 1800)
      ASSERT_EQ(instants(local(t)), searched(local(t), t)) << name << ' ' << t;
  }
}

TEST(LocalClock, KnowsTheHourThatComesTwiceAndTheOneThatIsSkipped) {
  const testing::TimeZone zone(testing::k_berlin);
  const auto [standard, summer] = instants_of_local(fields_of(10, 25, 2, 30));
  ASSERT_TRUE(standard && summer);
  EXPECT_EQ((*standard - *summer).value, 3600);
  EXPECT_TRUE(instants(fields_of(3, 29, 2, 30)).empty());
  EXPECT_TRUE(instants(fields_of(2, 30, 12, 0)).empty());
  EXPECT_TRUE(instants(fields_of(13, 1, 12, 0)).empty());
}

}  // namespace
}  // namespace shapley
