// Where commands of tests write to: texts, no terminal, and no variables in the environment.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "ctl/environment.hpp"

namespace shapley::ctl {

inline Environment no_terminal(std::ostream& out, std::ostream& err) {
  return {
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
}

}  // namespace shapley::ctl
