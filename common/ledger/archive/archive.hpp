// Closed periods moved out of a ledger into files of their own, so that the live ledger holds the present period and
// the last closed one. docs/internals/archives.md.
//
// Every archive is written, read back, audited and compressed before anything of the ledger changes; then what stays
// is written beside the ledger, audited, compared with it, and takes its name. Killed at any moment, the ledger is the
// old file or the new one, whole, and every archive under its name is whole; the next try goes on with those.
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

// Where archives are, beside the ledger.
[[nodiscard]] std::filesystem::path archives_of(const std::filesystem::path& ledger);

struct Archive {
  std::filesystem::path file;
  Instant begin;            // of its first period
  Instant until;            // end of its last
  std::int64_t events = 0;  // its own
  BackupResult verified;
  std::uintmax_t bytes = 0;
};

struct ArchiveResult {
  std::vector<Archive> archives;  // empty: nothing was to be done, and nothing was, unless it was prepared
  int uncut = 0;                  // closed periods, except the last one, that stay nevertheless (Cuts)
  bool was_prepared = false;      // by prepare_archives(); `archives` were made then
  BackupResult verified;          // what stays
  std::uintmax_t bytes_before = 0;
  std::uintmax_t bytes_after = 0;
};

// Signs the last event of each archive, in the archive's table heads, with `key` unless it is null. Errors (the ledger
// is as it was): Errc::conflict while a daemon writes the ledger or a process reads it, or when a file that is no
// archive of this ledger has the name of one; Errc::corrupt when the ledger does not audit clean; Errc::not_found,
// Errc::no_space, Errc::io.
[[nodiscard]] Expected<ArchiveResult> archive_closed_periods(const std::filesystem::path& ledger, const SigningKey* key,
                                                             Instant now, const OnProgress& on_progress = {});

// Does all of that that can be done while a daemon writes the ledger: makes the archives, and what would stay if the
// ledger ended now, as LEDGER.archived. The ledger itself is as it was, until archive_closed_periods() finds that file,
// adds what was recorded since, and puts it into the ledger's place. Reading for so long keeps the ledger's log from
// being folded into it, so the log grows meanwhile. Errors as above; Errc::conflict while another one prepares.
[[nodiscard]] Expected<ArchiveResult> prepare_archives(const std::filesystem::path& ledger, const SigningKey* key,
                                                       Instant now, const OnProgress& on_progress = {});

// What will stay of a ledger, written while a daemon wrote on (LEDGER.archived), and how it catches up.

[[nodiscard]] std::filesystem::path prepared_file(const std::filesystem::path& ledger);
void remove_prepared(const std::filesystem::path& ledger);

// Adds to the prepared file what was recorded since: it ends with the ledger's last event, is closed and synced.
// Everything in it was verified when it was written. False: it is of no use, because it is not of this ledger as it is
// now, an archive that it goes on from is gone or damaged, or since then something was recorded that changes archived
// books. REQUIRES: `database` is the ledger, which no other process writes.
[[nodiscard]] Expected<bool> catch_up(const Database& database, const std::filesystem::path& ledger,
                                      const OnProgress& on_progress);

}  // namespace shapley::ledger
