// Every row of an export of sacct, complete: Slurm's own accounting of a year's jobs.
//
//   sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,
//                     ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList
//
// in any order of columns, further ones ignored. Needed: JobIDRaw (or JobID, where there are no arrays), User or UID,
// Account, Submit, Start, End, State, AllocCPUS. -D shows every run of a requeued job; each row is one run, or a job
// that never ran, or a part of a run between two resizes. Times are local to the process's time zone (TZ), as Slurm
// prints them, or seconds since the epoch (SLURM_TIME_FORMAT=%s). Where clocks show an hour twice the earlier instant
// is meant, unless only the later one fits the row's other times (sacct_fields.hpp).
//
// Nothing is guessed. A row is bad if it cannot be read, has impossible content (row_checks.hpp), or has ended without
// an end: the first one ends the reading, or all are left out and listed. Rows of two clusters are never read. (The
// audit has another reader on purpose, ledger/audit/slurm_records, which is the witness of what is made from these
// rows.)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/sorted_records.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::sacct {

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
  std::string state;  // Slurm's name: "COMPLETED", "CANCELLED" (without the user), "RESIZING", ...
  Instant submit;
  std::optional<Instant> eligible;
  std::optional<Instant> start;          // nullopt: it never started
  std::optional<Instant> end;            // nullopt: it has not ended
  Duration suspended;                    // of the time from start to end
  std::optional<Duration> requested;     // time limit; nullopt: unlimited, or not exported
  std::uint32_t requested_cpus = 0;      // 0: not exported
  std::uint32_t cpus = 0;                // allocated
  std::uint64_t memory = 0;              // MiB allocated, on all nodes; 0: not exported or not allocated
  std::vector<protocol::Tres> gres;      // allocated, on all nodes; each once, without its type ("gres/gpu")
  std::optional<std::uint64_t> billing;  // of all nodes; nullopt: not exported
  std::vector<std::string> nodes;        // ascending, each once; empty: none, or not exported

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

// The numbers that an export lists for names; nullopt: no number. If it lists several, the one in the lowest line.
using NamedNumbers = std::map<std::string, std::optional<std::uint32_t>, std::less<>>;

// Above this bound the rows held at one time, of one job or of the open runs, would need gigabytes.
constexpr std::size_t k_max_names = std::size_t{1} << 25U;

// The rows are sorted on disk (base/sorted_records.hpp); the rows of one job at a time are in memory.
class SacctRows {
 public:
  // `directory`: of temporary files; `memory`: bytes, of each list that is sorted.
  explicit SacctRows(std::filesystem::path directory, std::size_t memory = SortedRecords::k_memory)
      : directory_(std::move(directory)), memory_(memory), sorted_(directory_, memory) {}

  [[nodiscard]] Expected<void> add(const SacctRow& row);
  // Visits the rows of each job that are not in `bad`, by job; the rows that ran come first, in the order of time.
  [[nodiscard]] Expected<void> for_each_job(
      const std::function<Expected<void>(const std::vector<SacctRow>&)>& visit) const;
  // Removes rows of runs, and lists them.
  void leave_out(const std::map<std::int64_t, std::string>& faults);

  [[nodiscard]] std::int64_t size() const { return size_; }            // rows
  [[nodiscard]] std::int64_t never_ran() const { return never_ran_; }  // of them, those that did not run
  // An empty list for further data of the rows.
  [[nodiscard]] SortedRecords empty_list() const { return SortedRecords(directory_, memory_); }

  std::vector<BadRow> bad;          // left out (Malformed::skip), by line
  std::vector<std::int64_t> twice;  // lines with a time that clocks show twice and that is ambiguous
  std::int64_t steps = 0;           // rows of job steps ("17.batch"): left out
  std::int64_t pending_arrays = 0;  // rows of array tasks that have not started ("17_[3-9]"): left out
  bool has_nodes = false;           // there is a column NodeList
  bool has_limits = false;          // there is a column Timelimit or TimelimitRaw
  NamedNumbers users, groups;

 private:
  std::filesystem::path directory_;
  std::size_t memory_;
  SortedRecords sorted_;
  std::int64_t size_ = 0, never_ran_ = 0;
};

// Errc::invalid_argument names line, field and remedy.
[[nodiscard]] Expected<SacctRows> read_sacct_rows(
    std::istream& text, Malformed choice = Malformed::refuse,
    const std::filesystem::path& directory = std::filesystem::temp_directory_path());

// A row as bytes, and the way back, which takes them off the front of `bytes`.
void pack(const SacctRow& row, std::string& bytes);
[[nodiscard]] SacctRow unpack_row(std::string_view& bytes);

// "1 row has a time ... (line 17)", from SacctRows::twice; empty if there are none.
[[nodiscard]] std::string note_of_twice(const std::vector<std::int64_t>& lines);

}  // namespace shapley::sacct
