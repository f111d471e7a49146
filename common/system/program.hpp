// Starting another program and waiting for it.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::system {

// Its exit code (-1: killed). What it prints goes to our standard error, since our own standard output is a result.
// Errc::unavailable when the program is not there.
[[nodiscard]] Expected<int> run_program(const std::vector<std::string>& words);

}  // namespace shapley::system
