// The source of a command's jobs: a trace file (SWF, sacct -P, or a ledger of shapleyd), the embedded excerpt, or a
// generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"
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

// A stretch of LPC-EGEE of the Parallel Workloads Archive, as SWF with its header (lab/sim/input/excerpt.swf).
[[nodiscard]] std::string_view embedded_excerpt();

// The runs of a ledger as a trace: what a consortium really ran, to be scheduled again by any policy.
//
// One job per run (a job that was requeued ran twice), with the seconds and processors that it held, suspensions left
// out; users are Slurm's user ids, groups the organizations that the runs are booked under. The ledger is only read.
[[nodiscard]] bool is_ledger(const std::filesystem::path& file);
[[nodiscard]] Expected<workload::Trace> read_ledger_trace(const std::filesystem::path& file);

}  // namespace shapley::sim
