// One stretch of a ledger's events as a ledger of its own: what an archive holds, and what stays when it was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

struct Part {
  std::optional<Genesis> genesis;  // what it begins with; nullopt: with event 1. Its copies are counted by write_part()
  std::int64_t last = 0;           // its last event
  Digest hash{};                   // of that
  bool has_checkpoints = false;    // an archive needs none
};

// Writes the events after `part.genesis` up to `part.last` into the empty file `to`, with copies of those earlier ones
// that they refer to: declarations, and all that is known of segments which were not over at the genesis' horizon.
// Projections and the daily books of these events are there, too. The file is synced. Errc::io, Errc::no_space.
// REQUIRES: `from` is a ledger of the present schema; it has the events.
[[nodiscard]] Expected<void> write_part(const std::filesystem::path& from, const std::filesystem::path& to, Part& part,
                                        const OnProgress& on_progress);

// Reads the file again: every page, every hash, an audit of it alone, and that it is this very part of this very
// ledger. Errc::corrupt says what is not.
[[nodiscard]] Expected<void> check_part(const std::filesystem::path& from, const std::filesystem::path& to,
                                        const Part& part, const OnProgress& on_progress);

// Takes over from `from` once more what is no event and changed since write_part(): signed heads, daily books,
// checkpoints. REQUIRES: `to` has all events up to `part.last`.
[[nodiscard]] Expected<void> renew_details(const std::filesystem::path& from, const std::filesystem::path& to,
                                           const Part& part);

}  // namespace shapley::ledger
