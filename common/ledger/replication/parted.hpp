// Two ledgers that parted: the same up to one event, then each with events of its own. That happens when a controller
// began before it had all that the other one had recorded.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// What became of the events that one of them has for itself: Slurm's own records told the other one of most of them.
struct Parted {
  std::int64_t events = 0;     // beginnings of controllers apart
  std::int64_t absent = 0;     // facts that the other ledger does not have
  std::int64_t different = 0;  // facts that it has with another content
  friend bool operator==(const Parted&, const Parted&) = default;
};

// The events of `aside` after `common`, looked up in `present`.
[[nodiscard]] Expected<Parted> compare_parted(const Ledger& aside, std::int64_t common, const Ledger& present);

// Gives the ledger another name, LEDGER.superseded-TIME, which is returned; nothing is left under its own.
// Errc::conflict while somebody writes it or reads it, or if that name is taken.
[[nodiscard]] Expected<std::filesystem::path> set_aside(const std::filesystem::path& ledger, Instant now);

}  // namespace shapley::ledger
