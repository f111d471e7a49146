// Whether the files that shapleyd is about to believe, and the places where it is about to put others, are in nobody
// else's hands. What could bend the books or the daemon is refused; what only shows more than it should is corrected,
// or a warning. docs/operating/security.md, "Files", has the table.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "daemon/configuration/site.hpp"

namespace shapley::daemon {

// Before every reading of the file, at start and at reload. Errc::not_found and Errc::io are left to the reader, which
// says it better.
[[nodiscard]] Expected<void> check_configuration_file(const std::filesystem::path& file);

// The ledger, SQLite's files and the lock file beside it, and its directory. Files that others could read are left to
// their owner alone. The value: warnings, one for each of those. REQUIRES: this process has none of them open, because
// closing one of them elsewhere would free SQLite's locks.
[[nodiscard]] Expected<std::vector<std::string>> protect_ledger_files(const std::filesystem::path& ledger);

// The directory that the socket will be in. The value: warnings.
[[nodiscard]] Expected<std::vector<std::string>> check_socket_place(const std::filesystem::path& socket);

}  // namespace shapley::daemon
