// An instance from a stretch of a trace, as in the papers' experiments [SR13 Sec. 7.2]: the jobs submitted in [begin,
// begin + length), on a machine that is empty at instant 0, which is `begin`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "scheduling/instance.hpp"
#include "workload/assignment.hpp"
#include "workload/trace.hpp"

namespace shapley::workload {

// What becomes of a job of q processors: q sequential jobs of its duration, side by side in the input, as in the
// papers' experiments; or one rigid job that takes all q at once.
enum class ParallelJobs { copies, rigid };

struct Window {
  scheduling::Instance instance;
  std::vector<std::uint32_t> trace_job;  // of each instance job: index into Trace::jobs
};

// Errc::limit when the copies would exceed 100 million jobs, or rigid ones as many processors in sum.
// Errc::invalid_argument when a rigid job is wider than all processors.
[[nodiscard]] Expected<Window> cut_window(const Trace& trace, const Assignment& assignment,
                                          std::vector<std::uint32_t> processors, Instant begin, Duration length,
                                          ParallelJobs parallel = ParallelJobs::copies);

// The last instant at which a window may begin and still lie inside the submissions; the first submission when the
// trace is shorter than `length`. REQUIRES: the trace has a job.
[[nodiscard]] Instant last_window_begin(const Trace& trace, Duration length);

}  // namespace shapley::workload
