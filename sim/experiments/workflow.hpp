// `shapley-sim experiment workflow`: Experiments 1 to 3 of WF13, simulated, beside the paper's figures.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "base/error.hpp"

namespace shapley::sim {

struct WorkflowExperimentArguments {
  std::size_t instances = 10;  // repetitions of every setting
  std::uint64_t seed = 1;
  unsigned threads = 0;  // 0: one per core
};

[[nodiscard]] Expected<void> experiment_workflow(const WorkflowExperimentArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
