// A record's run in the form that the observer uses: run seconds before the last suspend or resume (the pivot), and
// what followed it; and how the books are made equal to it. Pure.
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
#include "daemon/observer/observer.hpp"
#include "daemon/observer/run_writer.hpp"
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

// The facts of a started job's record. Contradictions (end before start, more run seconds than time passed) are
// resolved and reported in `warnings`. nullopt: the record has no run (never started, or starts in the future).
[[nodiscard]] std::optional<RunFacts> facts_of(const protocol::JobUpdate& record, Instant observed_at,
                                               std::vector<std::string>& warnings);

// Whether a record of a live run can be newer than its run in the books. An ended run is final: always newer.
enum class Freshness { newer, stale, same_second };
[[nodiscard]] Freshness freshness_of(const RunFacts& facts, const RunWriter& run, Instant observed_at);

// Makes the books' run equal to the record's. `at_end`: the reason of the end of an ended run.
void book_run(const RunFacts& facts, RunWriter& run, Instant observed_at, accounting::CloseReason at_end);

// "job 17", "job 17 (array 12_3)".
[[nodiscard]] std::string name_of(const protocol::JobUpdate& record);

// What happens to a run that is open in the books while the job's record has another run, or none: the job was
// requeued, slurmctld was killed before it saved the start and lost it, or slurmctld lost the job. Pure.

// For one record; its arguments must outlive it. Findings are added to `out`, except for the events, which the run's
// writer has.
class RequeueRules {
 public:
  RequeueRules(const protocol::JobUpdate& record, const Scan& scan, Observation& out)
      : record_(record), scan_(scan), out_(out) {}

  // Whether the record is of a submission after a run that began at `begin`.
  //
  // A requeue gives the job a new submit_time and, until its old credential has expired, a begin time after that. Only
  // this distinguishes it from the submission before a run that started in the same second: when slurmctld finds no
  // node to clean, a requeued job keeps its old submit_time.
  [[nodiscard]] bool was_resubmitted_since(Instant begin) const;

  // If the run since `start` is open, ends it because a later one began at `next_start`.
  void end_superseded(RunWriter& run, Instant start, Instant next_start);
  // If the run since `start` is open, ends it because the record has no run.
  void end_without_run(RunWriter& run, Instant start);
  // A record is of the job's last run. A record of an earlier run, read after a later one began, shows that slurmctld
  // was killed and restored a state from before that: the later run, unless it ended, is not in Slurm's own records.
  // Returns whether it was retracted.
  [[nodiscard]] bool retract_forgotten(RunWriter& run, Instant start);

 private:
  // Every requeue increases Slurm's count of restarts. Without one, a run that the record does not have was lost by
  // slurmctld (killed before it saved the start, or even the job, whose number another job got then).
  [[nodiscard]] bool was_requeued() const { return record_.restart_count > 0; }
  // Whether the record is of another job than the run that began then: slurmctld lost its state and numbers jobs from
  // the beginning.
  [[nodiscard]] bool is_renumbered(Instant start) const;
  [[nodiscard]] std::optional<Instant> end_before_requeue(const RunWriter& run) const;
  void lose(RunWriter& run, Instant start);

  const protocol::JobUpdate& record_;
  const Scan& scan_;
  Observation& out_;
};

}  // namespace shapley::daemon
