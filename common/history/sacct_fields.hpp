// The fields of sacct's rows, one text each. Pure but for the process's time zone.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::history {

// Digits, nothing else, within the type.
template <typename Integer>
[[nodiscard]] std::optional<Integer> parse_number(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || text.front() == '-')
    return std::nullopt;
  return value;
}

// "17", "17_3" (an array's task), "17+1" (a part of a heterogeneous job).
struct JobName {
  std::optional<std::uint32_t> number;  // the job's own, where the text tells it
  std::uint32_t array_job = 0;
  std::optional<std::uint32_t> array_task;
  std::uint32_t het_job = 0;
};
[[nodiscard]] JobName parse_job_name(std::string_view text);

// A local time; `twin` where clocks show it twice. Neither: Slurm's words for none ("Unknown", "None").
struct LocalTime {
  std::optional<Instant> instant;  // the earlier one
  std::optional<Instant> twin;
};
// "2026-11-21T07:00:00" in the process's time zone, or seconds since the epoch; nullopt on anything else.
[[nodiscard]] std::optional<LocalTime> parse_time(std::string_view text);
// Of the readings of a run's times the first, the earlier ones first, in which it lasts `elapsed` seconds beside its
// suspensions; where that is not known, in which it does not end before it starts.
void settle_twins(LocalTime& start, LocalTime& end, Duration suspended, std::optional<std::int64_t> elapsed);

// "[days-]hours:minutes:seconds" or "minutes:seconds".
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
// Slurm's words for a time limit that there is not.
[[nodiscard]] bool is_no_limit(std::string_view text);

struct HeldResources {
  std::uint64_t memory = 0;  // MiB
  std::vector<protocol::Tres> gres;
};
// "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:tesla=2"; empty: nothing. nullopt: it is not of this form.
[[nodiscard]] std::optional<HeldResources> parse_tres(std::string_view text);
// A number with one of the letters K, M, G, T, P or none, in MiB: "512M" is 512; without a letter it is MiB.
[[nodiscard]] std::optional<std::uint64_t> parse_mib(std::string_view text);

}  // namespace shapley::history
