// `shapleyctl check-config`: every fault of a configuration file at once, before a daemon has to refuse it; what it
// names that Slurm does not know; and what it would change.
#pragma once

#include <string>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct CheckConfigArguments {
  std::string file{config::k_default_file};
  bool against_slurm = false;
  bool diff = false;
  std::string ledger =
      {};  // whose books are asked, and what was loaded last there is in force; empty: the running daemon
};

void add_check_config(CLI::App& app, CheckConfigArguments& arguments);

// ExitCode::findings when the file has faults, a file that cannot be read included (the faults say so), or names what
// Slurm does not know. Errors: Slurm, the daemon or the ledger cannot be asked.
[[nodiscard]] Expected<ExitCode> run_check_config(const CheckConfigArguments& arguments, const Endpoint& endpoint,
                                                  const Environment& environment);

}  // namespace shapley::ctl
