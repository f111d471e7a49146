#include "ledger/encoding/chain_walk.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ledger/encoding/event_json.hpp"

namespace shapley::ledger {

EventRow event_row_of(const Statement& row) {
  return {.sequence = row.integer(0),
          .key = row.text(1),
          .at = row.integer(2),
          .received = row.integer(3),
          .kind = row.text(4),
          .payload = row.text(5)};
}

std::span<const unsigned char> stored_hash_of(const Statement& row) {
  return row.blob(6);
}

std::string row_fault(const EventRow& row, const accounting::Event& event) {
  if (encode(event) != row.payload) return "its payload is not written as the program writes it";
  if (accounting::event_key(event) != row.key) return fmt::format("its key '{}' is not that of its payload", row.key);
  if (time_of(event).value != row.at) return "its time is not that of its payload";
  return {};
}

Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                          const std::function<Expected<void>(const Link&)>& visit) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT " + std::string(k_event_columns) +
                                                        " FROM events WHERE seq > ?1 ORDER BY seq"));
  select.bind(1, after);
  Link link{.sequence = after, .place = after, .computed = previous, .fits = true};
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return {};
    const EventRow row = event_row_of(select);
    SHAPLEY_TRY_ASSIGN(link.computed, hasher.link(link.computed, row));
    link.sequence = row.sequence;
    ++link.place;
    link.fits = std::ranges::equal(stored_hash_of(select), link.computed);
    SHAPLEY_TRY(visit(link));
  }
}

Expected<void> check_chain(const Database& database, std::int64_t after, const Digest& previous) {
  return walk_chain(database, after, previous, [](const Link& link) -> Expected<void> {
    if (link.fits && link.sequence == link.place) return {};
    return fail(Errc::corrupt, fmt::format("event {}: its hash does not follow from the row before it and its content",
                                           link.sequence));
  });
}

namespace {

Expected<bool> knows_archives(const Database& database) {
  SHAPLEY_TRY_ASSIGN(
      const std::int64_t tables,
      database.integer("SELECT COUNT(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'genesis'"));
  return tables > 0;
}

}  // namespace

Expected<Head> chain_begin(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const bool known, knows_archives(database));
  if (!known) return Head{};
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT sequence, hash FROM main.genesis"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row) return Head{};
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(1)));
  return Head{.sequence = select.integer(0), .hash = hash};
}

Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  if (sequence == begin.sequence) return begin.hash;
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT hash FROM event_rows WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, sequence).step());
  if (!row) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(0)));
  return hash;
}

Expected<Head> read_head(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  if (!row || select.integer(0) <= begin.sequence) return begin;
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(1)));
  return Head{.sequence = select.integer(0), .hash = hash};
}

Expected<std::optional<Genesis>> read_genesis(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const bool known, knows_archives(database));
  if (!known) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT sequence, hash, events, archive, begin, until, horizon, books, "
                                      "books_hash, copies, copies_hash FROM main.genesis"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row) return std::nullopt;
  Genesis genesis{.sequence = select.integer(0),
                  .events = select.integer(2),
                  .archive = std::string(select.text(3)),
                  .begin = {select.integer(4)},
                  .until = {select.integer(5)},
                  .memory_horizon = {select.integer(6)},
                  .books = std::string(select.text(7)),
                  .copies = select.integer(9)};
  SHAPLEY_TRY_ASSIGN(genesis.hash, digest_from(select.blob(1)));
  SHAPLEY_TRY_ASSIGN(genesis.books_hash, digest_from(select.blob(8)));
  SHAPLEY_TRY_ASSIGN(genesis.copies_hash, digest_from(select.blob(10)));
  SHAPLEY_TRY_ASSIGN(const bool another, select.step());
  if (another) return fail(Errc::corrupt, "its table genesis has several rows");
  return genesis;
}

Expected<std::optional<Instant>> archived_before(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const bool known, knows_archives(database));
  if (!known) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT horizon FROM main.genesis"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  return row ? std::optional(Instant{select.integer(0)}) : std::nullopt;
}

Expected<Copies> copies_up_to(const Database& database, std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT " + std::string(k_event_columns) +
                                                        " FROM main.events WHERE seq <= ?1 ORDER BY seq"));
  select.bind(1, sequence);
  Copies copies;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return copies;
    SHAPLEY_TRY_ASSIGN(copies.hash, hasher.link(copies.hash, event_row_of(select)));
    ++copies.count;
  }
}

Expected<void> check_genesis(const Database& database, const Genesis& genesis) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(const Digest books, hasher.checkpoint(genesis.hash, genesis.until.value, genesis.books));
  if (books != genesis.books_hash) {
    return fail(Errc::corrupt, "the books that it begins with are not those that it was made with");
  }
  SHAPLEY_TRY_ASSIGN(const Copies copies, copies_up_to(database, genesis.sequence));
  if (copies.count == genesis.copies && copies.hash == genesis.copies_hash) return {};
  return fail(Errc::corrupt, "its copies of archived events are not those that it was made with");
}

}  // namespace shapley::ledger
