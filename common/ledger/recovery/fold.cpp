#include "ledger/recovery/fold.hpp"

#include <algorithm>
#include <string_view>

#include "accounting/estimators/request_facts.hpp"
#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_store.hpp"
#include "ledger/recovery/checkpoint.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

using accounting::Applied;

namespace {

constexpr std::int64_t k_sequences_in_a_step = 10'000;
constexpr std::int64_t k_seconds_in_a_step = 3600;

// SQL for the time that an event row reaches back to: for a retraction as far as its segment did, for others as above.
// Events after ?2 have no effect, so that what is forgotten, and when, follows from the events up to it alone.
std::string reach() {
  return "CASE WHEN e.kind < :retracted THEN " + reach_of_segment("e") +
         " ELSE MIN(e.at, e.anchor, COALESCE("
         "(SELECT " +
         reach_of_segment("o") +
         " FROM main.segment_events s JOIN main.event_rows o ON o.seq = s.opened WHERE s.job = e.job AND "
         "s.anchor = e.anchor AND s.kind = e.kind - :retracted AND s.ordinal = e.ordinal AND o.seq <= ?2), e.at)) END";
}

}  // namespace

std::string reach_of_segment(const std::string& row) {
  const std::string at = row + ".at";
  const std::string believed = std::to_string(accounting::k_believed.value);
  return "MIN(" + at + ", COALESCE(MAX(" + row + ".released, " + at + " - " + believed + "), " + at + "))";
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
      database.prepare(with_kinds("SELECT e.seq, e.at, " + reach() +
                                  " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND e.kind <> :described "
                                  "ORDER BY e.seq")));
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
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare(with_kinds("SELECT e.at, " + reach() +
                                                 " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND "
                                                 "(e.kind >= :retracted OR e.released < e.at) ORDER BY e.at")));
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

Expected<void> apply_in_order(accounting::State& state, const accounting::Event& event) {
  const auto applied = state.apply(event);
  if (!applied || *applied != Applied::needs_replay) return {};
  return fail(Errc::corrupt, accounting::event_key(event) +
                                 " is older than the books remember, although it is applied in the order of time");
}

Fold::Fold(Recovered from, FoldOptions how)
    : how_(std::move(how)), books_(std::move(from)), due_(how_.pace.events_between_compactions) {}

Expected<Fold> Fold::by_time(const std::vector<EventRange>& files, Recovered from, FoldOptions how) {
  Fold fold(std::move(from), std::move(how));
  for (const EventRange& range : files) {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(*range.database));
    // Sorting numbers and looking each event up needs far less space than sorting events.
    SHAPLEY_TRY_ASSIGN(Statement order,
                       range.database->prepare("SELECT seq, at FROM main.event_rows WHERE seq > ?1 AND seq <= ?2 AND "
                                               "at <= ?3 ORDER BY at, seq"));
    order.bind(1, range.after).bind(2, range.upto).bind(3, range.until.value);
    fold.files_.push_back({range, std::move(reader), std::move(order), std::nullopt, std::nullopt, {}});
    SHAPLEY_TRY(fold.files_.back().step());
  }
  return fold;
}

Expected<Fold> Fold::by_number(const Database& database, Recovered from, std::int64_t upto,
                               accounting::StateOptions options, FoldOptions how) {
  Fold fold(std::move(from), std::move(how));
  fold.by_number_ = options;
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  const EventRange range{.database = &database, .after = fold.books_.last_sequence, .upto = upto};
  fold.files_.push_back({range, std::move(reader), std::nullopt, std::nullopt, std::nullopt, {}});
  return fold;
}

Expected<void> Fold::File::step() {
  SHAPLEY_TRY_ASSIGN(const bool row, order->step());
  sequence = row ? std::optional(order->integer(0)) : std::nullopt;
  if (row) at = {order->integer(1)};
  return {};
}

// What the events to come reach back to. By time, nothing from the next event on is forgotten either: books that begin
// after an archive have a present already that the first events may not have reached.
Expected<Instant> Fold::needed_from() {
  Instant from = how_.keep;
  for (File& file : files_) {
    if (is_by_time() && !file.sequence) continue;
    const auto& [database, after, upto, until] = file.range;
    if (!file.lookback) {
      SHAPLEY_TRY_ASSIGN(file.lookback, is_by_time() ? Lookback::by_time(*database, after, upto)
                                                     : Lookback::by_sequence(*database, after, upto, how_.pace));
    }
    const std::int64_t place = is_by_time() ? file.at.value : books_.last_sequence + 1;
    from = std::min(from, file.lookback->from(place));
    if (is_by_time()) from = std::min(from, file.at);
  }
  return from;
}

