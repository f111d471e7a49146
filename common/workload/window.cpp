#include "workload/window.hpp"

#include <algorithm>

namespace shapley::workload {

namespace {
constexpr std::uint64_t k_max_copies = 100'000'000;
}

Expected<Window> cut_window(const Trace& trace, const Assignment& assignment, std::vector<std::uint32_t> processors,
                            Instant begin, Duration length, ParallelJobs parallel) {
  Window window;
  window.instance.processors = std::move(processors);
  window.instance.end = {length.value};
  const auto first = std::lower_bound(trace.jobs.begin(), trace.jobs.end(), begin,
                                      [](const TraceJob& job, Instant t) { return job.submit < t; });
  std::uint64_t copies = 0;
  for (auto job = first; job != trace.jobs.end() && job->submit < begin + length; ++job) {
    copies += static_cast<std::uint64_t>(job->processors);
    if (copies > k_max_copies) {
      return fail(Errc::limit, "a window of " + std::to_string(length.value) + " s holds more than " +
                                   std::to_string(k_max_copies) + " copies of jobs; choose a shorter one");
    }
    const bool rigid = parallel == ParallelJobs::rigid;
    const scheduling::Job one{.release = {(job->submit - begin).value},
                              .duration = job->run,
                              .organization = assignment.of(*job),
                              .processors = rigid ? static_cast<std::uint32_t>(job->processors) : 1};
    const std::size_t count = rigid ? 1 : static_cast<std::size_t>(job->processors);
    window.instance.jobs.insert(window.instance.jobs.end(), count, one);
    window.trace_job.insert(window.trace_job.end(), count, static_cast<std::uint32_t>(job - trace.jobs.begin()));
  }
  SHAPLEY_TRY(scheduling::validate(window.instance));
  return window;
}

Instant last_window_begin(const Trace& trace, Duration length) {
  const Instant first = trace.jobs.front().submit;
  return std::max(first, trace.jobs.back().submit - length);
}

}  // namespace shapley::workload
