// The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, header lines begin with ';'.
//
// Used columns: 1 job number, 2 submit time, 4 run time, 5 allocated processors (8, requested ones, where 5 is
// unknown), 11 status, 12 user, 13 group; -1 is unknown. Records without a job that could be run again are left out and
// counted by reason: no user, no run time, no processors, or a part of a job that other lines describe in full (status
// 2-4).
#pragma once

#include <istream>

#include "workload/trace.hpp"

namespace shapley::workload {

// Errc::invalid_argument under Malformed::refuse at the first line that is not 18 numbers: its number and why.
[[nodiscard]] Expected<Trace> parse_swf(std::istream& text, Malformed choice);

}  // namespace shapley::workload
