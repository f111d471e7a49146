// Opens a ledger file after checking that it is one, and brings its schema up to date.
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

// In every way of opening, the schema is read first: Errc::corrupt if it has an object that the program did not make
// (start_check.hpp).

// REQUIRES: the caller holds the WriterLock. Creates the file (k_live_file_mode) if it does not exist. An older ledger
// is backed up beside it (LEDGER.schema-N-TIME.backup) and migrated; one that is not sound (start_check.hpp) is
// refused.
[[nodiscard]] Expected<Database> open_for_writing(const std::filesystem::path& file,
                                                  const OnProgress& on_progress = {});
// The same for a ledger that is there. Errc::corrupt: the file is empty; of it a new ledger would be made, and hide
// that one is lost.
[[nodiscard]] Expected<Database> open_old_for_writing(const std::filesystem::path& file,
                                                      const OnProgress& on_progress = {});

// Opens a ledger of any schema read-only, to copy it.
[[nodiscard]] Expected<Database> open_for_copying(const std::filesystem::path& file);

// Opens a file that no other process has open, so that SQLite creates no files beside it. Any schema.
[[nodiscard]] Expected<Database> open_alone(const std::filesystem::path& file);

// Opens a copied file, a file that is being written, or, once no write-ahead log is left, a file in a read-only
// directory.
[[nodiscard]] Expected<Database> open_for_reading(const std::filesystem::path& file);

// REQUIRES: this process has opened the file for writing, and keeps it open. Only SQLite opens the file: opening and
// closing it by other means would free all locks that the process has on it, the writer's too.
[[nodiscard]] Expected<Database> open_beside_writer(const std::filesystem::path& file);

// The same for writing data that may be lost in a crash of the machine (checkpoints): a commit is on disk with the next
// append, or once the caller folds the log into the file (PRAGMA wal_checkpoint).
[[nodiscard]] Expected<Database> open_second_writer(const std::filesystem::path& file);

// The version that this program writes.
[[nodiscard]] std::int64_t newest_schema();

// Runs the migrations that the data base lacks up to `version`, all in one transaction: if killed, it is unchanged.
// Errc::corrupt when its schema is newer than this program. REQUIRES: its present version <= version <=
// newest_schema().
[[nodiscard]] Expected<void> migrate(const Database& database, std::int64_t version = newest_schema());

// The numbered files of sql/, embedded at build time. Entry i leads from schema version i to i + 1; version 0 is an
// empty file. A file that was released is never edited: ledgers in the field have its schema.

[[nodiscard]] std::span<const std::string_view> migrations();

}  // namespace shapley::ledger
