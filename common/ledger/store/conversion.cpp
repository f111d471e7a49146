#include "ledger/store/conversion.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/chain/chain_walk.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/event_store.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

tl::unexpected<Error> damaged(std::int64_t sequence, const std::string& what) {
  return fail(Errc::corrupt, "event " + std::to_string(sequence) + ": " + what +
                                 "; nothing was changed; shapleyctl audit of the release that wrote the ledger says "
                                 "what else is damaged");
}

// Checks one row of the old table against its place in the chain and its own payload.
Expected<accounting::Event> checked(const EventRow& row, const Statement& stored, const Head& previous,
                                    const Digest& hash) {
  const bool follows = row.sequence == previous.sequence + 1 && std::ranges::equal(stored_hash_of(stored), hash);
  if (!follows) return damaged(row.sequence, "its hash does not follow from the row before it and its content");
  auto event = decode(row.kind, row.payload);
  if (!event) return damaged(row.sequence, event.error().what);
  if (const std::string fault = row_fault(row, *event); !fault.empty()) return damaged(row.sequence, fault);
  return event;
}

// The head of the chain that was taken over.
Expected<Head> copy_events(const Database& database, std::int64_t all, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(EventStore store, EventStore::create(database));
  Projector projector(database, "main");
  SHAPLEY_TRY(projector.clear());
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT " + std::string(k_event_columns) +
                                                        " FROM events_of_schema_4 ORDER BY seq"));
  Head head;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return head;
    const EventRow row = event_row_of(select);
    SHAPLEY_TRY_ASSIGN(const Digest hash, hasher.link(head.hash, row));
    SHAPLEY_TRY_ASSIGN(const accounting::Event event, checked(row, select, head, hash));
    SHAPLEY_TRY(store.insert(event, row, hash));
    SHAPLEY_TRY(projector.project(event, row.sequence));
    head = {.sequence = row.sequence, .hash = hash};
    if (head.sequence % k_events_between_calls == 0) tell(on_progress, {"events taken over", head.sequence, all});
  }
}

// That the hash of every event follows from what is stored now, and that the last one is that of before, says that no
// byte of any event changed.
Expected<void> read_back(const Database& database, const Head& head, const OnProgress& on_progress) {
  Link last;
  SHAPLEY_TRY(walk_chain(database, 0, Digest{}, [&](const Link& link) -> Expected<void> {
    last = link;
    if (!link.fits || link.sequence != link.place) {
      return fail(Errc::corrupt, "event " + std::to_string(link.sequence) +
                                     " does not read back as it was; nothing was changed; report it");
    }
    if (link.place % k_events_between_calls == 0) tell(on_progress, {"events read back", link.place, head.sequence});
    return {};
  }));
  if (last.place == head.sequence && (head.sequence == 0 || last.computed == head.hash)) return {};
  return fail(Errc::corrupt, std::to_string(last.place) + " of " + std::to_string(head.sequence) +
                                 " events read back; nothing was changed; report it");
}

}  // namespace

Expected<void> take_over_events(const Database& database, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t waiting,
                     database.integer("SELECT COUNT(*) FROM sqlite_master WHERE name = 'events_of_schema_4'"));
  if (waiting == 0) return {};
  SHAPLEY_TRY_ASSIGN(const std::int64_t all, database.integer("SELECT COALESCE(MAX(seq), 0) FROM events_of_schema_4"));
  // Without events, as where only a past schema is made, the tables may be too old to be written to.
  if (all > 0) {
    SHAPLEY_TRY_ASSIGN(const Head head, copy_events(database, all, on_progress));
    SHAPLEY_TRY(read_back(database, head, on_progress));
  }
  return database.execute("DROP TABLE events_of_schema_4");
}

}  // namespace shapley::ledger
