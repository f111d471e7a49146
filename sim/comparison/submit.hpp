// A comparison as a Slurm job array: a block of windows per task, one result file per block, merged when all are there.
//
// The folder holds the progress: complete results are kept, missing blocks are submitted (again). So the same command
// repeats lost tasks and continues an interrupted comparison. A task writes to a temporary file and renames it at its
// end, so that an incomplete result is never taken for a complete one.
#pragma once

#include <iosfwd>

#include "sim/commands/compare_command.hpp"

namespace shapley::sim {

// Waits for the array (sbatch --wait) and prints the same report as `compare` on this machine. REQUIRES: complete().
// Errc::conflict when the folder holds another comparison; Errc::unavailable when Slurm takes no job or blocks are
// still missing after three arrays.
[[nodiscard]] Expected<int> submit_comparison(const CompareArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