Expected<void> Fold::forget() {
  if (!how_.forgets) return {};
  SHAPLEY_TRY_ASSIGN(const Instant from, needed_from());
  forget_in_steps(books_.state, from);
  due_ = std::max(how_.pace.events_between_compactions, static_cast<std::int64_t>(books_.state.remembered_jobs()));
  has_just_forgotten_ = true;
  return {};
}

// Call it for each event, before the event is taken.
Expected<void> Fold::count_down() {
  return --due_ > 0 ? Expected<void>{} : forget();
}

Expected<const StoredEvent*> Fold::next(Instant t) {
  SHAPLEY_REQUIRE(is_by_time());
  has_just_forgotten_ = false;
  while (true) {
    File* first = nullptr;
    for (File& file : files_) {
      if (file.sequence && (first == nullptr || file.at < first->at)) first = &file;
    }
    if (first == nullptr || first->at > t) return nullptr;
    SHAPLEY_TRY(count_down());
    SHAPLEY_TRY_ASSIGN(event_, first->reader.read(*first->sequence));
    SHAPLEY_TRY(first->step());
    if (!how_.leaves_out || !how_.leaves_out(event_.event)) return &event_;
  }
}

Expected<void> Fold::apply(const StoredEvent& stored) {
  SHAPLEY_TRY(apply_in_order(books_.state, stored.event));
  return count(stored);
}

// The event is in the books, or was refused.
Expected<void> Fold::count(const StoredEvent& stored) {
  books_.last_sequence = std::max(books_.last_sequence, stored.sequence);
  ++books_.replayed;
  if (how_.watch == nullptr) return {};
  how_.watch->done.fetch_add(1, std::memory_order_relaxed);
  return how_.watch->stop ? fail(Errc::unavailable, "the replay was ended") : Expected<void>{};
}

Expected<void> Fold::advance_to(Instant t) {
  while (true) {
    SHAPLEY_TRY_ASSIGN(const StoredEvent* stored, next(t));
    if (stored == nullptr) return {};
    SHAPLEY_TRY(apply(*stored));
  }
}

Expected<bool> Fold::follow_to_event(std::int64_t sequence) {
  SHAPLEY_REQUIRE(!is_by_time() && sequence <= files_.front().range.upto);
  // Ends the walk; the error does not leave this function.
  bool too_late = false;
  auto walked =
      files_.front().reader.visit(books_.last_sequence, sequence, [&](const StoredEvent& stored) -> Expected<void> {
        SHAPLEY_TRY(count_down());
        const auto applied = books_.state.apply(stored.event);
        if (applied && *applied == Applied::needs_replay) {
          too_late = true;
          return fail(Errc::unavailable, "replay");
        }
        return count(stored);
      });
  if (too_late) return false;
  SHAPLEY_TRY(std::move(walked));
  return true;
}

Expected<void> Fold::advance_to_event(std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(const bool complete, follow_to_event(sequence));
  if (complete) return {};
  books_.last_sequence = sequence;
  SHAPLEY_TRY_ASSIGN(const Instant keep, needed_from());
  SHAPLEY_TRY_ASSIGN(books_, replay_by_time(*files_.front().range.database, sequence, *by_number_, how_.watch, keep));
  return {};
}

namespace {

void begin_watch(ReplayWatch* watch, std::int64_t total) {
  if (watch == nullptr) return;
  watch->done = 0;
  watch->total = total;
}

}  // namespace

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

Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto, accounting::StateOptions options,
                                   ReplayWatch* watch, Instant keep) {
  SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database, options));
  const EventRange events{.database = &database, .after = opening.last_sequence, .upto = upto};
  begin_watch(watch, upto - opening.last_sequence);
  SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_time({events}, std::move(opening), {.keep = keep, .watch = watch}));
  SHAPLEY_TRY(fold.advance_to(k_end_of_time));
  fold.books().state.compact(keep);
  return std::move(fold.books());
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
  const FoldOptions how{.pace = pace, .watch = watch};
  bool too_late = false;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    SHAPLEY_TRY_ASSIGN(auto checkpoint, read_checkpoint(database, select.integer(0), options,
                                                        watch == nullptr ? nullptr : &watch->stop));
    if (!checkpoint) continue;
    begin_watch(watch, last - checkpoint->last_sequence);
    SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_number(database, *std::move(checkpoint), last, options, how));
    SHAPLEY_TRY_ASSIGN(const bool complete, fold.follow_to_event(last));
    if (complete) return std::move(fold.books());
    too_late = true;
  }
  if (too_late) return replay_by_time(database, last, options, watch);
  SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database, options));
  begin_watch(watch, last - opening.last_sequence);
  SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_number(database, std::move(opening), last, options, how));
  SHAPLEY_TRY(fold.advance_to_event(last));
  return std::move(fold.books());
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

}  // namespace shapley::ledger
