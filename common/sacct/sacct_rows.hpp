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
// Nothing is guessed. A row is bad if it cannot be read, has impossible content, or has ended without an end: the first
// one ends the reading, or all are left out and listed. Rows of two clusters are never read. Rows that contradict each
// other are found afterwards (row_checks.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sacct/sorted_rows.hpp"

namespace shapley::sacct {

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

// What was read, and what was left out of it.
struct SacctExport {
  explicit SacctExport(std::filesystem::path directory) : rows(std::move(directory)) {}

  SortedRows rows;
  std::vector<BadRow> bad;          // left out (Malformed::skip), by line
  std::vector<std::int64_t> twice;  // lines with a time that clocks show twice and that is ambiguous
  std::int64_t steps = 0;           // rows of job steps ("17.batch"): left out
  std::int64_t pending_arrays = 0;  // rows of array tasks that have not started ("17_[3-9]"): left out
  bool has_nodes = false;           // there is a column NodeList
  bool has_limits = false;          // there is a column Timelimit or TimelimitRaw
  NamedNumbers users, groups;
};

// Errc::invalid_argument names line, field and remedy. The caller continues with check_rows (row_checks.hpp).
[[nodiscard]] Expected<SacctExport> read_sacct_rows(
    std::istream& text, Malformed choice = Malformed::refuse,
    const std::filesystem::path& directory = std::filesystem::temp_directory_path());

// "line 3, 17 and 5 more"
[[nodiscard]] std::string lines_text(const std::vector<std::int64_t>& lines);

// "1 row has a time ... (line 17)", from SacctExport::twice; empty if there are none.
[[nodiscard]] std::string note_of_twice(const std::vector<std::int64_t>& lines);

}  // namespace shapley::sacct
