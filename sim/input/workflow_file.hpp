// States of workflows as JSON files: {"tau": "1/5", "workflows": [{"activities": [{"waiting": [{"id", "priority"}],
// "running": [{"setup", "input", "exec", "output"}], "completed": [...]}]}]}, alone or as the member "input".
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "workflow/reprioritize.hpp"

namespace shapley::sim {

struct WaitingTask {
  std::int64_t id = 0;
  std::int64_t priority = 1;
};

struct WorkflowState {
  workflow::Fraction threshold;  // tau
  std::vector<workflow::Workflow> workflows;
  std::vector<std::vector<std::vector<WaitingTask>>> waiting;  // by workflow and activity, the oldest first
};

// Errors name the file and the member at fault.
[[nodiscard]] Expected<WorkflowState> read_workflow_state(const std::filesystem::path& file);

}  // namespace shapley::sim
