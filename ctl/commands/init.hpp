// `shapleyctl init`: a first configuration, proposed from what Slurm knows of the site.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct InitArguments {
  std::string output;  // empty: standard output
};

void add_init(CLI::App& app, InitArguments& arguments);

// Errc::conflict: the file is there already; it is left alone.
[[nodiscard]] Expected<ExitCode> run_init(const InitArguments& arguments, const Environment& environment);

}  // namespace shapley::ctl
