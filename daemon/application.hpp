// shapleyd as a whole: the one place where its parts are put together, in the order in which they depend on each other,
// and taken apart in reverse.
#pragma once

#include <filesystem>
#include <string>

#include "daemon/exit_code.hpp"

namespace shapley::daemon {

// Reads the file and says what it means, or every fault it has.
[[nodiscard]] ExitCode check_configuration(const std::filesystem::path& file);

// Runs until SIGTERM or SIGINT. Logs to standard error.
[[nodiscard]] ExitCode run(const std::filesystem::path& file);

}  // namespace shapley::daemon
