// `shapley-sim workflow`: one step of the workflow fairness loop over a state in a file.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "base/error.hpp"

namespace shapley::sim {

struct WorkflowArguments {
  std::filesystem::path instance;
  std::string mode = "phases_upper_median";  // or phases_mid_median, elapsed_only_upper_median
  bool relative_duration = true;
  bool json = false;
};

// Prints a table, or with `json` what the golden files hold under the mode's name; docs/reference/shapley-sim.md.
[[nodiscard]] Expected<void> workflow_command(const WorkflowArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
