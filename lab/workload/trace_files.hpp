// The export of Slurm's accounting: `sacct --allusers -P
// --format=JobIDRaw,User,Account,Submit,ElapsedRaw,AllocCPUS,State`.
//
// The first line names the columns, in any order, further ones are ignored. Needed: JobID or JobIDRaw, User, Submit,
// ElapsedRaw or Elapsed, AllocCPUS or NCPUS; Account (or Group) is the group where it is there, TimelimitRaw and
// Partition say what was asked for. Steps ("17.batch") are
// left out, as are jobs that never ran. Submit is read as it stands, as if in UTC: in a local time zone with summer
// time one hour of the year appears twice, so export with TZ=UTC or SLURM_TIME_FORMAT=%s (seconds are understood, too).
#pragma once

#include <filesystem>
#include <functional>
#include <istream>

#include "base/error.hpp"
#include "workload/trace.hpp"

namespace shapley::workload {

// Errc::invalid_argument when a needed column is missing, and under Malformed::refuse at the first line that is no
// record.
[[nodiscard]] Expected<Trace> parse_sacct(std::istream& text, Malformed choice);

// The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, header lines begin with ';'.
//
// Used columns: 1 job number, 2 submit time, 4 run time, 5 allocated processors (8, requested ones, where 5 is
// unknown), 9 requested time, 11 status, 12 user, 13 group, 16 partition; -1 is unknown. Records without a job that
// could be run again are left out and counted by reason: no user, no run time, no processors, or a part of a job that
// other lines describe in full (status 2-4).
//
// Errc::invalid_argument under Malformed::refuse at the first line that is not 18 numbers: its number and why.
[[nodiscard]] Expected<Trace> parse_swf(std::istream& text, Malformed choice);

// A file as a stream of its text: plain, gzip or xz, distinguished by the first bytes, decompressed while it is read.
//
// Calls `read` with the text of `file` and returns what it returns. Errors name the file; Errc::corrupt when a
// compressed file is damaged or cut short, whatever `read` made of the part before.
[[nodiscard]] Expected<void> read_input_file(const std::filesystem::path& file,
                                             const std::function<Expected<void>(std::istream&)>& read);

}  // namespace shapley::workload
