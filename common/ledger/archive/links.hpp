// From a ledger to the archive that it begins after, and on to the one before that.
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

// What a ledger says of the archive before it.
struct ArchiveLink {
  std::string name;           // of the file, without its directory
  Instant begin;              // of the first period in it
  Instant until;              // end of the last one
  std::int64_t sequence = 0;  // of its last event
  std::string hash;           // of that event, hexadecimal
};
// nullopt: the ledger begins with event 1. `next`: what the file after this one said of it, so that files which name
// each other come to an end: Errc::corrupt unless what is before it ends earlier.
[[nodiscard]] Expected<std::optional<ArchiveLink>> archive_before(
    const Ledger& ledger, const std::optional<ArchiveLink>& next = std::nullopt);

// "ledger.2026-10.db.xz (2026-10-01T00:00:00Z to 2026-11-01T00:00:00Z, up to event 4711 with hash ...)"
[[nodiscard]] std::string described(const ArchiveLink& link);

// Where the archive of that name is: in `directory`, as it was made or unpacked by hand (without ".xz"). nullopt: it is
// not there.
[[nodiscard]] std::optional<std::filesystem::path> find_archive(const std::filesystem::path& directory,
                                                                const std::string& name);

// Where the archives of this file are by default: the directory `archives` beside it, or its own if it is in that of
// archives itself.
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
  std::shared_ptr<const Unpacked> unpacked_;  // null: it was not packed. Outlives the ledger
  Ledger ledger_;
};

// The archive that `ledger` begins after, by `link`, which is what the ledger says of it. Errc::not_found: it is not in
// the directory. Errc::corrupt: it cannot be unpacked, or a file of its name is of another ledger, or does not end with
// the event that `ledger` goes on from, by number and hash. The rest of it is what audit_link() is for.
[[nodiscard]] Expected<OpenedFile> open_archive(const Ledger& ledger, const ArchiveLink& link,
                                                const std::filesystem::path& directory);

// That `archive` is the one that `ledger` says it begins after: identity, last event, number of events, every copied
// event, and the books after its last event. Findings ("archive") go to the report. False: its last event is not the
// one that the ledger goes on from.
[[nodiscard]] Expected<bool> audit_link(const Ledger& ledger, const Ledger& archive, AuditReport& report);

// A file compressed by xz, as archives are kept: `xz -d` reads them.
//
// With SHA-256 over the content, so that any byte that changed is found when the file is unpacked.

// Whether its first bytes are those of an xz file. False, too, for a file that cannot be read.
[[nodiscard]] bool is_packed(const std::filesystem::path& file);

// Creates `to` with mode 0440, whole and synced. Errc::conflict when it exists, Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> pack(const std::filesystem::path& from, const std::filesystem::path& to,
                                  const OnProgress& on_progress);

// Creates `to` with mode 0600. Errc::corrupt when the packed file is damaged, cut short, followed by something, or
// unpacks to more than a ledger can (a thousand times its size); Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> unpack(const std::filesystem::path& from, const std::filesystem::path& to,
                                    const OnProgress& on_progress);

// Errc::corrupt unless both have the same bytes.
[[nodiscard]] Expected<void> compare_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace shapley::ledger
