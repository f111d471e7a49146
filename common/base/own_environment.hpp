// The variables of this process's environment.
#pragma once

#include <string>
#include <vector>

#include <unistd.h>

namespace shapley {

// Each as NAME=VALUE.
[[nodiscard]] inline std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

}  // namespace shapley
