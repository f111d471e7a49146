// The civil calendar in UTC, as pure arithmetic: no clock, no time zone data base.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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
[[nodiscard]] std::optional<Period> parse_period(std::string_view name);

}  // namespace shapley
