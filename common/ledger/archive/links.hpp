// Finds the archive that a ledger begins after, and the one before that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/file/files.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// What a ledger records about the archive before it.
struct ArchiveLink {
  std::string name;           // of the file, without its directory
  Instant begin;              // of the first period in it
  Instant until;              // end of the last one
  std::int64_t sequence = 0;  // of its last event
  std::string hash;           // of that event, hexadecimal
};
// nullopt: the ledger begins with event 1. `next`: what the file after this one recorded about it. Errc::corrupt unless
// the archive before this file ends earlier; so a chain of files which name each other ends.
[[nodiscard]] Expected<std::optional<ArchiveLink>> archive_before(
    const Ledger& ledger, const std::optional<ArchiveLink>& next = std::nullopt);

// "ledger.2026-10.db.xz (2026-10-01T00:00:00Z to 2026-11-01T00:00:00Z, up to event 4711 with hash ...)"
[[nodiscard]] std::string described(const ArchiveLink& link);

// The archive of that name in `directory`, packed or unpacked by hand (without ".xz"). nullopt: it is not there.
[[nodiscard]] std::optional<std::filesystem::path> find_archive(const std::filesystem::path& directory,
                                                                const std::string& name);

// The default directory of this file's archives: `archives` beside it, or its own directory if that is the directory of
// archives.
[[nodiscard]] std::filesystem::path archives_near(const std::filesystem::path& file);

// A ledger file to read, an archive or not. A packed one is unpacked into a directory of its own (in TMPDIR, else
// /var/tmp), which goes with this; there it may be of an older schema, too.
class OpenedFile {
 public:
  // Errors as of unpack() and of Ledger::open().
  [[nodiscard]] static Expected<OpenedFile> open(const std::filesystem::path& file);
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  struct Unpacked;
  OpenedFile(std::shared_ptr<const Unpacked> unpacked, Ledger ledger);
  std::shared_ptr<const Unpacked> unpacked_;  // null: it was not packed. Must outlive the ledger
  Ledger ledger_;
};

// Opens the archive that `ledger` begins after; `link`: what the ledger records about it. Errc::not_found: it is not in
// the directory. Errc::corrupt: it cannot be unpacked, or the file of its name is of another ledger, or its last event
// is not the one that `ledger` continues, by number and hash. audit_link() checks the rest.
[[nodiscard]] Expected<OpenedFile> open_archive(const Ledger& ledger, const ArchiveLink& link,
                                                const std::filesystem::path& directory);

// Checks that `archive` is the one that `ledger` records it begins after: identity, last event, number of events, every
// copied event, and the books after its last event. Findings ("archive") are added to the report. False: the ledger
// does not continue its last event.
[[nodiscard]] Expected<bool> audit_link(const Ledger& ledger, const Ledger& archive, AuditReport& report);

// Files compressed by xz, the form of archives: `xz -d` reads them.
//
// They have a SHA-256 of the content, so that any changed byte is found when the file is unpacked.

// Whether its first bytes are those of an xz file. False, too, for a file that cannot be read.
[[nodiscard]] bool is_packed(const std::filesystem::path& file);

// Creates `to` with mode 0440, whole and synced. Errc::conflict when it exists, Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> pack(const std::filesystem::path& from, const std::filesystem::path& to,
                                  const OnProgress& on_progress);

// Creates `to` with mode 0600. Errc::corrupt when the packed file is damaged, truncated, followed by other data, or
// unpacks to more than a ledger can (a thousand times its size); Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> unpack(const std::filesystem::path& from, const std::filesystem::path& to,
                                    const OnProgress& on_progress);

// Errc::corrupt unless both have the same bytes.
[[nodiscard]] Expected<void> compare_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace shapley::ledger
