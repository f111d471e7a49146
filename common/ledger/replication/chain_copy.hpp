// Rows of the chain, from a ledger into another one that holds the same rows before them.
//
// What travels is what the hashes are computed over (hash_chain.hpp), or what that follows from: number, time of
// receipt, kind, payload. So the copy's hashes are computed anew and must be those of the original: a copied chain is
// the same chain, to the byte, and a row that was changed on the way is refused.
#pragma once

#include <cstddef>
#include <cstdint>
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

// A place in a chain. Two chains that have one in common are the same up to it. {0, zeros}: before the first event.
struct Position {
  std::int64_t sequence = 0;
  Digest hash{};
  friend bool operator==(const Position&, const Position&) = default;
};

struct ChainRow {
  std::int64_t sequence = 0;
  Instant received;
  std::string kind;
  std::string payload;
  Digest hash{};
  friend bool operator==(const ChainRow&, const ChainRow&) = default;
};

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

}  // namespace shapley::ledger
