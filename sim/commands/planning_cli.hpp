// The options of `shapley-sim plan` and `shapley-sim workflow`.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace shapley::sim {

// Adds the subcommands and returns what each of them does, by name; an action returns an exit code of exit_code.hpp.
[[nodiscard]] std::map<std::string, std::function<Expected<int>()>> add_planning_commands(CLI::App& app);

}  // namespace shapley::sim
