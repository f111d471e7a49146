// A file that is there whole or not at all: who publishes it never shows half of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace shapley::ctl {

// Errc::io names the file and the cause; then what was there before stays.
[[nodiscard]] Expected<void> write_whole_file(const std::filesystem::path& file, std::string_view text);

}  // namespace shapley::ctl
