// Times, durations and lists of nodes as Slurm's commands and records write them. Pure except for the
// process's time zone (TZ).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/types.hpp"

namespace shapley {

// A time of a record. In the hour that clocks show twice in autumn one text means two instants: `twin` is the later
// one. Both are empty for the texts by which Slurm writes no time ("Unknown", "None"; in seconds: 0).
struct SlurmTime {
  std::optional<Instant> instant;
  std::optional<Instant> twin;
};
// "2026-11-21T07:00:00" in the process's time zone, or seconds since 1970 (SLURM_TIME_FORMAT=%s); nullopt on anything
// else and on times that this zone skips.
[[nodiscard]] std::optional<SlurmTime> parse_slurm_time(std::string_view text);

// "[days-]hours:minutes:seconds" or "minutes:seconds".
[[nodiscard]] std::optional<Duration> parse_slurm_duration(std::string_view text);

// Slurm's node list notation: "n[1-3,7],gpu[01-02]b,login". Leading zeros keep their width ("n[08-11]"). One or more
// bracket groups per name ("r[1-2]n[1-4]").

// A million nodes are more than any cluster has; a typing error such as n[1-99999999999] must not exhaust the memory.
// The fuzz targets have a smaller bound: at a million names each they would run a few inputs a minute.
#ifdef SHAPLEY_FUZZ_MAX_EXPANDED_NODES
inline constexpr std::size_t k_max_expanded_nodes = SHAPLEY_FUZZ_MAX_EXPANDED_NODES;
#else
inline constexpr std::size_t k_max_expanded_nodes = 1'000'000;
#endif

// For the nodes of one job: Slurm itself reads no longer range (MAX_RANGE of its hostlist.c).
inline constexpr std::size_t k_max_nodes_of_job = std::min<std::size_t>(65'536, k_max_expanded_nodes);

// Names in the order written, duplicates kept. Errc::invalid_argument says at which character (1-based) and what is
// wrong; Errc::limit above `most`.
[[nodiscard]] Expected<std::vector<std::string>> expand_brackets(std::string_view text,
                                                                 std::size_t most = k_max_expanded_nodes);

// The inverse of expand_brackets: "n1", "n2", "n10" become "n[1-2,10]". Only the last group of digits of a name gets
// brackets. Equal sets of names give the same text; the empty set gives an empty text. REQUIRES: each name once.
[[nodiscard]] std::string collapse_names(std::span<const std::string> names);

}  // namespace shapley
