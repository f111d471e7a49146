// What a ledger begins with, if its older events were moved to an archive (sql/007_archives.sql, archive/archive.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

struct Genesis {
  std::int64_t sequence = 0;  // of the archive's last event
  Digest hash{};              // of that event: the first event of this ledger hangs on it
  std::int64_t events = 0;    // the archive's own
  std::string archive;        // name of its file
  Instant begin;              // of the first period in it
  Instant until;              // end of the last one
  Instant horizon;            // the opening books cannot be corrected before this
  std::string books;          // the opening books: State::save()
  Digest books_hash{};        // Hasher::checkpoint(hash, until, books)
  std::int64_t copies = 0;    // events of the archive that are here, too: those that later ones refer to
  Digest copies_hash{};       // a hash chain over them, which begins with zeros
};

// nullopt: the ledger begins with event 1; so does one of a schema without archives. Errc::corrupt.
[[nodiscard]] Expected<std::optional<Genesis>> read_genesis(const Database& database);

// Before this instant the books cannot be corrected any more (Genesis::horizon); nullopt: there is no such instant.
// Reads little.
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
