// Small things that the standard library does not do with files.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace shapley::ledger {

// Whether this errno says that a disk or quota is full.
[[nodiscard]] bool is_out_of_space(int cause);

// "what: " and the system's own words; Errc::no_space when a disk or quota is full, else Errc::io.
[[nodiscard]] tl::unexpected<Error> system_failure(const std::string& what, int cause);

// Returns when the file, or the names in a directory, are on the disk. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> sync_file(const std::filesystem::path& file);

}  // namespace shapley::ledger
