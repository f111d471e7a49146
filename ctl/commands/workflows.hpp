// `shapleyctl workflows`: how evenly the workflows of an organization get on, and which of their jobs go first.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/output/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct WorkflowsArguments {
  std::string organization;  // empty: all
  bool long_form = false;
  bool json = false;
};

void add_workflows(CLI::App& app, WorkflowsArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_workflows(const WorkflowsArguments& arguments, const Endpoint& endpoint,
                                               const Environment& environment);

// The columns of a workflow's row, and those of an activity's below it (--long).
[[nodiscard]] std::span<const Field> workflow_fields();
[[nodiscard]] std::span<const Field> activity_fields();

// The text for people of the daemon's answer.
[[nodiscard]] std::string render_workflows(const nlohmann::json& report, bool long_form);

}  // namespace shapley::ctl
