// Is a ledger sound enough to write on? What a start can afford to look at: the rest is the audit's.
//
// Looked at: the log's header; every page of a ledger of at most 64 MiB (larger ones as they are read); that no table,
// index or trigger is missing (schema.hpp has seen to it that none is foreign); the hash chain over the newest 1,000
// events; that the newest checkpoint and the newest signed head speak of events that are there. Errors: Errc::corrupt
// says what is wrong.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

// Before SQLite opens the file: it takes a log with a damaged header for an empty one, and what was committed to it is
// silently gone. A header is written in one piece of 32 bytes, so a power loss leaves it as it was or as it was to be.
[[nodiscard]] Expected<void> check_log_header(const std::filesystem::path& ledger);

// Whether a log lies beside the ledger that SQLite can read. A power loss while it is folded into the file may tear the
// file's first sector; SQLite takes that page from the log.
[[nodiscard]] bool has_sound_log(const std::filesystem::path& ledger);

// Pages, before anything is written.
[[nodiscard]] Expected<void> check_pages(const Database& database, const std::filesystem::path& ledger);

// Schema, end of the chain, checkpoint, head. REQUIRES: migrated, nothing foreign.
[[nodiscard]] Expected<void> check_content(const Database& database);

}  // namespace shapley::ledger
