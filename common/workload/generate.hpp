// Generated workloads, for those without a trace and for cases that no trace has. The same seed gives the same jobs on
// any machine: only integers are drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "workload/trace.hpp"

namespace shapley::workload {

enum class WorkloadKind {
  bursty,  // users come in sessions: 1 to 127 jobs of similar length, a few seconds apart; sessions fall anywhere
  unit,    // as bursty, but every job lasts one second
  zipf,    // single jobs at any time; user i sends a part proportional to 1/(i+1) of them
};
[[nodiscard]] std::optional<WorkloadKind> parse_workload_kind(std::string_view name);

struct GeneratorOptions {
  WorkloadKind kind = WorkloadKind::bursty;
  std::uint32_t users = 50;
  std::int64_t processors = 70;
  Duration length{5'000'000};
  std::uint32_t load_percent = 70;  // submitted work in percent of processors * length
  std::uint64_t seed = 1;
};

// Sequential jobs of users "u0", "u1", ... until the load is reached. Durations are 2^4 to 2^14 seconds, log-uniform.
// Errc::invalid_argument for a value out of range; Errc::limit above 50 million jobs.
[[nodiscard]] Expected<Trace> generate(const GeneratorOptions& options);

}  // namespace shapley::workload
