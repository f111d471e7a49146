// Copies of a ledger that can be relied on, and the way back.
//
// A copy is one snapshot of the file, taken while shapleyd may go on writing. It is written beside its target under
// another name, synced, verified (every page, every row's hash), and only then given its name: what has the name is
// whole. A copy may be read by its owner and group, what is put in a ledger's place by its owner alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ledger {

class Database;

struct BackupResult {
  std::int64_t events = 0;
  std::string hash;  // of the last event, hexadecimal
};

enum class Overwrite { no, yes };

// Errors: Errc::conflict when the target exists (Overwrite::no) or is the ledger itself, Errc::corrupt when the copy
// does not verify (the ledger is damaged; the target was not touched), Errc::io, Errc::not_found.
[[nodiscard]] Expected<BackupResult> back_up(const std::filesystem::path& ledger, const std::filesystem::path& target,
                                             Overwrite overwrite);

// Puts a verified copy of `backup` in the place of `ledger`. The file that is replaced and its log stay beside it as
// LEDGER.replaced-TIME; its path is returned, empty if there was none. Errc::conflict while a daemon writes the ledger.
[[nodiscard]] Expected<std::filesystem::path> restore(const std::filesystem::path& backup,
                                                      const std::filesystem::path& ledger, Instant now,
                                                      BackupResult& restored);

// A verified copy beside the ledger before its schema changes: LEDGER.schema-N-TIME.backup. Nothing is done if there is
// one of the ledger as it is, since an earlier try was killed.
[[nodiscard]] Expected<void> back_up_before_migration(const Database& database, const std::filesystem::path& ledger,
                                                      std::int64_t schema);

// Takes a ledger's events out of its log, so that they are in the file alone. Errc::conflict while another process has
// the ledger open.
[[nodiscard]] Expected<void> take_alone(const Database& database);

// Every page by SQLite's own check, every row's hash by ours. REQUIRES: no other process has the file open.
[[nodiscard]] Expected<BackupResult> verify_copy(const std::filesystem::path& file);

// A ledger rewritten without the room that nothing uses any more: what a migration leaves, and old checkpoints.
//
// The new file is written beside the old one under another name, compared with it row by row, its hash chain computed
// again, and only then takes the ledger's name. Killed at any moment, the ledger is the old file or the new one, whole;
// what was begun is removed by the next try.
struct CompactResult {
  BackupResult verified;
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

// An older ledger is migrated first. Errors: Errc::conflict while a daemon writes the ledger or a process reads it,
// Errc::not_found, Errc::corrupt, Errc::no_space (the old file stays as it is), Errc::io.
[[nodiscard]] Expected<CompactResult> compact(const std::filesystem::path& ledger, const OnProgress& on_progress = {});

}  // namespace shapley::ledger
