#include "ledger/recovery/replay.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/recovery/checkpoint.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

using accounting::Applied;

namespace {

// One more event is done; an error when somebody wants the replay to end.
Expected<void> count_event(ReplayWatch* watch) {
  if (watch == nullptr) return {};
  watch->done.fetch_add(1, std::memory_order_relaxed);
  return watch->stop ? fail(Errc::unavailable, "the replay was ended") : Expected<void>{};
}

void begin_watch(ReplayWatch* watch, std::int64_t total) {
  if (watch == nullptr) return;
  watch->done = 0;
  watch->total = total;
}

}  // namespace

Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence) {
  if (sequence == 0) return Digest{};
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT hash FROM event_rows WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, sequence).step());
  if (!row) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(0)));
  return hash;
}

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

Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto, accounting::StateOptions options,
                                   ReplayWatch* watch) {
  begin_watch(watch, upto);
  Recovered books{.state = accounting::State(options)};
  SHAPLEY_TRY(visit_by_time(database, upto, [&](const StoredEvent& stored) -> Expected<void> {
    const auto applied = books.state.apply(stored.event);
    if (applied && *applied == Applied::needs_replay) {
      return fail(Errc::corrupt, "event " + std::to_string(stored.sequence) +
                                     " is older than the books although they are replayed in order of time");
    }
    books.last_sequence = std::max(books.last_sequence, stored.sequence);
    ++books.replayed;
    return count_event(watch);
  }));
  books.state.compact();
  return books;
}

Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options, ReplayWatch* watch,
                                  std::optional<std::int64_t> upto) {
  // All reading from one snapshot, however long it takes, while shapleyd writes on.
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  const std::int64_t last = std::min(upto.value_or(head.sequence), head.sequence);
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT sequence FROM checkpoints WHERE sequence <= ?1 ORDER BY sequence DESC"));
  select.bind(1, last);
  bool too_late = false;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    SHAPLEY_TRY_ASSIGN(auto checkpoint, read_checkpoint(database, select.integer(0), options,
                                                        watch == nullptr ? nullptr : &watch->stop));
    if (!checkpoint) continue;
    begin_watch(watch, last - checkpoint->last_sequence);
    Replay replay(database, options, *std::move(checkpoint), watch);
    SHAPLEY_TRY_ASSIGN(const bool complete, replay.follow_to(last));
    if (complete) return std::move(replay.books());
    too_late = true;
  }
  if (too_late) return replay_by_time(database, last, options, watch);
  // Nothing was ever forgotten, so nothing can be too old.
  begin_watch(watch, last);
  Replay replay(database, options, {.state = accounting::State(options)}, watch);
  SHAPLEY_TRY(replay.advance_to(last));
  return std::move(replay.books());
}

Expected<bool> Replay::follow_to(std::int64_t upto) {
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
    return count_event(watch_);
  });
  if (too_late) return false;
  SHAPLEY_TRY(std::move(walked));
  return true;
}

Expected<void> Replay::advance_to(std::int64_t upto) {
  SHAPLEY_TRY_ASSIGN(const bool complete, follow_to(upto));
  if (complete) return {};
  SHAPLEY_TRY_ASSIGN(books_, replay_by_time(*database_, upto, options_, watch_));
  return {};
}

}  // namespace shapley::ledger
