#include "ledger/store/genesis.hpp"

#include "ledger/chain/chain_walk.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

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
                  .horizon = {select.integer(6)},
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
