// Runs as Slurm's records describe them: rows put together. Conventions in docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/ledger_runs.hpp"
#include "sacct/slurm_records.hpp"

namespace shapley::ledger {

// A part of a run between two resizes, as a record has it.
struct RecordedPiece {
  std::optional<sacct::RecordedTime> begin;  // nullopt: the record does not have it
  std::optional<sacct::RecordedTime> end;    // nullopt: it goes on
  std::optional<std::int64_t> cpus;          // nullopt: the record does not have it
  std::optional<std::int64_t> billing;       // likewise
  std::int64_t line = 0;
};

// A run of a job as Slurm recorded it, put together from one row, or several when it was resized.
struct RecordedRun {
  JobId job;
  std::vector<RecordedPiece> pieces;  // never empty, in order of time
  std::optional<Duration> suspended;  // nullopt: the record has no such column
  std::string state;                  // of the last row
  bool has_ended = false;             // by that row, even if it does not have the end's time

  [[nodiscard]] const std::optional<sacct::RecordedTime>& start() const { return pieces.front().begin; }
  [[nodiscard]] const std::optional<sacct::RecordedTime>& end() const { return pieces.back().end; }
  [[nodiscard]] std::int64_t line() const { return pieces.back().line; }  // of the last row
};

// From this number on no job has it: Slurm's NO_VAL. slurmctld gives it to the record of a federated job that it takes
// away, and may send that record to slurmdbd afterwards.
inline constexpr JobId k_no_number{4'294'967'294};

// Whether the row is of a job that has not started, or never started.
[[nodiscard]] bool is_unstarted(const sacct::SlurmRecord& row);

// The runs of the records, by job and in order of the file. Repeated rows are one run, except of jobs without a number;
// jobs that never started are left out.
[[nodiscard]] std::vector<RecordedRun> recorded_runs(const sacct::SlurmRecords& records);

// The time that a ledger and Slurm's records cover: what lies outside of either cannot be compared. Pure.

// The seconds that may pass until an action of slurmctld is in the ledger, or in slurmdbd: a fact that one side lacks
// and that is younger than that at its end may have been on the way.
inline constexpr Duration k_on_the_way{10};

// The begin and the end of the ledger: what lies outside cannot be in it.
struct LedgerSpan {
  Instant first_received;
  Instant last_received;
};

// The time that the records are stated to cover, and the time that they cover by themselves: what lies outside cannot
// be in them.
class RecordsSpan {
 public:
  RecordsSpan(const sacct::SlurmRecords& records, const ComparedInterval& asked);

  // For a run without a record: whether it ended before the records begin, and whether it was unknown to them when they
  // were made. Without a stated interval they begin with the first recorded end, and were made at the last recorded
  // time or later.
  [[nodiscard]] bool is_before(const LedgerRun& run) const;
  [[nodiscard]] bool is_after(const LedgerRun& run) const;
  // Whether [begin, end) overlaps the stated interval; end = k_end_of_time: it goes on.
  [[nodiscard]] bool asks_for(Instant begin, Instant end) const;
  // Whether they were made so long after `t` that slurmdbd had received what happened then.
  [[nodiscard]] bool made_after(Instant t) const;
  // Whether they must have a run that began then and is still open.
  [[nodiscard]] bool must_have_open(Instant begin) const;

 private:
  sacct::RecordFormat format_;
  ComparedInterval asked_;
  std::optional<Instant> earliest_end_;
  Instant latest_ = k_beginning_of_time;
};

}  // namespace shapley::ledger
