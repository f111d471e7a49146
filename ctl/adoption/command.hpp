// Runs another program and takes what it writes. No shell; standard input is empty; bounded in time and in bytes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::ctl {

struct CommandOutput {
  int exit_code = 0;
  std::string out;
  std::string err;  // the first MiB
};

// `arguments`: the program, looked for in PATH, and its arguments; not empty. Errc::unavailable: it cannot be started,
// was killed by a signal, or did not end within `limit` (it is killed then); Errc::limit: it wrote more than 64 MiB
// (likewise).
[[nodiscard]] Expected<CommandOutput> run_command(const std::vector<std::string>& arguments,
                                                  std::chrono::milliseconds limit);

}  // namespace shapley::ctl
