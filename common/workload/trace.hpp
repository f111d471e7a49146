// The jobs of a trace: what a cluster was asked to run, whoever wrote it down.
//
// Only what the model needs is kept. Recorded starts are not: the simulated policy decides them. Jobs are ordered by
// submission, those of one instant by their place in the file. Times are seconds since the trace's own origin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/name_index.hpp"
#include "base/types.hpp"

namespace shapley::workload {

struct TraceJob {
  std::int64_t id = 0;  // the trace's own number
  Instant submit;
  Duration run;                 // >= 1
  std::int64_t processors = 1;  // >= 1
  std::uint32_t user = 0;       // index into Trace::users
  std::uint32_t group = 0;      // index into Trace::groups
};

// What to do with a line that is no record.
enum class Malformed { refuse, skip };

// Lines and records that the trace does not hold, for people to judge whether it may be trusted.
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
  std::int64_t processors = 0;  // of the machine; 0: the trace does not say
  std::string computer;         // from the header, empty when it does not say
  std::string acknowledge;      // whom a publication must thank
  Omissions omitted;
};

// Counts a malformed line and says whether reading goes on: Errc::invalid_argument under Malformed::refuse.
[[nodiscard]] Expected<void> note_malformed(Omissions& omissions, Malformed choice, std::uint64_t line,
                                            const std::string& why);

// Brings the jobs into the order that Trace promises.
void order_jobs(Trace& trace);

}  // namespace shapley::workload
