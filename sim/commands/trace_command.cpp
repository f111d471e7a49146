#include "sim/commands/trace_command.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/printable.hpp"
#include "scheduling/policies/baselines/fcfs.hpp"
#include "scheduling/simulate.hpp"
#include "sim/json.hpp"
#include "workload/window.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;
using workload::TraceJob;

double work_of(const TraceJob& job) {
  return static_cast<double>(job.run.value) * static_cast<double>(job.processors);
}

// Where nobody waits, every policy starts every job at once and there is nothing to compare.
struct Contention {
  std::size_t windows = 0;  // side by side, from the first submission on
  std::size_t with_jobs = 0;
  std::size_t with_waiting = 0;
};

Expected<Contention> find_contention(const Trace& trace, std::int64_t processors, Duration length,
                                     workload::ParallelJobs parallel) {
  Contention found;
  const workload::Assignment everybody{.organization = std::vector<std::uint32_t>(trace.users.size(), 0), .names = {}};
  const Instant last = trace.jobs.back().submit;
  for (Instant begin = trace.jobs.front().submit; begin <= last; begin = begin + length) {
    SHAPLEY_TRY_ASSIGN(
        const auto window,
        workload::cut_window(trace, everybody, {static_cast<std::uint32_t>(processors)}, begin, length, parallel));
    ++found.windows;
    if (window.instance.jobs.empty()) continue;
    ++found.with_jobs;
    const auto policy = scheduling::make_fcfs(window.instance);
    const auto result = scheduling::simulate(window.instance, *policy);
    const bool waits = result.schedule.size() < window.instance.jobs.size() ||
                       std::any_of(result.schedule.begin(), result.schedule.end(), [&](const scheduling::Start& start) {
                         return start.start > window.instance.jobs[start.job].release;
                       });
    if (waits) ++found.with_waiting;
  }
  return found;
}

// The part of all work that the n users with most of it sent.
double part_of_busiest(const Trace& trace, std::size_t n) {
  std::vector<double> work(trace.users.size(), 0);
  double total = 0;
  for (const TraceJob& job : trace.jobs) {
    work[job.user] += work_of(job);
    total += work_of(job);
  }
  std::sort(work.rbegin(), work.rend());
  double busiest = 0;
  for (std::size_t i = 0; i < std::min(n, work.size()); ++i) busiest += work[i];
  return busiest / total;
}

Json summarize_trace(const Trace& trace, std::int64_t processors, Duration length, const Contention& contention) {
  const std::int64_t span = std::max<std::int64_t>(1, (trace.jobs.back().submit - trace.jobs.front().submit).value);
  double work = 0;
  std::size_t sequential = 0;
  std::int64_t widest = 0;
  std::vector<std::int64_t> runs;
  for (const TraceJob& job : trace.jobs) {
    work += work_of(job);
    sequential += job.processors == 1 ? 1U : 0U;
    widest = std::max(widest, job.processors);
    runs.push_back(job.run.value);
  }
  std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2), runs.end());
  return {{"computer", trace.computer},
          {"acknowledge", trace.acknowledge},
          {"jobs", trace.jobs.size()},
          {"users", trace.users.size()},
          {"groups", trace.groups.size()},
          {"first_submit", trace.jobs.front().submit.value},
          {"last_submit", trace.jobs.back().submit.value},
          {"processors", processors},
          {"processors_in_trace", trace.processors},
          {"load", work / (static_cast<double>(processors) * static_cast<double>(span))},
          {"sequential_jobs", static_cast<double>(sequential) / static_cast<double>(trace.jobs.size())},
          {"widest_job", widest},
          {"median_run", runs[runs.size() / 2]},
          {"work_of_five_busiest_users", part_of_busiest(trace, 5)},
          {"window_length", length.value},
          {"windows", contention.windows},
          {"windows_with_jobs", contention.with_jobs},
          {"windows_with_contention", contention.with_waiting},
          {"malformed_lines", trace.omitted.malformed},
          {"unusable_records", trace.omitted.unusable}};
}

std::string percent(double part) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * part << " %";
  return text.str();
}

void print(const Json& s, const Trace& trace, std::ostream& out) {
  const auto row = [&](const char* name, const std::string& value) {
    out << std::left << std::setw(24) << name << printable(value) << '\n';
  };
  const auto number = [&](const char* member) { return std::to_string(s[member].get<std::int64_t>()); };
  const double days =
      static_cast<double>(s["last_submit"].get<std::int64_t>() - s["first_submit"].get<std::int64_t>()) / 86400;
  std::ostringstream span;
  span << std::fixed << std::setprecision(1) << days << " days, seconds " << s["first_submit"] << " to "
       << s["last_submit"];
  if (!trace.computer.empty()) row("computer", trace.computer);
  row("submissions", span.str());
  row("jobs", number("jobs") + " (" + percent(s["sequential_jobs"].get<double>()) + " on one processor, widest " +
                  number("widest_job") + ", median run " + number("median_run") + " s)");
  row("users, groups", number("users") + ", " + number("groups") + " (the five busiest users sent " +
                           percent(s["work_of_five_busiest_users"].get<double>()) + " of the work)");
  row("processors",
      number("processors") + (trace.processors == 0 ? "" : " (the trace says " + number("processors_in_trace") + ")"));
  row("load", percent(s["load"].get<double>()) + " of the processors, over the time of submissions");
  row("windows", number("windows") + " of " + number("window_length") + " s; " + number("windows_with_jobs") +
                     " with jobs, " + number("windows_with_contention") + " in which a job must wait");
  for (const auto& [reason, count] : trace.omitted.unusable) row("left out", std::to_string(count) + ": " + reason);
  if (trace.omitted.malformed > 0) row("malformed lines", number("malformed_lines"));
  for (const std::string& example : trace.omitted.examples) row("", example);
  if (!trace.acknowledge.empty()) row("to be thanked", trace.acknowledge);
}

}  // namespace

Expected<void> describe_trace(const TraceArguments& arguments, std::ostream& out) {
  if (arguments.length.value < 1) return fail(Errc::invalid_argument, "--length: expected at least one second");
  SHAPLEY_TRY_ASSIGN(const Trace trace, load_workload(arguments.source));
  const std::int64_t processors = arguments.processors == 0 ? trace.processors : arguments.processors;
  if (processors == 0)
    return fail(Errc::invalid_argument, "the trace does not say how many processors there were; give --processors");
  SHAPLEY_TRY_ASSIGN(const Contention contention,
                     find_contention(trace, processors, arguments.length, arguments.parallel));
  const Json summary = summarize_trace(trace, processors, arguments.length, contention);
  if (arguments.json) {
    out << json_text(summary, 1) << '\n';
  } else {
    print(summary, trace, out);
  }
  return {};
}

}  // namespace shapley::sim
