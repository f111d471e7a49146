// When the ledger was last backed up and last audited, as far as shapleyd was told, in a file beside it.
//
// shapleyctl tells the daemon, because whoever makes a backup or audits a copy may write nothing in the ledger's
// directory. What is told names the last event that was copied or checked, with its hash: of another ledger, or a
// forged one, nothing is believed. It is no fact of the books, so it is no event.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

struct Upkeep {
  struct Backup {
    Instant at;                 // when it was told
    std::int64_t sequence = 0;  // the last event of the copy
    friend bool operator==(const Backup&, const Backup&) = default;
  };
  struct Audit {
    Instant at;
    std::int64_t sequence = 0;  // the last event that was checked, at least
    bool clean = false;         // without a finding
    friend bool operator==(const Audit&, const Audit&) = default;
  };
  std::optional<Backup> backup;
  std::optional<Audit> audit;
  friend bool operator==(const Upkeep&, const Upkeep&) = default;
};

[[nodiscard]] std::filesystem::path upkeep_file_of(const std::filesystem::path& ledger);

// What write_upkeep_file() wrote last; what cannot be read is not there.
[[nodiscard]] Upkeep read_upkeep_file(const std::filesystem::path& file);

// Replaces the file, whole or not at all. Errors: Errc::io.
[[nodiscard]] Expected<void> write_upkeep_file(const std::filesystem::path& file, const Upkeep& upkeep);

}  // namespace shapley::daemon
