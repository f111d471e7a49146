// The command line of shapleyctl: parse, dispatch, and turn an error into one sentence and an exit code.
#pragma once

#include "base/error.hpp"
#include "ctl/environment.hpp"

namespace shapley::ctl {

// Never throws. `argv` is that of main.
[[nodiscard]] ExitCode run(int argc, const char* const* argv, const Environment& environment);

// The exit code with which an error ends the program.
[[nodiscard]] ExitCode exit_code_of(Errc code);

}  // namespace shapley::ctl
