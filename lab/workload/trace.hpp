// The jobs of a trace, in any format: the requests to a cluster.
//
// Only what the model needs is kept. Recorded starts are not: the simulated policy decides them. Jobs are ordered by
// submission, those of one instant by their place in the file. Times are seconds since the trace's own origin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/types.hpp"
#include "scheduling/instance.hpp"

namespace shapley::workload {

struct TraceJob {
  std::int64_t id = 0;  // the trace's own number
  Instant submit;
  Duration run;                 // >= 1
  std::int64_t processors = 1;  // >= 1
  std::uint32_t user = 0;       // index into Trace::users
  std::uint32_t group = 0;      // index into Trace::groups
  Duration requested{};         // the time limit; 0: it is not known
  std::uint32_t partition = 0;  // index into Trace::partitions
};

// What to do with a line that is no record.
enum class Malformed { refuse, skip };

// Lines and records that the trace does not include, so that people can judge whether to trust it.
struct Omissions {
  std::uint64_t malformed = 0;
  std::vector<std::string> examples;              // "line 17: ...", the first k_max_examples malformed lines
  std::map<std::string, std::uint64_t> unusable;  // well-formed records without a job in them, by reason

  static constexpr std::size_t k_max_examples = 10;
};

struct Trace {
  std::vector<TraceJob> jobs;
  std::vector<std::string> users;
  std::vector<std::string> groups;
  std::vector<std::string> partitions;  // empty: they are not known
  std::int64_t processors = 0;          // of the machine; 0: not in the trace
  std::string computer;                 // from the header, empty when it does not say
  std::string acknowledge;              // the people that a publication must thank
  Omissions omitted;
};

// Counts a malformed line; Errc::invalid_argument, which ends the reading, under Malformed::refuse.
[[nodiscard]] Expected<void> note_malformed(Omissions& omissions, Malformed choice, std::uint64_t line,
                                            const std::string& why);

// Brings the jobs into the order that Trace promises.
void order_jobs(Trace& trace);

// Generated workloads, for those without a trace and for cases that no trace has. The same seed gives the same jobs on
// any machine: only integers are drawn.
enum class WorkloadKind {
  bursty,  // users come in sessions: 1 to 127 jobs of similar length, a few seconds apart; sessions fall anywhere
  unit,    // as bursty, but every job lasts one second
  zipf,    // single jobs at any time; user i sends a part proportional to 1/(i+1) of them
};

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

// An instance from a stretch of a trace, as in the papers' experiments [SR13 Sec. 7.2]: the jobs submitted in [begin,
// begin + length), on a machine that is empty at instant 0, which is `begin`.
//
// Which organization a job belongs to: by its user or by its group.
struct Assignment {
  bool by_group = false;
  std::vector<std::uint32_t> organization;  // of each user (or group) of the trace
  std::vector<std::string> names;           // of the organizations; empty: they have numbers only

  [[nodiscard]] std::uint32_t of(const TraceJob& job) const { return organization[by_group ? job.group : job.user]; }
};

// Users in a random order, assigned in turn: the numbers of users of two organizations differ by one at most.
[[nodiscard]] Assignment deal_users(const Trace& trace, std::size_t organizations, std::uint64_t seed);

// The groups with most work are organizations of their own, the largest first; all others together are the last one.
[[nodiscard]] Assignment assign_groups(const Trace& trace, std::size_t organizations);

// Lines "USER ORGANIZATION"; '#' begins a comment; the user '*' stands for every other user. Organizations are numbered
// as they appear. Errc::invalid_argument names the line that is wrong, the user that is missing, or says that the
// file names another number of organizations than asked for (0: take what it names).
[[nodiscard]] Expected<Assignment> read_assignment(std::istream& text, const Trace& trace, std::size_t organizations);

// How a job of q processors is represented: as q sequential jobs of its duration, side by side in the input, as in the
// papers' experiments; or as one rigid job that takes all q at once.
enum class ParallelJobs { copies, rigid };
[[nodiscard]] constexpr std::string_view name_of(ParallelJobs parallel) {
  return parallel == ParallelJobs::rigid ? "rigid" : "copies";
}

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

// Processors for organizations, as in the papers' experiments [SR13 Sec. 7.2].
//
// zipf: organization u holds a part proportional to 1/(u+1). uniform: equal parts.
enum class Endowment { zipf, uniform };

// Whole processors by largest remainder, ties to the lowest organization; they sum to `total`.
// Errc::invalid_argument when there is no organization or no processor.
[[nodiscard]] Expected<std::vector<std::uint32_t>> endow(Endowment endowment, std::size_t organizations,
                                                         std::int64_t total);

}  // namespace shapley::workload
