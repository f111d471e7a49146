// The civil calendar in UTC and lengths of time, as pure arithmetic: no clock, and no time zone data base except in
// instants_of_local.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/types.hpp"

namespace shapley {

// How often the books are closed (standings start again from zero). none: never, as in the papers.
enum class Period { none, monthly, quarterly, yearly };

// First instant of the period that holds t (UTC); k_beginning_of_time for Period::none.
[[nodiscard]] Instant period_begin(Period period, Instant t);
// First instant after the period that holds t; k_end_of_time for Period::none.
[[nodiscard]] Instant period_end(Period period, Instant t);

// Midnight (UTC) of the day that holds t; days have k_day_s seconds.
inline constexpr std::int64_t k_day_s = 24 * 3600;
[[nodiscard]] Instant day_begin(Instant t);

// "2026-11-21" (midnight UTC), "2026-11-21T07:00:00" (UTC), with an optional final "Z". nullopt on anything else,
// impossible dates included. Years 1970 to 9999.
[[nodiscard]] std::optional<Instant> parse_instant(std::string_view text);

// "2026-11-21T07:00:00Z".
[[nodiscard]] std::string format_instant(Instant t);

[[nodiscard]] std::string_view name_of(Period period);
constexpr auto values_of(std::type_identity<Period>) {
  return std::array{Period::none, Period::monthly, Period::quarterly, Period::yearly};
}

// How people write lengths of time: a number, and one letter for its unit ("45s", "30m", "6h", "7d"); without one,
// seconds ("300").
struct DurationUnit {
  char letter;
  std::string_view word;
  std::int64_t seconds;
};
inline constexpr std::array k_duration_units{DurationUnit{'d', "day", k_day_s}, DurationUnit{'h', "hour", 3'600},
                                             DurationUnit{'m', "minute", 60}, DurationUnit{'s', "second", 1}};

// The text without its unit, and the seconds of the unit. The caller checks the rest of the text.
struct WrittenDuration {
  std::string_view number;
  std::int64_t unit_s = 1;
};
[[nodiscard]] constexpr WrittenDuration split_duration(std::string_view text) {
  for (const DurationUnit& unit : k_duration_units) {
    if (text.ends_with(unit.letter)) return {text.substr(0, text.size() - 1), unit.seconds};
  }
  return {text};
}

// The largest unit of which the duration is a whole number; days for a duration of zero.
[[nodiscard]] constexpr const DurationUnit& largest_unit(Duration duration) {
  for (const DurationUnit& unit : k_duration_units) {
    if (duration.value % unit.seconds == 0) return unit;
  }
  return k_duration_units.back();
}

// A duration for people: "4 s", "3 min", "5 h 12 min", "9 days 4 h". Negative durations (of clocks that disagree) are
// shown as 0.
[[nodiscard]] std::string short_duration(std::int64_t seconds);

// The instants at which clocks of the process's time zone (TZ) show these fields, year to second (other fields are
// ignored), read as standard time and as summer time. In the hour that clocks show twice both are set and differ;
// otherwise one is set, or both are equal. Both are empty in the hour that clocks skip, for impossible dates and before
// 1970. Depends on TZ and the time zone data base alone.
struct LocalInstants {
  std::optional<Instant> standard;
  std::optional<Instant> summer;
};
[[nodiscard]] LocalInstants instants_of_local(const std::tm& fields);

}  // namespace shapley
