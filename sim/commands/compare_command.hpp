// `shapley-sim compare`: policies side by side on many windows.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "sim/comparison/comparison.hpp"
#include "sim/input/workload_source.hpp"

namespace shapley::sim {

struct CompareArguments {
  WorkloadSource source;
  ComparisonSettings settings;
  std::string baseline;  // empty: direct_contr if it is compared, else the first policy
  bool json = false;
  unsigned threads = 0;  // 0: one per core
  std::filesystem::path plot;
  std::filesystem::path submit;  // run as a Slurm job array that leaves its results in this folder
  std::size_t block = 10;        // windows per task of the array
  std::vector<std::string> sbatch_options;
  std::size_t first_window = 0;  // only windows first .. last - 1 of the comparison
  std::size_t last_window = 0;   // 0: settings.windows
};

// Fills in what was left out: processors from the trace's header, the baseline. Errc::invalid_argument otherwise.
[[nodiscard]] Expected<void> complete(CompareArguments& arguments, const workload::Trace& trace);

// Prints a table or JSON, and a plot on demand. Returns an exit code of exit_code.hpp.
[[nodiscard]] Expected<int> compare(CompareArguments arguments, std::ostream& out);

// The report of finished windows, in the form that was asked for.
[[nodiscard]] Expected<void> report(const CompareArguments& arguments, const std::vector<WindowResult>& results,
                                    std::ostream& out);

}  // namespace shapley::sim
