#include "base/local_clock.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/time_zone.hpp"
namespace shapley {
namespace {

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

TEST(LocalClock, FindsEveryInstantOfAYear) {
  for (const char* name : {"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "IST-5:30", "UTC"}) {
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
