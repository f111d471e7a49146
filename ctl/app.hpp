// The command line of shapleyctl: parse, dispatch, and turn an error into one sentence and an exit code.
#pragma once

#include "base/error.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace shapley::ctl {

// Never throws. `argv` as main gets it.
[[nodiscard]] ExitCode run(int argc, const char* const* argv, const Environment& environment);

// Which exit code an error ends the program with.
[[nodiscard]] ExitCode exit_code_of(Errc code);

}  // namespace shapley::ctl
