// The last event that was acknowledged, kept outside of the ledger's file and log in LEDGER.acknowledged.
//
// SQLite ends its log at the first frame whose sum is wrong and reports no error. So a ledger that one damaged bit cut
// short, or that a copy replaced, looks like one that never had more events. A start compares it with this file.
//
// shapleyd writes the file after each commit, so its event is never newer than the ledger of a sound disk. A file that
// is missing or malformed proves nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/description.hpp"
#include "base/error.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct Acknowledged {
  std::string ledger;         // Ledger::identity()
  std::int64_t sequence = 0;  // of the event
  // Of the event, hexadecimal; empty: the ledger was restored from a copy that ends with this event, and which events
  // came after it is not known.
  std::string hash;
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};
SHAPLEY_DESCRIBE(Acknowledged, ledger, sequence, hash);

[[nodiscard]] std::filesystem::path acknowledged_file(const std::filesystem::path& ledger);

[[nodiscard]] std::optional<Acknowledged> read_acknowledged(const std::filesystem::path& ledger);
// Overwrites the file's bytes in place: a killed process leaves the old value or the new one. Not synced: that would
// double the time of a commit (sync_file). Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> write_acknowledged(const std::filesystem::path& ledger, const Acknowledged& last);

// The same beside a copy, in COPY.carried: there only if no process wrote the ledger while it was copied, so that a
// ledger that moves lacks nothing at its new place. nullopt: removes the file. Errc::io, Errc::no_space.
[[nodiscard]] std::filesystem::path carried_file(const std::filesystem::path& copy);
[[nodiscard]] std::optional<Acknowledged> read_carried(const std::filesystem::path& copy);
[[nodiscard]] Expected<void> write_carried(const std::filesystem::path& copy, const std::optional<Acknowledged>& last);

// The last event of the ledger.
[[nodiscard]] Expected<Acknowledged> last_of(const Ledger& ledger);

// Whether the ledger has the acknowledged event, in an archive, too. REQUIRES: it is of this ledger.
[[nodiscard]] Expected<bool> holds(const Ledger& ledger, const Acknowledged& last);

// What is missing, in words: "it ends with event 852, but event 3012 was acknowledged".
[[nodiscard]] std::string loss_in_words(const Acknowledged& last, std::int64_t end);

}  // namespace shapley::ledger
