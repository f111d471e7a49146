// `shapleyctl check-config`: every fault of a configuration file at once, before a daemon has to refuse it.
#pragma once

#include <string>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct CheckConfigArguments {
  std::string file{config::k_default_file};
};

void add_check_config(CLI::App& app, CheckConfigArguments& arguments);

// ExitCode::findings when the file has faults, a file that cannot be read included: the faults say so.
[[nodiscard]] Expected<ExitCode> run_check_config(const CheckConfigArguments& arguments,
                                                  const Environment& environment);

}  // namespace shapley::ctl
