#include "sim/input/workload_source.hpp"

#include <sstream>

#include "sim/input/ledger_trace.hpp"
#include "workload/input_file.hpp"
#include "workload/sacct.hpp"
#include "workload/swf.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;

// sacct -P writes its column names first, with bars between them; no line of SWF begins with a letter.
bool looks_like_sacct(std::istream& text) {
  const int first = text.peek();
  return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

Expected<Trace> read_trace_file(const WorkloadSource& source) {
  if (is_ledger(source.trace)) return read_ledger_trace(source.trace);
  Trace trace;
  SHAPLEY_TRY(workload::read_input_file(source.trace, [&](std::istream& text) -> Expected<void> {
    const bool sacct = looks_like_sacct(text);
    SHAPLEY_TRY_ASSIGN(
        trace, sacct ? workload::parse_sacct(text, source.malformed) : workload::parse_swf(text, source.malformed));
    return {};
  }));
  return trace;
}

Expected<Trace> read_trace(const WorkloadSource& source) {
  if (source.trace.empty()) return workload::generate(source.generator);
  if (source.trace != k_embedded_excerpt) return read_trace_file(source);
  std::istringstream text{std::string(embedded_excerpt())};
  return workload::parse_swf(text, workload::Malformed::refuse);
}

}  // namespace

Expected<Trace> load_workload(const WorkloadSource& source) {
  auto trace = read_trace(source);
  if (!trace) return source.trace.empty() ? trace : with_context("trace", trace.error());
  if (trace->jobs.empty()) {
    return fail(Errc::invalid_argument, "trace: " + source.trace + ": holds no job that could be run again; " +
                                            "`shapley-sim trace` says what was left out");
  }
  return trace;
}

}  // namespace shapley::sim
