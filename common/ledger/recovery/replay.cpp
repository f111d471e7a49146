#include "ledger/recovery/replay.hpp"

#include <algorithm>
#include <utility>

#include "ledger/store/event_reader.hpp"

namespace shapley::ledger {

using accounting::Applied;

Expected<void> visit_by_time(const Database& database, std::int64_t upto,
                             const std::function<Expected<void>(const StoredEvent&)>& visit) {
  // Sorting sequence numbers and looking each event up costs far less room than sorting events.
  SHAPLEY_TRY_ASSIGN(Statement order, database.prepare("SELECT seq FROM event_rows WHERE seq <= ?1 ORDER BY at, seq"));
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  order.bind(1, upto);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, order.step());
    if (!row) return {};
    SHAPLEY_TRY(reader.visit(order.integer(0) - 1, order.integer(0), visit));
  }
}

Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto, accounting::StateOptions options) {
  Recovered books{.state = accounting::State(options)};
  SHAPLEY_TRY(visit_by_time(database, upto, [&](const StoredEvent& stored) -> Expected<void> {
    const auto applied = books.state.apply(stored.event);
    if (applied && *applied == Applied::needs_replay) {
      return fail(Errc::corrupt, "event " + std::to_string(stored.sequence) +
                                     " is older than the books although they are replayed in order of time");
    }
    books.last_sequence = std::max(books.last_sequence, stored.sequence);
    ++books.replayed;
    return {};
  }));
  books.state.compact();
  return books;
}

Expected<void> Replay::advance_to(std::int64_t upto) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(*database_));
  // Ends the walk; not an error that anybody sees.
  bool too_late = false;
  auto walked = reader.visit(books_.last_sequence, upto, [&](const StoredEvent& stored) -> Expected<void> {
    const auto applied = books_.state.apply(stored.event);
    if (applied && *applied == Applied::needs_replay) {
      too_late = true;
      return fail(Errc::unavailable, "replay");
    }
    books_.last_sequence = stored.sequence;
    ++books_.replayed;
    return {};
  });
  if (!too_late) return walked;
  SHAPLEY_TRY_ASSIGN(books_, replay_by_time(*database_, upto, options_));
  return {};
}

}  // namespace shapley::ledger
