// The export of Slurm's accounting: `sacct --allusers -P
// --format=JobIDRaw,User,Account,Submit,ElapsedRaw,AllocCPUS,State`.
//
// The first line names the columns, in any order, further ones are ignored. Needed: JobID or JobIDRaw, User, Submit,
// ElapsedRaw or Elapsed, AllocCPUS or NCPUS; Account (or Group) is the group where it is there. Steps ("17.batch") are
// left out, as are jobs that never ran. Submit is read as it stands, as if in UTC: in a local time zone with summer
// time one hour of the year appears twice, so export with TZ=UTC or SLURM_TIME_FORMAT=%s (seconds are understood, too).
#pragma once

#include <istream>

#include "workload/trace.hpp"

namespace shapley::workload {

// Errc::invalid_argument when a needed column is missing, and under Malformed::refuse at the first line that is no
// record.
[[nodiscard]] Expected<Trace> parse_sacct(std::istream& text, Malformed choice);

}  // namespace shapley::workload
