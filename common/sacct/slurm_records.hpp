// Slurm's own records of jobs, read from text: `sacct -P` output, or the file of jobcomp/filetxt (Slurm 22.05
// to 24.11).
//
// Users choose job names and working directories, so any byte may be anywhere in these files, line feeds included: a
// record of jobcomp/filetxt consists of all lines up to its last member. A line that cannot be read in exactly one way
// is not guessed at: it is set aside with its number and the reason, and reading goes on. A record with impossible
// content (a run from before Slurm existed) is set aside, too, on a list of its own.
//
// That is what the audit compares with the ledger's runs. It asks for less than sacct_rows.hpp, which reads all of a
// row and refuses it where the audit can still compare. Formats and conventions: docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::sacct {

enum class RecordFormat { sacct, jobcomp };

// A local time of the record. In the hour that summer time repeats in autumn one text means two instants.
struct RecordedTime {
  Instant instant;
  std::optional<Instant> twin;

  [[nodiscard]] bool is(Instant t) const { return t == instant || t == twin; }
  friend bool operator==(const RecordedTime&, const RecordedTime&) = default;
};

struct SlurmRecord {
  std::int64_t line = 0;  // 1-based
  JobId job = {};
  std::string state = {};  // Slurm's name: "COMPLETED", "CANCELLED" (who cancelled is left out), "RESIZING", ...
  std::optional<RecordedTime> start = {};  // nullopt: "Unknown", it never started
  std::optional<RecordedTime> end = {};    // nullopt: it has not ended
  std::optional<std::int64_t> cpus = {};
  std::optional<std::int64_t> billing = {};  // nullopt: the record has no AllocTRES
  std::optional<Duration> suspended = {};
  std::string described = {};  // user, account and nodes as written in the record; empty: not exported

  // Whether it ended according to Slurm, even if the time is not known.
  [[nodiscard]] bool has_ended() const;
};

// A line that was set aside.
struct UnreadableLine {
  std::int64_t line = 0;
  std::string why;
};

// A record that contradicts itself.
struct ImpossibleRecord {
  std::int64_t line = 0;
  JobId job;
  std::string why;
};

struct SlurmRecords {
  RecordFormat format = RecordFormat::sacct;
  std::vector<SlurmRecord> records;  // in the order of the file
  std::vector<UnreadableLine> unreadable;
  std::vector<ImpossibleRecord> impossible;
  std::int64_t steps = 0;           // rows of job steps ("17.batch"): left out
  std::int64_t pending_arrays = 0;  // rows of tasks that have not started ("17_[3-9]"): left out
};

// The job id of an array's task. sacct's column JobID names tasks as "17_3"; the translation needs the ledger's jobs.
using FindArrayTask = std::function<std::optional<JobId>(std::uint32_t array_job, std::uint32_t task)>;

// Reads to the end. Times are local to the process's time zone (TZ), as Slurm prints them, or seconds since 1970 with
// SLURM_TIME_FORMAT=%s (0: none). Errc::invalid_argument when the first line is neither a header of sacct -P with the
// columns needed nor a jobcomp/filetxt record, and when the column Cluster names two clusters, whose jobs have the same
// numbers.
[[nodiscard]] Expected<SlurmRecords> read_slurm_records(std::istream& in, const FindArrayTask& find_task);

}  // namespace shapley::sacct
