// A file compressed by xz, as archives are kept: `xz -d` reads them.
//
// With SHA-256 over the content, so that any byte that changed is found when the file is unpacked.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

// Whether its first bytes are those of an xz file. A file that cannot be read is none.
[[nodiscard]] bool is_packed(const std::filesystem::path& file);

// Creates `to` with mode 0440, whole and synced. Errc::conflict when it exists, Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> pack(const std::filesystem::path& from, const std::filesystem::path& to,
                                  const OnProgress& on_progress);

// Creates `to` with mode 0600. Errc::corrupt when the packed file is damaged, cut short, followed by something, or
// unpacks to more than a ledger can (a thousand times its size); Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> unpack(const std::filesystem::path& from, const std::filesystem::path& to,
                                    const OnProgress& on_progress);

// Errc::corrupt unless both have the same bytes.
[[nodiscard]] Expected<void> compare_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace shapley::ledger
