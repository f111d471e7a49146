#include "workload/trace.hpp"

#include <algorithm>

namespace shapley::workload {

Expected<void> note_malformed(Omissions& omissions, Malformed choice, std::uint64_t line, const std::string& why) {
  const std::string text = "line " + std::to_string(line) + ": " + why;
  if (choice == Malformed::refuse)
    return fail(Errc::invalid_argument, text + "; --malformed skip leaves such lines out and counts them");
  ++omissions.malformed;
  if (omissions.examples.size() < Omissions::k_max_examples) omissions.examples.push_back(text);
  return {};
}

void order_jobs(Trace& trace) {
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
}

}  // namespace shapley::workload
