// The runs of a ledger against Slurm's own records of them. Pure functions; conventions in docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/audit/slurm_records.hpp"

namespace shapley::ledger {

// A part of a run between two resizes, as a record has it.
struct RecordedPiece {
  std::optional<RecordedTime> begin;  // none: the record does not say
  std::optional<RecordedTime> end;    // none: it goes on
  std::optional<std::int64_t> cpus;   // none: the record does not say
  std::int64_t line = 0;
};

// A run of a job as Slurm recorded it, put together from one row, or several when it was resized.
struct RecordedRun {
  JobId job;
  std::vector<RecordedPiece> pieces;  // never empty, in order of time
  std::optional<Duration> suspended;  // none: the record has no such column
  std::string state;                  // of the last row

  [[nodiscard]] const std::optional<RecordedTime>& start() const { return pieces.front().begin; }
  [[nodiscard]] const std::optional<RecordedTime>& end() const { return pieces.back().end; }
};

// The runs of the records, by job and in order of the file. Repeated rows are one run; jobs that never started are left
// out.
[[nodiscard]] std::vector<RecordedRun> recorded_runs(const SlurmRecords& records);

// Where the ledger begins and ends: what lies outside cannot be in it.
struct LedgerSpan {
  Instant first_received;
  Instant last_received;
};

// Runs that were not compared because no record can be about them: how many, for the notes.
struct RunsLeftOut {
  std::int64_t before_records = 0;  // ended before the first recorded one
  std::int64_t empty = 0;           // held nothing
};

// Which jobs of a ledger have to be compared with the records, so that the facts of others need not be in memory.
class RunSelection {
 public:
  explicit RunSelection(const SlurmRecords& records);

  // Whether a job has to be among the facts that are compared, given the facts of this job alone; if not, its runs are
  // counted among those left out.
  [[nodiscard]] bool wants(JobId job, const Facts& of_job);
  [[nodiscard]] const RunsLeftOut& left_out() const { return left_out_; }

 private:
  std::set<JobId> recorded_;
  std::optional<Instant> earliest_end_;
  RunsLeftOut left_out_;
};

// Adds findings, notes and counts to `report`. `left_out`: runs that are not among the facts (RunSelection).
void compare_with_records(const Facts& facts, const LedgerSpan& span, const SlurmRecords& records, AuditReport& report,
                          const RunsLeftOut& left_out = {});

// Whether a configuration (as text) counts processors as Slurm counts CPUs: no `weights`, or cpu: 1 alone.
[[nodiscard]] bool counts_cpus_only(const std::string& configuration);

}  // namespace shapley::ledger
