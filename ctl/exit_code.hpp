// How shapleyctl ends. A contract with scripts: docs/reference/shapleyctl.md and the manual page list the same numbers.
#pragma once

namespace shapley::ctl {

enum class ExitCode : int {
  success = 0,
  findings = 1,     // the command worked and the answer is bad: a faulty configuration, an audit with findings
  usage = 2,        // the command line cannot be understood, or asks for what there cannot be
  unavailable = 3,  // the daemon cannot be reached or does not answer in time
  refused = 4,      // the daemon answered with an error, or is no shapleyd of our protocol
  unreadable =
      5,  // a ledger, configuration or record file cannot be read or is damaged, or gnuplot is missing (report)
  incomplete = 6,  // an audit found nothing, but an archive that the ledger goes on from is not there
  nothing_compared =
      7,  // an audit found nothing, but of the records that it was to compare none is of a run that it has
  // `health` ends as Nagios' checks do, with 0 to 3 in another meaning: HealthState of commands/health.hpp.
  internal = 70,   // a defect of shapleyctl itself
  no_memory = 71,  // k_exit_no_memory of base/guarded_main.hpp
};

}  // namespace shapley::ctl
