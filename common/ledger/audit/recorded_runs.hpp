// Runs as Slurm's records have them: rows put together. Conventions in docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
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

}  // namespace shapley::ledger
