// `shapley-sim trace`: what is in a trace, before anybody draws conclusions from it.
#pragma once

#include <iosfwd>

#include "sim/input/workload_source.hpp"
#include "workload/window.hpp"

namespace shapley::sim {

struct TraceArguments {
  WorkloadSource source;
  std::int64_t processors = 0;                                       // 0: as the trace says
  Duration length{50'000};                                           // of the windows that are counted
  workload::ParallelJobs parallel = workload::ParallelJobs::copies;  // when contention is counted
  bool json = false;
};

[[nodiscard]] Expected<void> describe_trace(const TraceArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
