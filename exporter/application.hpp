// shapley-exporter: the command line, the HTTP server, the end by a signal.
#pragma once

#include <ostream>

namespace shapley::exporter {

// How it ends. A contract with scripts and systemd: docs/reference/shapley-exporter.md and the manual page list them.
enum class ExitCode : int {
  success = 0,    // stopped by SIGTERM or SIGINT, or it printed what it was asked for
  usage = 2,      // the command line cannot be understood
  listen = 4,     // nothing can listen at the address
  internal = 70,  // a defect
  no_memory = 71  // k_exit_no_memory of base/guarded_main.hpp
};

// REQUIRES: no other thread yet (it blocks signals for those that it starts).
[[nodiscard]] ExitCode run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace shapley::exporter
