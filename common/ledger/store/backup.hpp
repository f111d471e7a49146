// Copies of a ledger that can be relied on, and the way back.
//
// A copy is one snapshot of the file, taken while shapleyd may go on writing. It is written beside its target under
// another name, synced, verified (every page, every row's hash), and only then given its name: what has the name is
// whole. A copy may be read by its owner and group, what is put in a ledger's place by its owner alone.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/copies.hpp"

namespace shapley::ledger {

class Database;

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

}  // namespace shapley::ledger
