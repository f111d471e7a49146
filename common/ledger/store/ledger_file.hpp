// Opening a ledger file: is it one, may we, how; and bringing its schema up to date.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "ledger/file/database.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ledger {

// "SHPL" in SQLite's header, so that file(1) and we can distinguish a ledger from any other data base.
inline constexpr std::int64_t k_application_id = 0x5348504C;

// Whichever way a file is opened, the first that is read of it is its schema: one that holds something that the program
// did not make (start_check.hpp) is Errc::corrupt.

// REQUIRES: the caller holds the WriterLock. Creates the file (k_live_file_mode) if it does not exist. An older ledger
// is backed up beside it (LEDGER.schema-N-TIME.backup) and migrated; one that is not sound (start_check.hpp) is
// refused.
[[nodiscard]] Expected<Database> open_for_writing(const std::filesystem::path& file,
                                                  const OnProgress& on_progress = {});

// Read-only and of any schema, to copy it.
[[nodiscard]] Expected<Database> open_for_copying(const std::filesystem::path& file);

// A file that no other process has open: SQLite makes no files beside it. Of any schema.
[[nodiscard]] Expected<Database> open_alone(const std::filesystem::path& file);

// Works on a copied file, on a file that is being written, and, once no write-ahead log is left, on a read-only
// directory.
[[nodiscard]] Expected<Database> open_for_reading(const std::filesystem::path& file);

// REQUIRES: this process has opened the file for writing, and keeps it open. Opened by SQLite alone: a file that is
// opened and closed by other means frees all locks that the process has on it, the writer's too.
[[nodiscard]] Expected<Database> open_beside_writer(const std::filesystem::path& file);

// The same to write what may be lost with the machine (checkpoints): what a commit wrote is on disk with the next
// append, or once the log is folded into the file, which is the caller's business (PRAGMA wal_checkpoint).
[[nodiscard]] Expected<Database> open_second_writer(const std::filesystem::path& file);

// The version that this program writes.
[[nodiscard]] std::int64_t newest_schema();

// Runs the migrations that the data base lacks up to `version`, all in one transaction: killed in the middle, it is as
// it was before. Errc::corrupt when its schema is newer than this program. REQUIRES: its present version <= version <=
// newest_schema().
[[nodiscard]] Expected<void> migrate(const Database& database, std::int64_t version = newest_schema());

// The numbered files of sql/, embedded at build time. Entry i leads from schema version i to i + 1; version 0 is an
// empty file. A file that was released is never edited: ledgers in the field have its schema.

[[nodiscard]] std::span<const std::string_view> migrations();

}  // namespace shapley::ledger
