// Who else could have changed, or could read, a file that we are about to believe. Looks at modes and owners only;
// POSIX ACLs show in the group's bits (as their mask), so they are seen too.
//
// A refusal is Errc::denied; its text names the path, what was found and the command that corrects it. Errc::io,
// Errc::not_found: the path cannot be looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley {

// Owned by root or by us, and nobody else can write it. `what` says what it is ("the configuration").
[[nodiscard]] Expected<void> check_unwritable(const std::filesystem::path& file, std::string_view what);

// Leaves a file to its owner alone, who is root or we: mode 0600 at most. The value: the mode that it had, as chmod
// takes it, if others had rights. What check_unwritable() refuses, and a symbolic link, is refused and stays as it is;
// what is no file is left alone. REQUIRES: nobody else can put another file in its place (check_directory).
[[nodiscard]] Expected<std::optional<std::string>> make_private(const std::filesystem::path& file,
                                                                std::string_view what);

enum class Sticky { refused, allowed };

// Nobody but root and us can put another file in the place of one in `directory`: it belongs to root or to us and
// nobody else can write it. The directories above it must not be open to all, unless they are like /tmp (sticky:
// everybody may write, but remove only what is his own); with Sticky::allowed `directory` itself may be such a one.
[[nodiscard]] Expected<void> check_directory(const std::filesystem::path& directory, std::string_view what,
                                             Sticky sticky = Sticky::refused);

}  // namespace shapley
