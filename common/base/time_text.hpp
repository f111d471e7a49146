// Times as people write them on a command line: the forms that Slurm's own commands take (sacct(1), "Time formats"), an
// offset from UTC, and seconds since the epoch. Pure: the present is an argument.
//
//   now | now{+|-}COUNT[UNIT]          UNIT: seconds (default), minutes, hours, days or weeks, with or without the last
//                                      s, or the first letter
//   DATE | CLOCK | DATE{T|-| }CLOCK    followed by an offset, if there is a CLOCK
//   DATE    YYYY-MM-DD, MM/DD[/YY], MM.DD[.YY], MMDD[YY], today or tomorrow; alone: its first second
//   CLOCK   HH:MM[:SS][ ][AM|PM], midnight, noon, elevenses (11:00), fika (15:00) or teatime (16:00); alone: of today
//   OFFSET  Z, or +HH:MM, +HHMM, +HH and the same with -: what clocks there are ahead of UTC; without one: UTC
//   SECONDS since the epoch, of at least nine digits; or uts and seconds of any length
//
// Words are known in upper and lower case. A date without a year is of the year of the present, or of the year before
// if its month would be later than the present one, as sacct reads it. Slurm's commands read times in the time zone of
// the process; here all times are UTC, as they are printed, whatever TZ says.
#pragma once

#include <optional>
#include <string_view>

#include "base/types.hpp"

namespace shapley {

// nullopt on anything else, on dates and clock times that there are not, and outside of the years 1970 to 9999.
[[nodiscard]] std::optional<Instant> parse_time(std::string_view text, Instant now);

// What a message about such a text says is allowed.
inline constexpr std::string_view k_times_allowed =
    "write 2026-11-21, 2026-11-21T07:00[:00][+01:00], 11/21, 07:00, today, noon, now-1hour, or seconds since 1970 "
    "(without an offset: UTC)";

}  // namespace shapley
