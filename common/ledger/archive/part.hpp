// A range of a ledger's events as a ledger of its own: the content of an archive, or of the file that stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/fold.hpp"

namespace shapley::ledger {

struct LedgerPart {
  std::optional<Genesis> genesis;  // what it begins with; nullopt: with event 1. write_part() counts its copies
  std::int64_t last = 0;           // its last event
  Digest hash{};                   // of its last event
  bool has_checkpoints = false;    // an archive needs none
};

// Writes the events after `part.genesis` up to `part.last` into the empty file `to`, with copies of those earlier ones
// that they refer to: declarations, and all that is known of segments which were not over at the genesis' horizon.
// Projections and the daily books of these events are there, too. The file is synced. Errc::io, Errc::no_space.
// REQUIRES: `from` is a ledger of the present schema; it has the events.
[[nodiscard]] Expected<void> write_part(const std::filesystem::path& from, const std::filesystem::path& to,
                                        LedgerPart& part, const OnProgress& on_progress);

// Reads the file again: checks every page and every hash, audits it alone, and checks that it is this part of this
// ledger. Errc::corrupt names the difference.
[[nodiscard]] Expected<void> check_part(const std::filesystem::path& from, const std::filesystem::path& to,
                                        const LedgerPart& part, const OnProgress& on_progress);

// The events after which a ledger is cut into archives: those at the end of each closed period except the last one.

// The name of an archive of `ledger` whose last period ends at `until`: LEDGER.YYYY-MM.db.xz, by the month in which it
// ends.
[[nodiscard]] std::string archive_name(const std::filesystem::path& ledger, Instant until);

struct Cuts {
  std::vector<Genesis> made;  // ascending; copies are not counted yet
  int uncut = 0;              // closed periods after these, except the last one, that stay
};
// What the ledger would begin with if everything up to the end of each closed period except the last were archived. An
// archive has all events received before its end; if there are none, because the period was imported later, it has the
// events up to the first one that concerns its end or a later instant. A period into which later events reach back by
// more than two weeks, or without any event, is archived together with the next one. REQUIRES: no process writes.
[[nodiscard]] Expected<Cuts> plan_cuts(const Database& database, const std::filesystem::path& ledger,
                                       const OnProgress& on_progress);

struct BooksAtCut {
  std::string text;
  Instant memory_horizon;  // what ended before is forgotten
};
// The books after the events up to `sequence`, with which the next file begins. They are computed from those of the cut
// `from` (nullptr: those that the ledger begins with), and remember back to `horizon`, or to their present if that is
// earlier. The same events give the same text, however often the books forget on the way.
[[nodiscard]] Expected<BooksAtCut> books_at_cut(const Database& database, const Genesis* from, std::int64_t sequence,
                                                Instant memory_horizon, const ReplayPace& pace = {});

}  // namespace shapley::ledger
