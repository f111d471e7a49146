// A record's run in the form the observer reasons about: run seconds before the last suspend or resume (the pivot), and
// what followed it. Pure.
//
//   Slurm: on suspend  pre_sus_time += now - (suspend_time ? suspend_time : start_time);  suspend_time = now
//          on resume   tot_sus_time += now - suspend_time;                                suspend_time = now
// so pre_sus_time is always the run seconds in [start_time, suspend_time), however many flips there were; and a job
// that ends while suspended has end_time = suspend_time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

struct RunFacts {
  enum class Now { running, suspended, ended };
  Now now = Now::running;
  Instant start;
  Instant pivot;    // last suspend or resume; start when there was none
  Duration before;  // run seconds in [start, pivot)
  Instant end;      // ended: exclusive end, >= pivot
};

// The facts of a started job's record, contradictions resolved (end before start, more run seconds than time passed)
// and said so in `warnings`. nullopt: the record tells of no run (never started, or starts in the future).
[[nodiscard]] std::optional<RunFacts> facts_of(const protocol::JobRecord& record, Instant observed_at,
                                               std::vector<std::string>& warnings);

// "job 17", "job 17 (array 12_3)".
[[nodiscard]] std::string name_of(const protocol::JobRecord& record);

}  // namespace shapley::daemon
