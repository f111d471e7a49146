#include "sim/input/workload_source.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "base/types.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "workload/trace_files.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;

// sacct -P writes its column names first, separated by bars; no line of SWF begins with a letter.
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

bool is_ledger(const std::filesystem::path& file) {
  std::string head(15, '\0');
  std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == "SQLite format 3";
}

Expected<workload::Trace> read_ledger_trace(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const auto runs, ledger::runs(ledger));
  workload::Trace trace;
  NameIndex users;
  NameIndex groups;
  for (const ledger::EndedRun& run : runs) {
    if (run.length.value <= 0) {
      ++trace.omitted.unusable["no run time"];
      continue;
    }
    // The books count weighted millionths; the model counts whole processors.
    const std::int64_t processors = std::max<std::int64_t>(1, (run.processors.value + k_micro / 2) / k_micro);
    trace.jobs.push_back({.id = run.job.value,
                          .submit = run.submit,
                          .run = run.length,
                          .processors = processors,
                          .user = users.number_of(std::to_string(run.user_id)),
                          .group = groups.number_of(run.organization)});
  }
  trace.users = users.names();
  trace.groups = groups.names();
  trace.computer = "ledger " + file.filename().string();
  workload::order_jobs(trace);
  return trace;
}

}  // namespace shapley::sim
