// How people write lengths of time: a number, and one letter for its unit ("45s", "30m", "6h", "7d"); without one,
// seconds ("300").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/calendar.hpp"
#include "base/types.hpp"

namespace shapley {

struct DurationUnit {
  char letter;
  std::string_view word;
  std::int64_t seconds;
};
inline constexpr std::array k_duration_units{DurationUnit{'d', "day", k_day_s}, DurationUnit{'h', "hour", 3'600},
                                             DurationUnit{'m', "minute", 60}, DurationUnit{'s', "second", 1}};

// The text without its unit, and the unit's seconds. What the rest must be is the caller's business.
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

// The largest unit of which the duration is a whole number; of no duration at all: days.
[[nodiscard]] constexpr const DurationUnit& largest_unit(Duration duration) {
  for (const DurationUnit& unit : k_duration_units) {
    if (duration.value % unit.seconds == 0) return unit;
  }
  return k_duration_units.back();
}

}  // namespace shapley
