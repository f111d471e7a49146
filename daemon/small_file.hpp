// Small files beside the ledger, for what is no fact of the books but outlives the process.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace shapley::daemon {

// Replaces the file, whole or not at all, and on the disk; it is the daemon's user's alone, as the ledger is. Errors:
// Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace shapley::daemon
