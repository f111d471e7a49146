// Closed periods moved out of a ledger into files of their own, so that the live ledger holds the present period and
// the last closed one. docs/internals/archives.md.
//
// Every archive is written, read back, audited and compressed before anything of the ledger changes; then the rest is
// written beside the ledger, audited and compared with it, and takes its name. If the process is killed at any moment,
// the ledger is the complete old file or the complete new one, and every archive under its name is complete; the next
// try goes on with those.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/file/database.hpp"
#include "ledger/file/files.hpp"
#include "ledger/store/backup.hpp"

namespace shapley::ledger {

// The directory of archives, beside the ledger.
[[nodiscard]] std::filesystem::path archives_of(const std::filesystem::path& ledger);

struct Archive {
  std::filesystem::path file;
  Instant begin;            // of its first period
  Instant until;            // end of its last
  std::int64_t events = 0;  // without copies
  BackupResult verified;
  std::uintmax_t bytes = 0;
};

struct ArchiveResult {
  std::vector<Archive> archives;  // empty: there was nothing to do, unless it was prepared
  int uncut = 0;                  // closed periods, except the last one, that stay in the ledger (Cuts)
  bool was_prepared = false;      // by prepare_archives(); `archives` were made then
  BackupResult verified;          // the file that stays
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

// Signs the last event of each archive, in the archive's table heads, with `key` unless it is null. Errors, after which
// the ledger is unchanged: Errc::conflict while a daemon writes the ledger or a process reads it, or when a file that
// is no archive of this ledger has the name of one; Errc::corrupt when the ledger does not audit clean;
// Errc::not_found, Errc::no_space, Errc::io.
[[nodiscard]] Expected<ArchiveResult> archive_closed_periods(const std::filesystem::path& ledger, const SigningKey* key,
                                                             Instant now, const OnProgress& on_progress = {});

// Does the part of this that is possible while a daemon writes the ledger: makes the archives and, as LEDGER.archived,
// the file that would stay if the ledger ended now. The ledger itself does not change until archive_closed_periods()
// finds that file, adds what was recorded since, and puts it in the ledger's place. The long read keeps the ledger's
// log from being folded into it, so the log grows meanwhile. Errors as above; Errc::conflict while another process
// prepares.
[[nodiscard]] Expected<ArchiveResult> prepare_archives(const std::filesystem::path& ledger, const SigningKey* key,
                                                       Instant now, const OnProgress& on_progress = {});

// The prepared file (LEDGER.archived), written while a daemon wrote on, and how it catches up.

[[nodiscard]] std::filesystem::path prepared_file(const std::filesystem::path& ledger);
void remove_prepared(const std::filesystem::path& ledger);

// Adds to the prepared file what was recorded since: afterwards it ends with the ledger's last event, closed and
// synced. Its other content was verified when it was written. False: it cannot be used, because it is not of this
// ledger as it is now, because an archive before it is missing or damaged, or because something was recorded since that
// changes archived books. REQUIRES: `database` is the ledger, which no other process writes.
[[nodiscard]] Expected<bool> catch_up(const Database& database, const std::filesystem::path& ledger,
                                      const OnProgress& on_progress);

}  // namespace shapley::ledger
