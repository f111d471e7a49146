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
  std::vector<Archive> archives;  // empty: there was nothing to do
  int uncut = 0;                  // closed periods, except the last one, that stay in the ledger (Cuts)
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

}  // namespace shapley::ledger
