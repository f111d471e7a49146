// shapleyd as a whole: creates its parts in the order in which they depend on each other, and destroys them in reverse.
#pragma once

#include <filesystem>

namespace shapley::daemon {

// shapleyd's exit codes; docs/reference/shapleyd.md lists them for administrators.
enum class ExitCode : int {
  success = 0,        // stopped by SIGTERM or SIGINT; --check-config: no fault
  configuration = 1,  // the configuration file has faults, or other users can change it; or root started the
                      // daemon, and slurm_user is another user
  usage = 2,          // unknown option or value
  ledger = 3,         // the ledger cannot be opened, another shapleyd writes it, or other users can change it
  socket = 4,         // the socket cannot be opened, another process listens on it, or other users can replace it
  internal = 5,       // a defect of shapleyd
  damaged = 6,        // the ledger is damaged, or not a ledger: a restart does not help
  no_memory = 71,     // k_exit_no_memory of base/process.hpp
};

// Reads the file and prints its meaning, or all of its faults.
[[nodiscard]] ExitCode check_configuration(const std::filesystem::path& file);

// Runs until SIGTERM or SIGINT. Logs to standard error.
[[nodiscard]] ExitCode run(const std::filesystem::path& file);

}  // namespace shapley::daemon
