// Runs as Slurm's records have them: rows put together. Conventions in docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/ledger_runs.hpp"
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
  bool has_ended = false;             // says that row, even where it does not say when

  [[nodiscard]] const std::optional<RecordedTime>& start() const { return pieces.front().begin; }
  [[nodiscard]] const std::optional<RecordedTime>& end() const { return pieces.back().end; }
};

// Whether the row is of a job that has not started, or never did.
[[nodiscard]] bool is_unstarted(const SlurmRecord& row);

// The runs of the records, by job and in order of the file. Repeated rows are one run; jobs that never started are left
// out.
[[nodiscard]] std::vector<RecordedRun> recorded_runs(const SlurmRecords& records);

// The time that a ledger and Slurm's records cover: what lies beyond either horizon cannot be compared. Pure.

// So many seconds may pass before what slurmctld does is in the ledger, or in slurmdbd: what is missing on one side and
// is younger than that at its end may have been on the way.
inline constexpr Duration k_on_the_way{10};

// Where the ledger begins and ends: what lies outside cannot be in it.
struct LedgerSpan {
  Instant first_received;
  Instant last_received;
};

// The time that the records are said to cover, and the time that they cover by themselves: what lies outside cannot be
// in them.
class RecordsSpan {
 public:
  RecordsSpan(const SlurmRecords& records, const ComparedInterval& asked);

  // Of a run that no record is about: whether it ended before the records begin, and whether it was unknown to them
  // when they were made. Where no interval was asked they begin with the first recorded end, and were made not before
  // the last recorded time.
  [[nodiscard]] bool is_before(const LedgerRun& run) const;
  [[nodiscard]] bool is_after(const LedgerRun& run) const;
  // Whether [begin, end) is at some instant of what was asked; k_end_of_time: it goes on.
  [[nodiscard]] bool asks_for(Instant begin, Instant end) const;
  // Whether they were made so long after `t` that what happened then had reached slurmdbd.
  [[nodiscard]] bool made_after(Instant t) const;
  // Whether a run that is still open and has begun then must be in the records.
  [[nodiscard]] bool must_have_open(Instant begin) const;

 private:
  RecordFormat format_;
  ComparedInterval asked_;
  std::optional<Instant> earliest_end_;
  Instant latest_ = k_beginning_of_time;
};

}  // namespace shapley::ledger
