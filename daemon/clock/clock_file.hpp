// A file beside the ledger that says how far the trusted time was from the time since boot, of which boot that is, and
// what doubt the wall clock is in. So a restart of shapleyd under a wrong wall clock does not believe it. Without
// the file, or in another boot, there is nothing to go by but the ledger (trusted_clock.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/clock/trusted_clock.hpp"

namespace shapley::daemon {

[[nodiscard]] std::filesystem::path clock_file_of(const std::filesystem::path& ledger);

struct KeptClock {
  Duration offset;  // TrustedClock::offset()
  std::optional<TrustedClock::Doubt> doubt;
};

// What write_clock_file() wrote last in this boot; nullopt: nothing, or something else.
[[nodiscard]] std::optional<KeptClock> read_clock_file(const std::filesystem::path& file, const std::string& boot);

// Replaces the file. Errors: Errc::io.
[[nodiscard]] Expected<void> write_clock_file(const std::filesystem::path& file, const std::string& boot,
                                              const KeptClock& kept);

}  // namespace shapley::daemon
