// Who else could have changed, or could read, a file that we are about to believe. Looks at modes and owners only;
// POSIX ACLs show in the group's bits (as their mask), so they are seen too.
//
// A refusal is Errc::denied; its text names the path, what was found and the command that corrects it. Errc::io,
// Errc::not_found: the path cannot be looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace shapley {

// Owned by root or by us, and nobody else can write it. `what` says what it is ("the configuration").
[[nodiscard]] Expected<void> check_unwritable(const std::filesystem::path& file, std::string_view what);

// Whether users outside the file's owner and group can read it.
[[nodiscard]] Expected<bool> readable_by_others(const std::filesystem::path& file);

enum class Sticky { refused, allowed };

// Nobody but root and us can put another file in the place of one in `directory`: it belongs to root or to us and
// nobody else can write it. The directories above it must not be open to all, unless they are like /tmp (sticky:
// everybody may write, but remove only what is his own); with Sticky::allowed `directory` itself may be such a one.
[[nodiscard]] Expected<void> check_directory(const std::filesystem::path& directory, std::string_view what,
                                             Sticky sticky = Sticky::refused);

}  // namespace shapley
