// What a subcommand may touch of the world outside: two streams and the environment's variables, so that tests can give
// it others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace shapley::ctl {

struct Environment {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` is a terminal
  std::function<std::optional<std::string>(const char* name)> variable;

  // Colours on a terminal only, and never when NO_COLOR is set to anything (no-color.org).
  [[nodiscard]] bool colour() const { return terminal && variable("NO_COLOR").value_or("").empty(); }
};

}  // namespace shapley::ctl
