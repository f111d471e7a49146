#include "ledger/replication/chain_copy.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ledger/chain/chain_walk.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;

Expected<std::vector<ChainRow>> read_rows(const Database& database, std::int64_t after, ChainLimits limits) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY_ASSIGN(Statement hashes, database.prepare("SELECT hash FROM event_rows WHERE seq > ?1 ORDER BY seq"));
  hashes.bind(1, after);
  std::vector<ChainRow> rows;
  std::size_t bytes = 0;
  bool full = false;
  const auto add = [&](const StoredEvent& stored) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(const bool there, hashes.step());
    if (!there) return fail(Errc::corrupt, "event " + std::to_string(stored.sequence) + " has no hash");
    SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(hashes.blob(0)));
    rows.push_back({.sequence = stored.sequence,
                    .received = stored.received,
                    .kind = std::string(kind_of(stored.event)),
                    .payload = encode(stored.event),
                    .hash = hash});
    bytes += rows.back().payload.size();
    full = bytes >= limits.bytes;
    // Ends the walk; not an error that anybody sees.
    return full ? fail(Errc::limit, "enough") : Expected<void>{};
  };
  auto read = reader.visit(after, after + limits.rows, add);
  if (!read && !full) return tl::unexpected<Error>(std::move(read).error());
  return rows;
}

Expected<ChainPart> read_part(const Database& database, const Position& position, ChainLimits limits) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  SHAPLEY_TRY_ASSIGN(const auto hash, hash_of_event(database, position.sequence));
  ChainPart part{.head = {head.sequence, head.hash}, .holds = hash == position.hash, .rows = {}};
  if (!part.holds) return part;
  SHAPLEY_TRY_ASSIGN(part.rows, read_rows(database, position.sequence, limits));
  return part;
}

// Appends one row to the open transaction and moves `head` on.
Expected<Event> append_row(Writer& writer, const ChainRow& row, Head& head) {
  const auto wrong = [&](Errc code, const std::string& what) {
    return fail(code, "event " + std::to_string(row.sequence) + ": " + what);
  };
  if (row.sequence != head.sequence + 1) {
    return wrong(Errc::conflict, "does not follow the ledger's last event, " + std::to_string(head.sequence));
  }
  auto decoded = decode(row.kind, row.payload);
  if (!decoded) return wrong(Errc::corrupt, decoded.error().what);
  const std::string key = accounting::event_key(*decoded);
  const EventRow content{.sequence = row.sequence,
                         .key = key,
                         .at = time_of(*decoded).value,
                         .received = row.received.value,
                         .kind = row.kind,
                         .payload = row.payload};
  if (const std::string fault = row_fault(content, *decoded); !fault.empty()) return wrong(Errc::corrupt, fault);
  SHAPLEY_TRY_ASSIGN(const Digest hash, writer.hasher.link(head.hash, content));
  if (hash != row.hash) return wrong(Errc::corrupt, "its hash does not follow from the row before it and its content");
  SHAPLEY_TRY_ASSIGN(const bool contradiction, writer.projector.contradicts(*decoded));
  SHAPLEY_TRY_ASSIGN(const auto known, writer.store.find(*decoded));
  if (contradiction || known) return wrong(Errc::corrupt, key + " is in the chain before");
  SHAPLEY_TRY(writer.store.insert(*decoded, content, hash));
  SHAPLEY_TRY(writer.projector.project(*decoded, row.sequence));
  head = {.sequence = row.sequence, .hash = hash};
  return decoded;
}

Expected<std::vector<Event>> append_rows(const Database& database, Writer& writer, std::span<const ChainRow> rows) {
  std::vector<Event> events;
  Head head = writer.head;
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  for (const ChainRow& row : rows) {
    SHAPLEY_TRY_ASSIGN(Event event, append_row(writer, row, head));
    events.push_back(std::move(event));
  }
  SHAPLEY_TRY(transaction.commit());
  writer.head = head;
  return events;
}

// A ledger keeps its identity: a trigger sees to it, which is off for as long as this transaction lasts.
Expected<void> set_identity(const Database& database, const std::string& identity) {
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'identity_is_not_updated'"));
  SHAPLEY_TRY_ASSIGN(const bool there, select.step());
  if (!there) return fail(Errc::corrupt, "the trigger identity_is_not_updated is missing");
  const std::string trigger(select.text(0));
  select.reset();
  SHAPLEY_TRY(database.execute("DROP TRIGGER identity_is_not_updated"));
  SHAPLEY_TRY_ASSIGN(Statement update, database.prepare("UPDATE identity SET ledger = ?1"));
  SHAPLEY_TRY(update.bind(1, identity).run());
  SHAPLEY_TRY(database.execute(trigger));
  return transaction.commit();
}

}  // namespace

Expected<Position> head_of(const Ledger& ledger) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  if (impl.writer) return Position{impl.writer->head.sequence, impl.writer->head.hash};
  auto head = read_head(impl.database);
  if (!head) return impl.failed("read the last event", std::move(head).error());
  return Position{head->sequence, head->hash};
}

Expected<std::optional<Digest>> hash_at(const Ledger& ledger, std::int64_t sequence) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto hash = hash_of_event(impl.database, sequence);
  if (!hash) return impl.failed("read a hash", std::move(hash).error());
  return hash;
}

Expected<ChainPart> chain_after(const Ledger& ledger, const Position& position, ChainLimits limits,
                                QueryBudget budget) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  const StepLimit limit(impl.database, budget.steps, budget.ended);
  auto part = read_part(impl.database, position, limits);
  if (!part) return impl.failed("read the chain", std::move(part).error());
  return part;
}

Expected<std::vector<Event>> append_copied(Ledger& ledger, std::span<const ChainRow> rows) {
  Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto appended = [&]() -> Expected<std::vector<Event>> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl.to_write());
    const std::scoped_lock turn(*impl.turns);
    auto events = append_rows(impl.database, *writer, rows);
    if (!events) writer->store.rolled_back();
    return events;
  }();
  if (!appended) return impl.failed("append copied events", std::move(appended).error());
  return appended;
}

Expected<void> adopt_identity(Ledger& ledger, const std::string& identity) {
  constexpr std::size_t k_digits = 32;
  Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto adopted = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(const Writer* writer, impl.to_write());
    const std::scoped_lock turn(*impl.turns);
    if (writer->head.sequence != 0) return fail(Errc::conflict, "it has events, so it keeps its own");
    if (identity.size() != k_digits || identity.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return fail(Errc::invalid_argument, "'" + identity + "' is no identity of a ledger");
    }
    return set_identity(impl.database, identity);
  }();
  if (!adopted) return impl.failed("take over the identity", std::move(adopted).error());
  return {};
}

}  // namespace shapley::ledger
