// shapleyd's exit codes; docs/reference/shapleyd.md lists them for administrators.
#pragma once

namespace shapley::daemon {

enum class ExitCode : int {
  success = 0,        // stopped by SIGTERM or SIGINT; --check-config: no fault
  configuration = 1,  // the configuration file has faults, or others can change it
  usage = 2,          // unknown option or value
  ledger = 3,         // the ledger cannot be opened, another shapleyd writes it, or others can change it
  socket = 4,         // the socket cannot be opened, somebody else listens on it, or others can replace it
  internal = 5,       // our fault: report it
  damaged = 6,        // the ledger is damaged or no ledger: trying again does not help
  no_memory = 71,     // k_exit_no_memory of base/guarded_main.hpp
};

}  // namespace shapley::daemon
