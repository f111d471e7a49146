// Verified copies of a ledger, and restoring from them.
//
// A copy is one snapshot of the file, taken while shapleyd may go on writing. It is written beside its target under
// another name, synced and verified (every page, every row's hash), and only then renamed: a file with the target's
// name is complete. A copy may be read by its owner and group; a file put in a ledger's place by its owner only.
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

// The copy of a ledger that no process writes carries what was acknowledged of it (acknowledged.hpp).
//
// Errors: Errc::conflict when the target exists (Overwrite::no) or is the ledger itself, Errc::corrupt when the copy
// does not verify (the ledger is damaged; the target was not touched), Errc::io, Errc::not_found.
[[nodiscard]] Expected<BackupResult> back_up(const std::filesystem::path& ledger, const std::filesystem::path& target,
                                             Overwrite overwrite);

// Puts a verified copy of `backup` in the place of `ledger`. The file that is replaced and its log stay beside it as
// LEDGER.replaced-TIME; its path is returned, empty if there was none. Errc::conflict while a daemon writes the ledger.
[[nodiscard]] Expected<std::filesystem::path> restore(const std::filesystem::path& backup,
                                                      const std::filesystem::path& ledger, Instant now,
                                                      BackupResult& restored);

// Makes a verified copy beside the ledger before its schema changes: LEDGER.schema-N-TIME.backup. Nothing is done if
// there is a copy of the ledger as it is, from an earlier try that was killed.
[[nodiscard]] Expected<void> back_up_before_migration(const Database& database, const std::filesystem::path& ledger,
                                                      std::int64_t schema);

// Moves the events in the ledger's log into the file. Errc::conflict while another process has the ledger open.
[[nodiscard]] Expected<void> take_alone(const Database& database);

// Checks every page by SQLite's own check, and every row's hash. REQUIRES: no other process has the file open.
[[nodiscard]] Expected<BackupResult> verify_copy(const std::filesystem::path& file);

// Rewrites a ledger without unused space: that of a migration, and of old checkpoints.
//
// The new file is written beside the old one under another name, compared with it row by row, its hash chain computed
// again, and only then renamed. If the process is killed at any moment, the ledger is the complete old file or the
// complete new one; the next try removes an incomplete file.
struct CompactResult {
  BackupResult verified;
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

// An older ledger is migrated first. Errors: Errc::conflict while a daemon writes the ledger or a process reads it,
// Errc::not_found, Errc::corrupt, Errc::no_space (the old file stays as it is), Errc::io.
[[nodiscard]] Expected<CompactResult> compact(const std::filesystem::path& ledger, const OnProgress& on_progress = {});

}  // namespace shapley::ledger
