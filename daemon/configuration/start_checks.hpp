// Whether the files that shapleyd is about to believe, and the places where it is about to put others, are in nobody
// else's hands. What could bend the books or the daemon is refused; what only shows more than it should is a warning.
// docs/operating/security.md, "Files", has the table.
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

// The ledger, its companions and its directory. The value: warnings.
[[nodiscard]] Expected<std::vector<std::string>> check_ledger_files(const std::filesystem::path& ledger);

// The directory that the socket will be in. The value: warnings.
[[nodiscard]] Expected<std::vector<std::string>> check_socket_place(const std::filesystem::path& socket);

}  // namespace shapley::daemon
