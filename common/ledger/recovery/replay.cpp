#include "ledger/recovery/replay.hpp"

#include <algorithm>

#include "base/calendar.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/recovery/checkpoint.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

using accounting::Applied;

namespace {

// Counts one more event; an error once the watch's `stop` is set.
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

// For a replay of the events after `after` up to `last`: it forgets on the way only what no later event concerns, so
// nothing is too old, as a rule.
Expected<Forgetting> forgetting_between(const Database& database, std::int64_t after, std::int64_t last,
                                        const ReplayPace& pace) {
  if (last - after < pace.events_between_compactions) return Forgetting({}, pace);  // forgetting would never be due
  SHAPLEY_TRY_ASSIGN(Lookback lookback, Lookback::by_sequence(database, after, last, pace));
  return Forgetting(std::move(lookback), pace);
}

}  // namespace

Expected<void> visit_by_time(const Database& database, std::int64_t after, std::int64_t upto,
                             const std::function<Expected<void>(const StoredEvent&)>& visit) {
  // Sorting sequence numbers and looking each event up needs far less space than sorting events.
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
    // Books that begin after an archive have a present already that the first events may not have reached.
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
  // All reads come from one snapshot, however long they take, while shapleyd writes on.
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
  // Ends the walk; the error does not leave this function.
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

// The part of Ledger that uses State: checkpoints, recovery, and the projection that needs State.

Expected<Recovered> Ledger::recover(const accounting::StateOptions& options, ReplayWatch* watch) const {
  return rows().run("recover", [&](const Database& database) {
    const StepLimit stop(database, 0, watch == nullptr ? nullptr : &watch->stop);
    return recover_books(database, options, watch);
  });
}

Expected<Recovered> Ledger::recover_from_scratch(accounting::StateOptions options) const {
  return rows().run("recover from scratch", [&](const Database& database) -> Expected<Recovered> {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
    return replay_by_time(database, head.sequence, options);
  });
}

Expected<Recovered> Ledger::opening(const accounting::StateOptions& options) const {
  return rows().run("read what it begins with", opening_books, options);
}

Expected<void> Ledger::save_checkpoint(const accounting::State& state, std::int64_t sequence, Instant at,
                                       const std::atomic<bool>* stop) {
  return rows().run("save checkpoint", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY(to_append());
    CheckpointWriting how;
    how.stop = stop;
    return write_checkpoint(database, *turns(), state, sequence, at, how);
  });
}

Expected<void> Ledger::record_standings(Instant day, const accounting::State& state,
                                        std::span<const accounting::Standing> standings,
                                        const accounting::EstimatorSet& by) {
  return rows().run("record standings", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, to_append());
    const DayOfStandings recorded{day_begin(day), writer->head().sequence, by};
    return writer->in_transaction([&] { return write_standings(database, "main", recorded, state, standings); });
  });
}

Expected<void> Ledger::rebuild_projections() {
  return rows().run("rebuild projections", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, to_append());
    return writer->in_transaction([&]() -> Expected<void> {
      Projector& projector = writer->projector();
      SHAPLEY_TRY(projector.clear());
      SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
      SHAPLEY_TRY(reader.visit(0, writer->head().sequence,
                               [&](const StoredEvent& e) { return projector.project(e.event, e.sequence); }));
      return rebuild_standings(database, "main");
    });
  });
}

namespace {

constexpr std::int64_t k_sequences_in_a_step = 10'000;
constexpr std::int64_t k_seconds_in_a_step = 3600;

// SQL for the time that an event row reaches back to: for a retraction as far as its segment did, for others as above.
// Events after ?2 have no effect, so that what is forgotten, and when, follows from the events up to it alone.
std::string reach() {
  return "CASE WHEN e.kind < 6 THEN " + reach_of_segment("e") +
         " ELSE MIN(e.at, e.anchor, COALESCE("
         "(SELECT " +
         reach_of_segment("o") +
         " FROM main.segment_events s JOIN main.event_rows o ON o.seq = s.opened WHERE s.job = e.job AND "
         "s.anchor = e.anchor AND s.kind = e.kind - 6 AND s.ordinal = e.ordinal AND o.seq <= ?2), e.at)) END";
}

}  // namespace

