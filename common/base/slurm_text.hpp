// Numbers, times and durations as Slurm's commands and records write them. Pure but for the process's time zone (TZ).
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "base/types.hpp"

namespace shapley {

// Digits, nothing else, within the type.
template <typename Integer>
[[nodiscard]] std::optional<Integer> parse_number(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || text.front() == '-')
    return std::nullopt;
  return value;
}

// A time of a record. In the hour that clocks show twice in autumn one text means two instants: `twin` is the later
// one. Neither: Slurm's words for none ("Unknown", "None"; seconds: 0).
struct SlurmTime {
  std::optional<Instant> instant;
  std::optional<Instant> twin;
};
// "2026-11-21T07:00:00" in the process's time zone, or seconds since 1970 (SLURM_TIME_FORMAT=%s); nullopt on anything
// else and on times that this zone skips.
[[nodiscard]] std::optional<SlurmTime> parse_slurm_time(std::string_view text);

// "[days-]hours:minutes:seconds" or "minutes:seconds".
[[nodiscard]] std::optional<Duration> parse_slurm_duration(std::string_view text);

}  // namespace shapley
