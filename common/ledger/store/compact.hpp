// A ledger rewritten without the room that nothing uses any more: what a migration leaves, and old checkpoints.
//
// The new file is written beside the old one under another name, compared with it row by row, its hash chain computed
// anew, and only then takes the ledger's name. Killed at any moment, the ledger is the old file or the new one, whole;
// what was begun is removed by the next try.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "ledger/store/copies.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

struct CompactResult {
  BackupResult verified;
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

// An older ledger is migrated first. Errors: Errc::conflict while a daemon writes the ledger or anybody reads it,
// Errc::not_found, Errc::corrupt, Errc::no_space (the old file stays as it is), Errc::io.
[[nodiscard]] Expected<CompactResult> compact(const std::filesystem::path& ledger, const OnProgress& on_progress = {});

}  // namespace shapley::ledger