std::string reach_of_segment(const std::string& row) {
  const std::string at = row + ".at";
  return "MIN(" + at + ", COALESCE(MAX(" + row + ".released, " + at + " - 21600), " + at + "))";
}

void Lookback::add(std::int64_t place, std::int64_t width, Instant reach, Instant at) {
  if (steps_.empty() || steps_.back().last / width != place / width) {
    steps_.push_back({.last = place, .earliest = reach, .latest = at});
    return;
  }
  Step& step = steps_.back();
  step.last = place;
  step.earliest = std::min(step.earliest, reach);
  step.latest = std::max(step.latest, at);
}

void Lookback::sum_up() {
  for (std::size_t i = 1; i < steps_.size(); ++i) steps_[i].latest = std::max(steps_[i].latest, steps_[i - 1].latest);
  for (std::size_t i = steps_.size(); i-- > 1;) {
    steps_[i - 1].earliest = std::min(steps_[i - 1].earliest, steps_[i].earliest);
  }
}

// Before step i, the books would remember everything since the first step whose times reach steps_[i].earliest.
void Lookback::bound(std::int64_t after, const ReplayPace& pace) {
  const Duration usual = accounting::StateOptions{}.memory_horizon;
  std::size_t first = 0;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    while (first < i && steps_[first].latest < steps_[i].earliest) ++first;
    const std::int64_t behind = steps_[i - 1].last - (first == 0 ? after : steps_[first - 1].last);
    if (behind > pace.most_events_reached_back) {
      steps_[i].earliest = std::max(steps_[i].earliest, steps_[i - 1].latest - usual);
    }
  }
}

Expected<Lookback> Lookback::by_sequence(const Database& database, std::int64_t after, std::int64_t upto,
                                         const ReplayPace& pace) {
  // The books accept the description of a job of any age.
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare("SELECT e.seq, e.at, " + reach() +
                       " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND e.kind <> 1 ORDER BY e.seq"));
  select.bind(1, after).bind(2, upto);
  Lookback lookback;
  const std::int64_t width = std::min(k_sequences_in_a_step, pace.events_between_compactions);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    lookback.add(select.integer(0), width, {select.integer(2)}, {select.integer(1)});
  }
  lookback.sum_up();
  lookback.bound(after, pace);
  return lookback;
}

Expected<Lookback> Lookback::by_time(const Database& database, std::int64_t after, std::int64_t upto) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT e.at, " + reach() +
                                                        " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND "
                                                        "(e.kind >= 6 OR e.released < e.at) ORDER BY e.at"));
  select.bind(1, after).bind(2, upto);
  Lookback lookback;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    lookback.add(select.integer(0), k_seconds_in_a_step, {select.integer(1)}, {select.integer(0)});
  }
  lookback.sum_up();
  return lookback;
}

Instant Lookback::from(std::int64_t place) const {
  const auto step =
      std::lower_bound(steps_.begin(), steps_.end(), place, [](const Step& s, std::int64_t p) { return s.last < p; });
  return step == steps_.end() ? k_end_of_time : step->earliest;
}

bool Forgetting::before(std::int64_t next, accounting::State& books, Instant keep) {
  if (--due_ > 0) return false;
  now(next, books, keep);
  return true;
}

void forget_in_steps(accounting::State& books, Instant keep) {
  constexpr std::int64_t k_shortest_s = 4 * 3600;
  constexpr std::int64_t k_most_steps = 64;
  if (const Instant until = std::min(keep, books.now()); books.memory_horizon() != k_beginning_of_time) {
    const Duration step{std::max(k_shortest_s, (until - books.memory_horizon()).value / k_most_steps)};
    for (Instant before = k_beginning_of_time;
         books.memory_horizon() != before && books.memory_horizon() < until - step;) {
      before = books.memory_horizon();
      books.compact(before + step);
    }
  }
  books.compact(keep);
}

void Forgetting::now(std::int64_t next, accounting::State& books, Instant keep) {
  forget_in_steps(books, std::min(lookback_.from(next), keep));
  due_ = std::max(every_, static_cast<std::int64_t>(books.remembered_jobs()));
}

}  // namespace shapley::ledger
