// shapleyd's exit codes; docs/reference/shapleyd.md lists them for administrators.
#pragma once

namespace shapley::daemon {

enum class ExitCode : int {
  success = 0,        // stopped by SIGTERM or SIGINT; --check-config: no fault
  configuration = 1,  // the configuration file has faults
  usage = 2,          // unknown option or value
  ledger = 3,         // the ledger cannot be opened, is damaged, or another shapleyd writes it
  socket = 4,         // the socket cannot be opened, or somebody else listens on it
  internal = 5,       // our fault: report it
};

}  // namespace shapley::daemon
