// A planning instance from a stretch of a trace: what was submitted in it, taken as one queue that waits at its end.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "sim/input/grid_file.hpp"
#include "sim/input/workload_source.hpp"

namespace shapley::sim {

struct PendingQueue {
  WorkloadSource source;  // its trace is empty: no trace was asked for
  std::size_t organizations = 5;
  std::int64_t processors = 0;        // of all organizations, in equal parts; 0: as the trace says
  std::optional<std::int64_t> begin;  // seconds of the trace; none: its first submission
  Duration length{3600};
  std::uint64_t seed = 1;  // of the users' organizations
};

struct PendingGrid {
  NamedGrid named;
  std::size_t too_wide = 0;  // jobs left out: wider than the smallest cluster
};

// Run times are those of the trace, known in advance. Errc::not_found when no job that fits was submitted in the
// stretch.
[[nodiscard]] Expected<PendingGrid> read_pending(const PendingQueue& queue);

}  // namespace shapley::sim
