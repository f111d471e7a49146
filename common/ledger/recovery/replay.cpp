#include "ledger/recovery/replay.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/recovery/checkpoint.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/genesis.hpp"
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

// For a replay of the events after `after` up to `last`: what it forgets on the way is what no later event speaks of,
// so nothing is too old, as a rule.
Expected<Forgetting> forgetting_between(const Database& database, std::int64_t after, std::int64_t last,
                                        const ReplayPace& pace) {
  if (last - after < pace.events_between_compactions) return Forgetting({}, pace);  // it would not come to that
  SHAPLEY_TRY_ASSIGN(Lookback lookback, Lookback::by_sequence(database, after, last, pace));
  return Forgetting(std::move(lookback), pace);
}

}  // namespace

Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  if (sequence == begin.sequence) return begin.hash;
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT hash FROM event_rows WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, sequence).step());
  if (!row) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(0)));
  return hash;
}

Expected<void> visit_by_time(const Database& database, std::int64_t after, std::int64_t upto,
                             const std::function<Expected<void>(const StoredEvent&)>& visit) {
  // Sorting sequence numbers and looking each event up costs far less room than sorting events.
  SHAPLEY_TRY_ASSIGN(Statement order,
                     database.prepare("SELECT seq FROM event_rows WHERE seq > ?1 AND seq <= ?2 ORDER BY at, seq"));
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  order.bind(1, after).bind(2, upto);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, order.step());
    if (!row) return {};
    SHAPLEY_TRY(reader.visit(order.integer(0) - 1, order.integer(0), visit));
  }
}

Expected<Recovered> opening_books(const Database& database, accounting::StateOptions options) {
  SHAPLEY_TRY_ASSIGN(const std::optional<Genesis> genesis, read_genesis(database));
  if (!genesis) return Recovered{.state = accounting::State(options)};
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(const Digest expected, hasher.checkpoint(genesis->hash, genesis->until.value, genesis->books));
  if (expected != genesis->books_hash) {
    return fail(Errc::corrupt, "the books that the ledger begins with are not those that it was made with");
  }
  auto state = accounting::State::load(genesis->books, options);
  if (!state) return with_context("the books that the ledger begins with", std::move(state).error());
  return Recovered{.state = *std::move(state), .last_sequence = genesis->sequence};
}

Expected<void> advance_by_time(const Database& database, Recovered& books, std::int64_t upto, ReplayWatch* watch,
                               Instant keep, const ReplayPace& pace) {
  const std::int64_t after = books.last_sequence;
  SHAPLEY_TRY_ASSIGN(Lookback lookback, Lookback::by_time(database, after, upto));
  Forgetting forgetting(std::move(lookback), pace);
  return visit_by_time(database, after, upto, [&](const StoredEvent& stored) -> Expected<void> {
    const Instant t = time_of(stored.event);
    // Books that begin after an archive know a present already that the first events may not have reached.
    forgetting.before(t.value, books.state, std::min(keep, t));
    const auto applied = books.state.apply(stored.event);
    if (applied && *applied == Applied::needs_replay) {
      return fail(Errc::corrupt, "event " + std::to_string(stored.sequence) +
                                     " is older than the books although they are replayed in order of time");
    }
    books.last_sequence = std::max(books.last_sequence, stored.sequence);
    ++books.replayed;
    return count_event(watch);
  });
}

Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto, accounting::StateOptions options,
                                   ReplayWatch* watch, Instant keep) {
  SHAPLEY_TRY_ASSIGN(Recovered books, opening_books(database, options));
  begin_watch(watch, upto - books.last_sequence);
  SHAPLEY_TRY(advance_by_time(database, books, upto, watch, keep));
  books.state.compact(keep);
  return books;
}

Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options, ReplayWatch* watch,
                                  std::optional<std::int64_t> upto, const ReplayPace& pace) {
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
    SHAPLEY_TRY_ASSIGN(Forgetting forgetting, forgetting_between(database, checkpoint->last_sequence, last, pace));
    Replay replay(database, options, *std::move(checkpoint), std::move(forgetting), watch);
    SHAPLEY_TRY_ASSIGN(const bool complete, replay.follow_to(last));
    if (complete) return std::move(replay.books());
    too_late = true;
  }
  if (too_late) return replay_by_time(database, last, options, watch);
  SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database, options));
  begin_watch(watch, last - opening.last_sequence);
  SHAPLEY_TRY_ASSIGN(Forgetting forgetting, forgetting_between(database, opening.last_sequence, last, pace));
  Replay replay(database, options, std::move(opening), std::move(forgetting), watch);
  SHAPLEY_TRY(replay.advance_to(last));
  return std::move(replay.books());
}

Expected<bool> Replay::follow_to(std::int64_t upto) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(*database_));
  // Ends the walk; not an error that anybody sees.
  bool too_late = false;
  auto walked = reader.visit(books_.last_sequence, upto, [&](const StoredEvent& stored) -> Expected<void> {
    if (forgetting_) forgetting_->before(stored.sequence, books_.state);
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
  const Instant keep = forgetting_ ? forgetting_->lookback().from(upto + 1) : k_end_of_time;
  SHAPLEY_TRY_ASSIGN(books_, replay_by_time(*database_, upto, options_, watch_, keep));
  return {};
}

}  // namespace shapley::ledger
