// Rows of the chain, from a ledger into another one that holds the same rows before them; and two ledgers that parted:
// the same up to one event, then each with events of its own. That happens when a controller began before it had all
// that the other one had recorded.
//
// What travels is what the hashes are computed over (hash_chain.hpp), or what that follows from: number, time of
// receipt, kind, payload. So the copy's hashes are computed again and must be those of the original: a copied chain is
// the same chain, to the byte, and a row that was changed on the way is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct ChainRow {
  std::int64_t sequence = 0;
  Instant received;
  std::string kind;
  std::string payload;
  Digest hash{};
  friend bool operator==(const ChainRow&, const ChainRow&) = default;
};
constexpr auto description_of(std::type_identity<ChainRow>) {
  return describe(member("sequence", &ChainRow::sequence), member("received", &ChainRow::received),
                  member("kind", &ChainRow::kind), member("payload", &ChainRow::payload),
                  member("hash", &ChainRow::hash));
}

// As much as is read at once: that many rows, and no further row once their payloads have so many bytes.
struct ChainLimits {
  std::int64_t rows = 2000;
  std::size_t bytes = 2U << 20U;
};

struct ChainPart {
  Position head;               // of the whole chain
  bool holds = false;          // whether the position asked for is in the chain
  std::vector<ChainRow> rows;  // those after it, if it is
};
constexpr auto description_of(std::type_identity<ChainPart>) {
  return describe(member("head", &ChainPart::head), member("holds", &ChainPart::holds),
                  member("rows", &ChainPart::rows));
}

// The position after which nothing comes.
[[nodiscard]] Expected<Position> head_of(const Ledger& ledger);
// nullopt: the chain is shorter.
[[nodiscard]] Expected<std::optional<Digest>> hash_at(const Ledger& ledger, std::int64_t sequence);

// From one snapshot. Errc::limit beyond the budget's steps.
[[nodiscard]] Expected<ChainPart> chain_after(const Ledger& ledger, const Position& position, ChainLimits limits = {},
                                              QueryBudget budget = {});

// One transaction; the events of the rows, in order. Errors, of which nothing is stored: Errc::conflict when the rows
// do not follow the ledger's last, Errc::corrupt when one is not as a program writes it, or its hash does not follow.
[[nodiscard]] Expected<std::vector<accounting::Event>> append_copied(Ledger& ledger, std::span<const ChainRow> rows);

// Signed heads name a ledger by its identity, and a copy is the same ledger. Errc::conflict unless the ledger has no
// event yet. Errc::invalid_argument: no identity.
[[nodiscard]] Expected<void> adopt_identity(Ledger& ledger, const std::string& identity);

// What became of the events that one of two has for itself: the other one has learned most of them from Slurm's
// own records.
struct Parted {
  std::int64_t common = 0;     // the last event that both have
  std::int64_t events = 0;     // of its own; beginnings of controllers apart
  std::int64_t absent = 0;     // facts that the other ledger does not have
  std::int64_t different = 0;  // facts that it has with another content
  friend bool operator==(const Parted&, const Parted&) = default;
};
constexpr auto description_of(std::type_identity<Parted>) {
  return describe(member("common", &Parted::common), member("events", &Parted::events),
                  member("absent", &Parted::absent), member("different", &Parted::different));
}

// The events of `aside` that are not in the chain of `present`, looked up there.
[[nodiscard]] Expected<Parted> compare_parted(const Ledger& aside, const Ledger& present);

// Gives the ledger another name, LEDGER.superseded-TIME, which is returned; nothing is left under its own.
// Errc::conflict while a process writes it or reads it, or if that name is taken.
[[nodiscard]] Expected<std::filesystem::path> set_aside(const std::filesystem::path& ledger, Instant now);

}  // namespace shapley::ledger
