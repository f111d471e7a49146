// An instance from a stretch of a trace, as in the papers' experiments [SR13 Sec. 7.2]: the jobs submitted in
// [begin, begin + length) meet an empty machine at instant 0.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "fairness/instance.hpp"
#include "workload/assignment.hpp"
#include "workload/trace.hpp"

namespace shapley::workload {

struct Window {
  // Parallel jobs are copies: q processors become q sequential jobs of the same duration, side by side in the input.
  fairness::Instance instance;
  std::vector<std::uint32_t> trace_job;  // of each instance job: index into Trace::jobs
};

// Errc::limit when the copies would exceed 100 million jobs.
[[nodiscard]] Expected<Window> cut_window(const Trace& trace, const Assignment& assignment,
                                          std::vector<std::uint32_t> processors, Instant begin, Duration length);

// The last instant at which a window may begin and still lie inside the submissions; the first submission when the
// trace is shorter than `length`. REQUIRES: the trace has a job.
[[nodiscard]] Instant last_window_begin(const Trace& trace, Duration length);

}  // namespace shapley::workload
