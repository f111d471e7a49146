// What the plugin said last of PrivateData, in a file beside the ledger: a daemon that starts before slurmctld, or is
// asked about books whose slurmctld is away, hides what was hidden. It is no fact of the books, so it is no event.
#pragma once

#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

struct KeptPrivacy {
  Instant told_at;  // when it came to be so
  protocol::Privacy privacy;
  friend bool operator==(const KeptPrivacy&, const KeptPrivacy&) = default;
};

[[nodiscard]] std::filesystem::path privacy_file_of(const std::filesystem::path& ledger);

// What write_privacy_file() wrote last; nullopt: nothing, or something else.
[[nodiscard]] std::optional<KeptPrivacy> read_privacy_file(const std::filesystem::path& file);

// Replaces the file, whole or not at all. Errors: Errc::io.
[[nodiscard]] Expected<void> write_privacy_file(const std::filesystem::path& file, const KeptPrivacy& kept);

}  // namespace shapley::daemon
