// Where a command's jobs come from: a trace file (SWF, sacct -P, or a ledger of shapleyd), the embedded excerpt, or a
// generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "workload/generate.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

inline constexpr std::string_view k_embedded_excerpt = "excerpt";  // in place of a file name

struct WorkloadSource {
  std::string trace;  // file name or k_embedded_excerpt; empty: generate
  workload::Malformed malformed = workload::Malformed::refuse;
  workload::GeneratorOptions generator;
};

// Errors begin with "trace:" or "generator:". Errc::invalid_argument when the trace holds no job.
[[nodiscard]] Expected<workload::Trace> load_workload(const WorkloadSource& source);

// A stretch of LPC-EGEE of the Parallel Workloads Archive, as SWF with its header (sim/input/excerpt.swf).
[[nodiscard]] std::string_view embedded_excerpt();

}  // namespace shapley::sim
