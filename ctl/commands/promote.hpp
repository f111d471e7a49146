// `shapleyctl promote` and `shapleyctl demote`: Slurm's word to one of two controllers, that its slurmctld is primary
// now, or is not any more (SlurmctldPrimaryOnProg, SlurmctldPrimaryOffProg).
#pragma once

#include <chrono>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct DemoteArguments {
  bool force = false;
};

void add_promote(CLI::App& app);
void add_demote(CLI::App& app, DemoteArguments& arguments);

// Waits until the daemon writes; a daemon that starts meanwhile is told as well. Errc::unavailable: it does not when
// `patience` is over; what was asked for holds all the same if the daemon was told.
[[nodiscard]] Expected<ExitCode> run_promote(const Endpoint& endpoint, std::chrono::milliseconds patience,
                                             const Environment& environment);

[[nodiscard]] Expected<ExitCode> run_demote(const DemoteArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

}  // namespace shapley::ctl
