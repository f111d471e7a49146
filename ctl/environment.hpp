// What a subcommand may touch of the world outside: two streams, the environment's variables and other programs, so
// that tests can give it others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::ctl {

struct Environment {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` is a terminal
  std::function<std::optional<std::string>(const char* name)> variable;
  std::string host_name = {};  // of this machine; empty: not known
  std::size_t columns = 0;     // that the terminal has; 0: it is none, or does not say
  // Runs one of Slurm's commands (slurm/run_program.hpp); empty: none is run.
  std::function<Expected<std::string>(const std::vector<std::string>& words)> run_program = {};

  // Colours on a terminal only, and never when NO_COLOR is set to anything (no-color.org).
  [[nodiscard]] bool colour() const { return terminal && variable("NO_COLOR").value_or("").empty(); }
};

}  // namespace shapley::ctl
