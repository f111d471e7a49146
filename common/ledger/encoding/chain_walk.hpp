// Reading rows of events from the file, and following their hash chain without decoding the events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

// The columns that a statement must select for the next two functions. The row's texts last until its next step.
inline constexpr std::string_view k_event_columns = "seq, key, at, received, kind, payload, hash";
[[nodiscard]] EventRow event_row_of(const Statement& row);
[[nodiscard]] std::span<const unsigned char> stored_hash_of(const Statement& row);

// The columns of a row that differ from its event; empty if none does.
[[nodiscard]] std::string row_fault(const EventRow& row, const accounting::Event& event);

struct Link {
  std::int64_t sequence = 0;  // the row's number
  std::int64_t place = 0;     // the number at its position: after + 1, after + 2, ...
  Digest computed{};          // from the content of this row and of those before
  bool fits = false;          // whether the row's own hash is the same
};

// Visits the events after number `after`, whose hash is `previous`, in order. The hash stored in a row does not affect
// what is computed for later ones.
[[nodiscard]] Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                                        const std::function<Expected<void>(const Link&)>& visit);

// Walks over the whole rest of the chain: Errc::corrupt names the first event after `after` that does not fit.
[[nodiscard]] Expected<void> check_chain(const Database& database, std::int64_t after, const Digest& previous);

// What a ledger begins with, if its older events were moved to an archive (sql/001_ledger.sql, archive/archive.hpp).

// The newest row of the chain.
using Head = Position;

// The position before the ledger's first own event: {0, zeros}, or the last event of its archive (Genesis). For any
// schema.
[[nodiscard]] Expected<Head> chain_begin(const Database& database);

// The newest row, for any schema; chain_begin() when the ledger has no row.
[[nodiscard]] Expected<Head> read_head(const Database& database);
// The hash of the event row `sequence`; zeros for 0; nullopt when there is no such row.
[[nodiscard]] Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence);

struct Genesis {
  std::int64_t sequence = 0;  // of the archive's last event
  Digest hash{};              // of that event: the first event of this ledger follows it
  std::int64_t events = 0;    // the number of the archive's own events
  std::string archive;        // name of its file
  Instant begin;              // of the first period in it
  Instant until;              // end of the last one
  Instant memory_horizon;     // the opening books cannot be corrected before this
  std::string books;          // the opening books: State::save()
  Digest books_hash{};        // Hasher::checkpoint(hash, until, books)
  std::int64_t copies = 0;    // number of the archive's events that are copied here because later ones refer to them
  Digest copies_hash{};       // a hash chain over them, which begins with zeros
};

// nullopt: the ledger begins with event 1, as one of a schema without archives does. Errc::corrupt.
[[nodiscard]] Expected<std::optional<Genesis>> read_genesis(const Database& database);

// Before this instant the books cannot be corrected any more (Genesis::memory_horizon); nullopt: there is no such
// instant. Reads little.
[[nodiscard]] Expected<std::optional<Instant>> archived_before(const Database& database);

// Of the rows up to `sequence`, in their order.
struct Copies {
  std::int64_t count = 0;
  Digest hash{};
};
[[nodiscard]] Expected<Copies> copies_up_to(const Database& database, std::int64_t sequence);

// Checks the opening books and the copies against those that the ledger began with. Errc::corrupt names a difference.
[[nodiscard]] Expected<void> check_genesis(const Database& database, const Genesis& genesis);

}  // namespace shapley::ledger
