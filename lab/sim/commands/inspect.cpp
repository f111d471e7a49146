#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>

#include "base/calendar.hpp"
#include "base/description.hpp"
#include "base/printable.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/commands/commands.hpp"
#include "sim/json.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;
using workload::TraceJob;

double work_of(const TraceJob& job) {
  return static_cast<double>(job.run.value) * static_cast<double>(job.processors);
}

// If no job waits, every policy starts every job at once and there is nothing to compare.
struct Contention {
  std::size_t windows = 0;  // side by side, from the first submission on
  std::size_t with_jobs = 0;
  std::size_t with_waiting = 0;
};
constexpr auto description_of(std::type_identity<Contention>) {
  return describe(member("windows", &Contention::windows), member("windows_with_jobs", &Contention::with_jobs),
                  member("windows_with_contention", &Contention::with_waiting));
}

struct TraceSummary {
  std::string computer, acknowledge;
  std::size_t jobs = 0, users = 0, groups = 0;
  Instant first_submit, last_submit;
  std::int64_t processors = 0, processors_in_trace = 0;
  double load = 0;             // part of the processors, over the time of submissions
  double sequential_jobs = 0;  // part of the jobs
  std::int64_t widest_job = 0;
  std::int64_t median_run = 0;
  double work_of_five_busiest_users = 0;  // part of all work
  Duration window_length;
  Contention windows;
  std::uint64_t malformed_lines = 0;
  std::map<std::string, std::uint64_t> unusable_records;
};
constexpr auto description_of(std::type_identity<TraceSummary>) {
  using S = TraceSummary;
  return describe(member("computer", &S::computer), member("acknowledge", &S::acknowledge), member("jobs", &S::jobs),
                  member("users", &S::users), member("groups", &S::groups), member("first_submit", &S::first_submit),
                  member("last_submit", &S::last_submit), member("processors", &S::processors),
                  member("processors_in_trace", &S::processors_in_trace), member("load", &S::load),
                  member("sequential_jobs", &S::sequential_jobs), member("widest_job", &S::widest_job),
                  member("median_run", &S::median_run),
                  member("work_of_five_busiest_users", &S::work_of_five_busiest_users),
                  member("window_length", &S::window_length), flattened(&S::windows),
                  member("malformed_lines", &S::malformed_lines), member("unusable_records", &S::unusable_records));
}

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

// The part of all work that the n users with the most work sent.
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

TraceSummary summarize_trace(const Trace& trace, std::int64_t processors, Duration length,
                             const Contention& contention) {
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
  return {.computer = trace.computer,
          .acknowledge = trace.acknowledge,
          .jobs = trace.jobs.size(),
          .users = trace.users.size(),
          .groups = trace.groups.size(),
          .first_submit = trace.jobs.front().submit,
          .last_submit = trace.jobs.back().submit,
          .processors = processors,
          .processors_in_trace = trace.processors,
          .load = work / (static_cast<double>(processors) * static_cast<double>(span)),
          .sequential_jobs = static_cast<double>(sequential) / static_cast<double>(trace.jobs.size()),
          .widest_job = widest,
          .median_run = runs[runs.size() / 2],
          .work_of_five_busiest_users = part_of_busiest(trace, 5),
          .window_length = length,
          .windows = contention,
          .malformed_lines = trace.omitted.malformed,
          .unusable_records = trace.omitted.unusable};
}

std::string percent(double part) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * part << " %";
  return text.str();
}

void print(const TraceSummary& s, const Trace& trace, std::ostream& out) {
  const auto row = [&](const char* name, const std::string& value) {
    out << std::left << std::setw(24) << name << printable(value) << '\n';
  };
  const auto number = [](auto count) { return std::to_string(count); };
  std::ostringstream span;
  span << std::fixed << std::setprecision(1)
       << static_cast<double>((s.last_submit - s.first_submit).value) / static_cast<double>(k_day_s)
       << " days, seconds " << s.first_submit.value << " to " << s.last_submit.value;
  if (!s.computer.empty()) row("computer", s.computer);
  row("submissions", span.str());
  row("jobs", number(s.jobs) + " (" + percent(s.sequential_jobs) + " on one processor, widest " + number(s.widest_job) +
                  ", median run " + number(s.median_run) + " s)");
  row("users, groups", number(s.users) + ", " + number(s.groups) + " (the five busiest users sent " +
                           percent(s.work_of_five_busiest_users) + " of the work)");
  row("processors", number(s.processors) +
                        (s.processors_in_trace == 0 ? "" : " (the trace says " + number(s.processors_in_trace) + ")"));
  row("load", percent(s.load) + " of the processors, over the time of submissions");
  row("windows", number(s.windows.windows) + " of " + number(s.window_length.value) + " s; " +
                     number(s.windows.with_jobs) + " with jobs, " + number(s.windows.with_waiting) +
                     " in which a job must wait");
  for (const auto& [reason, count] : trace.omitted.unusable) row("left out", std::to_string(count) + ": " + reason);
  if (trace.omitted.malformed > 0) row("malformed lines", number(s.malformed_lines));
  for (const std::string& example : trace.omitted.examples) row("", example);
  if (!trace.acknowledge.empty()) row("to be thanked", trace.acknowledge);
}

// One row per job: '.' while it waits, '#' while it runs, until t.
void draw(const scheduling::EvaluatedSchedule& schedule, Instant t, std::ostream& out) {
  out << "      utility " << schedule.utility << '\n';
  for (const scheduling::ScheduledJob& job : schedule.jobs) {
    std::string row;
    for (Instant s{0}; s < t; s = s + Duration{1}) {
      const bool runs = job.start <= s && s < job.start + job.duration;
      row += runs ? '#' : (job.release <= s && s < job.start ? '.' : ' ');
    }
    out << "        |" << row << "|  released " << job.release.value << ", starts " << job.start.value << ", lasts "
        << job.duration.value << '\n';
  }
  if (schedule.jobs.empty()) out << "        no job\n";
}

void check(const scheduling::UtilityFunction& utility, std::ostream& out) {
  for (const scheduling::Axiom axiom : scheduling::k_axioms) {
    const auto broken = scheduling::find_counterexample(axiom, scheduling::schedule_utility(utility));
    out << std::left << std::setw(14) << utility.name << std::setw(22) << scheduling::name_of(axiom)
        << (broken ? "broken" : "holds") << '\n';
    if (!broken) continue;
    out << "    at t = " << broken->t.value << ": " << broken->why << '\n';
    for (const scheduling::EvaluatedSchedule& schedule : broken->schedules) draw(schedule, broken->t, out);
  }
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
  const TraceSummary summary = summarize_trace(trace, processors, arguments.length, contention);
  if (arguments.json) {
    out << text_of(json_of<Json>(summary), 1) << '\n';
  } else {
    print(summary, trace, out);
  }
  return {};
}

Expected<void> check_axioms(const AxiomsArguments& arguments, std::ostream& out) {
  for (const std::string& name : arguments.utilities) {
    SHAPLEY_TRY(scheduling::find_utility_function(name));
  }
  for (const scheduling::UtilityFunction& utility : scheduling::utility_functions()) {
    const auto& wanted = arguments.utilities;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), utility.name) != wanted.end()) check(utility, out);
  }
  return {};
}

}  // namespace shapley::sim
