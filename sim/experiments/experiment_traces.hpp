// The workloads of an experiment: the traces that are at hand, or a generated stand-in that says so.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/experiment_command.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

struct ExperimentTrace {
  std::string name;  // of paper_numbers.hpp, or the file's, or "generated"
  std::string file;  // empty: generated
  std::int64_t processors = 0;
};

// In the papers' order. Errc::not_found when the folder holds none of the traces that were asked for.
[[nodiscard]] Expected<std::vector<ExperimentTrace>> find_traces(const ExperimentArguments& arguments);

// Errors as load_workload's.
[[nodiscard]] Expected<workload::Trace> load_trace(const ExperimentTrace& trace);

}  // namespace shapley::sim
