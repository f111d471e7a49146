// Rows of the chain, copied from a ledger into another one that has the same rows before them; and ledgers that parted:
// two that are equal up to one event and have different events after it. That happens when a controller began before it
// had everything that the other one had recorded.
//
// The data transferred for each row are those that its hash is computed from (hash_chain.hpp): number, time of receipt,
// kind, payload. So the copy's hashes are computed again and must equal those of the original: a copied chain is the
// same chain, to the byte, and a row that was changed on the way is refused.
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
SHAPLEY_DESCRIBE(ChainRow, sequence, received, kind, payload, hash);

// Bounds of one reading: so many rows, and no further row once their payloads have so many bytes.
struct ChainLimits {
  std::int64_t rows = 2000;
  std::size_t bytes = 2U << 20U;
};

struct ChainPart {
  Position head;               // of the whole chain
  bool holds = false;          // whether the position asked for is in the chain
  std::vector<ChainRow> rows;  // the rows after that position, if it is in the chain
};
SHAPLEY_DESCRIBE(ChainPart, head, holds, rows);

// The position of the last event.
[[nodiscard]] Expected<Position> head_of(const Ledger& ledger);
// nullopt: the chain is shorter.
[[nodiscard]] Expected<std::optional<Digest>> hash_at(const Ledger& ledger, std::int64_t sequence);

// The rows after `position`, from one snapshot. Errc::limit beyond the budget's steps.
[[nodiscard]] Expected<ChainPart> chain_after(const Ledger& ledger, const Position& position, ChainLimits limits = {},
                                              QueryBudget budget = {});

// Appends the rows in one transaction and returns their events, in order. Errors, after which nothing is stored:
// Errc::conflict when the rows do not follow the ledger's last one, Errc::corrupt when a row is not in the form that a
// program writes, or its hash does not follow.
[[nodiscard]] Expected<std::vector<accounting::Event>> append_copied(Ledger& ledger, std::span<const ChainRow> rows);

// Gives the ledger the identity that signed heads name, because a copy is the same ledger. Errc::conflict unless the
// ledger has no event yet. Errc::invalid_argument: no identity.
[[nodiscard]] Expected<void> adopt_identity(Ledger& ledger, const std::string& identity);

// The events that only one of two ledgers has: the other ledger has most of these facts from Slurm's own records.
struct Parted {
  std::int64_t common = 0;     // the last event that both have
  std::int64_t events = 0;     // its own events, without beginnings of controllers
  std::int64_t absent = 0;     // facts that the other ledger does not have
  std::int64_t different = 0;  // facts that it has with another content
  friend bool operator==(const Parted&, const Parted&) = default;
};
SHAPLEY_DESCRIBE(Parted, common, events, absent, different);

// Compares the events of `aside` that are not in the chain of `present` with those of `present`.
[[nodiscard]] Expected<Parted> compare_parted(const Ledger& aside, const Ledger& present);

// Renames the ledger to LEDGER.superseded-TIME, which is returned; no file is left under its own name. Errc::conflict
// while a process writes it or reads it, or if that name is taken.
[[nodiscard]] Expected<std::filesystem::path> set_aside(const std::filesystem::path& ledger, Instant now);

}  // namespace shapley::ledger
