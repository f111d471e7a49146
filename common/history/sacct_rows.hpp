// Every row of an export of sacct, whole: what a year of Slurm's own accounting says of its jobs.
//
//   sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,
//                     ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList
//
// in any order of columns, further ones ignored. Needed: JobIDRaw (or JobID, where there are no arrays), User or UID,
// Account, Submit, Start, End, State, AllocCPUS. -D shows every run of a requeued job; each row is one run, or a job
// that never ran, or a part of a run between two resizes. Times are local to the process's time zone (TZ), as Slurm
// prints them, or seconds since the epoch (SLURM_TIME_FORMAT=%s). Where clocks show an hour twice the earlier instant
// is meant, unless only the later one fits the row's other times (row_times.hpp).
//
// Nothing is guessed. A row that cannot be read, that says what cannot be (row_checks.hpp), or that has ended without
// an end is bad: the first one ends the reading, or all are left out and listed. Rows of two clusters are never read.
// (The audit's reader, ledger/audit/slurm_records, is another one on purpose: it is the witness of what is made of
// these rows.)
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::history {

struct SacctRow {
  std::int64_t line = 0;  // 1-based
  std::uint32_t job = 0;
  std::uint32_t array_job = 0;  // 0: not of an array
  std::optional<std::uint32_t> array_task;
  std::uint32_t het_job = 0;  // 0: not of a heterogeneous job
  std::string user;           // empty: not exported
  std::optional<std::uint32_t> user_id;
  std::string group;
  std::optional<std::uint32_t> group_id;
  std::string account, partition, qos, name, wckey;
  std::string state;  // Slurm's word: "COMPLETED", "CANCELLED" (who cancelled is left out), "RESIZING", ...
  Instant submit;
  std::optional<Instant> eligible;
  std::optional<Instant> start;       // none: it never started
  std::optional<Instant> end;         // none: it has not ended
  Duration suspended;                 // of the time from start to end
  std::optional<Duration> requested;  // time limit; none: unlimited, or not exported
  std::uint32_t requested_cpus = 0;   // 0: not exported
  std::uint32_t cpus = 0;             // allocated
  std::uint64_t memory = 0;           // MiB allocated, on all nodes; 0: not exported or not allocated
  std::vector<protocol::Tres> gres;   // allocated, on all nodes; each once, without its type ("gres/gpu")
  std::vector<std::string> nodes;     // ascending, each once; empty: none, or not exported

  [[nodiscard]] bool ran() const { return start && cpus > 0 && (end ? *end > *start : state != "PENDING"); }
};

// What to do with a bad row.
enum class Malformed { refuse, skip };

struct BadRow {
  std::int64_t line = 0;
  std::string why;  // the column, what is wrong, and what to do
};
// Its error: "line 17: ...".
[[nodiscard]] tl::unexpected<Error> refused(const BadRow& row);

struct SacctRows {
  std::vector<SacctRow> rows;       // in the order of the file
  std::vector<BadRow> bad;          // left out (Malformed::skip), by line
  std::vector<std::int64_t> twice;  // lines with a time that clocks show twice, and nothing says which one is meant
  std::int64_t steps = 0;           // rows of job steps ("17.batch"): left out
  std::int64_t pending_arrays = 0;  // rows of array tasks that have not started ("17_[3-9]"): left out
  bool has_nodes = false;           // there is a column NodeList
  bool has_limits = false;          // there is a column Timelimit or TimelimitRaw
};

// Errc::invalid_argument names line, field and remedy.
[[nodiscard]] Expected<SacctRows> read_sacct_rows(std::istream& text, Malformed choice = Malformed::refuse);

// "1 row has a time ... (line 17)", of SacctRows::twice; empty: of none.
[[nodiscard]] std::string note_of_twice(const std::vector<std::int64_t>& lines);

}  // namespace shapley::history
