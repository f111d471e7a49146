// shapley-sim's command line; docs/reference/shapley-sim.md has every option.
#pragma once

namespace shapley::sim {

// Runs the command that `argv` names. Returns an exit code of exit_code.hpp.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace shapley::sim
