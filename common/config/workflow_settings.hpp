// The keys `within_organization` and `workflows`, which the file's top level and every organization may have.
#pragma once

#include <string>

#include "config/faults.hpp"
#include "config/yaml_reader.hpp"
#include "workflow/settings.hpp"

namespace shapley::config {

// Sets what `entries` says, key by key, and leaves the rest as it is; faults go to the list.
void read_workflow_settings(YamlReader& reader, const Mapping& entries, FaultList& faults,
                            workflow::Settings& settings);

// The table `workflows` in one line, for people.
[[nodiscard]] std::string workflows_text(const workflow::Settings& settings);

}  // namespace shapley::config
