// Rows of events read from the file, and going along their hash chain without taking the events apart.
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

// What a statement selects whose rows the next two take apart. The row's texts last until the statement's next step.
inline constexpr std::string_view k_event_columns = "seq, key, at, received, kind, payload, hash";
[[nodiscard]] EventRow event_row_of(const Statement& row);
[[nodiscard]] std::span<const unsigned char> stored_hash_of(const Statement& row);

// What of a row's columns is not what its event says; empty if nothing is.
[[nodiscard]] std::string row_fault(const EventRow& row, const accounting::Event& event);

struct Link {
  std::int64_t sequence = 0;  // as the row says
  std::int64_t place = 0;     // where it stands: after + 1, after + 2, ...
  Digest computed{};          // from the content of this row and of those before
  bool fits = false;          // the row's own hash is the same
};

// Visits the events after number `after`, whose hash is `previous`, in order. The hash that a row stores has no say in
// what is computed for later ones.
[[nodiscard]] Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                                        const std::function<Expected<void>(const Link&)>& visit);

// All of it, or its end: Errc::corrupt names the first event after `after` that does not fit.
[[nodiscard]] Expected<void> check_chain(const Database& database, std::int64_t after, const Digest& previous);

// What a ledger begins with, if its older events were moved to an archive (sql/001_ledger.sql, archive/archive.hpp).

// The newest row of the chain.
using Head = Position;

// What the first event of the ledger's own follows: {0, zeros}, or the last event of its archive (Genesis). Of any
// schema.
[[nodiscard]] Expected<Head> chain_begin(const Database& database);

// The newest row, of any schema; chain_begin() when the ledger has no row.
[[nodiscard]] Expected<Head> read_head(const Database& database);

struct Genesis {
  std::int64_t sequence = 0;  // of the archive's last event
  Digest hash{};              // of that event: the first event of this ledger follows it
  std::int64_t events = 0;    // the archive's own
  std::string archive;        // name of its file
  Instant begin;              // of the first period in it
  Instant until;              // end of the last one
  Instant memory_horizon;     // the opening books cannot be corrected before this
  std::string books;          // the opening books: State::save()
  Digest books_hash{};        // Hasher::checkpoint(hash, until, books)
  std::int64_t copies = 0;    // events of the archive that are here, too: those that later ones refer to
  Digest copies_hash{};       // a hash chain over them, which begins with zeros
};

// nullopt: the ledger begins with event 1; so does one of a schema without archives. Errc::corrupt.
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

// That the opening books and the copies are those that the ledger began with. Errc::corrupt says what is not.
[[nodiscard]] Expected<void> check_genesis(const Database& database, const Genesis& genesis);

}  // namespace shapley::ledger
