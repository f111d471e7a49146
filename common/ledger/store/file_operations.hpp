// Small things that the standard library does not do with files.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace shapley::ledger {

// Of every file that a daemon works with. A reader of one of them could hold a lock on it for ever.
inline constexpr unsigned k_live_file_mode = 0600;

// Returns when the file, or the names in a directory, are on the disk. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> sync_file(const std::filesystem::path& file);

// Gives a file the name of another one in the same directory, whose place it takes; on disk when it returns.
[[nodiscard]] Expected<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace shapley::ledger
