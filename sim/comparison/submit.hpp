// A comparison as a Slurm job array: a block of windows per task, one result file per block, merged when all are there.
//
// The folder is the memory: whatever is there and whole is kept, whatever is missing is submitted (again). So a lost
// task is run again, and so is a sweep that was interrupted, by the same command. A task writes beside its result and
// renames at its end, so that half a result is never taken for a whole one.
#pragma once

#include <iosfwd>

#include "sim/commands/compare_command.hpp"

namespace shapley::sim {

// Waits for the array (sbatch --wait) and prints the same report as `compare` on this machine. REQUIRES: complete().
// Errc::conflict when the folder holds another sweep; Errc::unavailable when Slurm takes no job or blocks are still
// missing after three arrays.
[[nodiscard]] Expected<int> submit_comparison(const CompareArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
