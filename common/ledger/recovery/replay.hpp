// Folding stored events into State: the only way from the ledger to the books.
//
// An event that State refuses (Errc::conflict, ...) changed nothing when shapleyd met it, and is passed over here too;
// an audit lists such events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/file/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// What a replay remembers at most. The books remember what later events may change; a reader of a whole ledger can
// determine beforehand which events these are (Lookback).
struct ReplayPace {
  // The books forget after this many events, or as many as jobs are remembered. > 0. A run that begins before that and
  // ends after it is sent to the schedules of coalitions twice, so a small number takes longer.
  std::int64_t events_between_compactions = 20'000;
  // If an event reaches back over more events than this, the books do not remember all of them for it: they are made
  // again in the order of time, up to it.
  std::int64_t most_events_reached_back = 200'000;
};

// Options for books that remember only what the replay asks them to keep, because the replay knows the events to come.
inline constexpr accounting::StateOptions k_remembers_nothing{
    .memory_horizon = {}, .most_finished = 1, .shortest_memory_horizon = {}};
// The same with these estimators only.
[[nodiscard]] inline accounting::StateOptions remembers_nothing(const accounting::EstimatorSet& kept) {
  accounting::StateOptions options = k_remembers_nothing;
  options.left_out = kept.others();
  return options;
}

// SQL for the time that `row`, a segment's begin or end, reaches back to. The begin of a run reaches back to its
// release, but six hours at most, because an estimator reconsiders what it knows of the run since then; other events
// reach back to their own time.
[[nodiscard]] std::string reach_of_segment(const std::string& row);

// Lets the books forget what they may from before `keep` in steps of time, not all at once: the schedules of coalitions
// use memory for everything that they receive at once.
void forget_in_steps(accounting::State& books, Instant keep = k_end_of_time);

class Lookback {
 public:
  // For replays in the order of numbers, of the events after `after` up to `upto`: places are sequence numbers.
  [[nodiscard]] static Expected<Lookback> by_sequence(const Database& database, std::int64_t after, std::int64_t upto,
                                                      const ReplayPace& pace);
  // For replays of those events in the order of time: places are instants. Then only two kinds reach back: the begin of
  // a run to its release, and a retraction as far as its segment did.
  [[nodiscard]] static Expected<Lookback> by_time(const Database& database, std::int64_t after, std::int64_t upto);

  // An instant at or before everything that events at this place or later reach back to; k_end_of_time: none reaches
  // back. (by_sequence: except events that reach back too far, see above.)
  [[nodiscard]] Instant from(std::int64_t place) const;

 private:
  struct Step {
    std::int64_t last = 0;  // the last place of the step
    Instant earliest;       // that the events of this and of later steps reach back to
    Instant latest;         // of the times of the events of this and of earlier steps
  };
  void add(std::int64_t place, std::int64_t width, Instant reach, Instant at);
  void sum_up();
  void bound(std::int64_t after, const ReplayPace& pace);

  std::vector<Step> steps_;  // ascending
};

// Makes the books of a replay forget at its pace.
class Forgetting {
 public:
  Forgetting(Lookback lookback, const ReplayPace& pace)
      : lookback_(std::move(lookback)), every_(pace.events_between_compactions), due_(every_) {}

  // Call it before the event at `next` is applied. `keep`: everything from this instant on is kept, too. True: the
  // books have forgotten what they may.
  bool before(std::int64_t next, accounting::State& books, Instant keep = k_end_of_time);
  // The same, even if it is not due: questions to books that have just forgotten cost little.
  void now(std::int64_t next, accounting::State& books, Instant keep = k_end_of_time);
  [[nodiscard]] const Lookback& lookback() const { return lookback_; }

 private:
  Lookback lookback_;
  std::int64_t every_;
  std::int64_t due_;  // events until the books forget next
};

// Visits the events with after < sequence <= upto, ordered by their own time, then by sequence.
[[nodiscard]] Expected<void> visit_by_time(const Database& database, std::int64_t after, std::int64_t upto,
                                           const std::function<Expected<void>(const StoredEvent&)>& visit);

// The books that the ledger begins with: empty ones, or those after the last event of its archive (Genesis).
// Errc::corrupt when they cannot be read.
[[nodiscard]] Expected<Recovered> opening_books(const Database& database, accounting::StateOptions options);

// Applies the events after those in `books`, up to `upto`, in the order of their own times. The books remember what
// their options require, and everything from `keep` on. Errc::corrupt if an event is older than they remember.
[[nodiscard]] Expected<void> advance_by_time(const Database& database, Recovered& books, std::int64_t upto,
                                             ReplayWatch* watch = nullptr, Instant keep = k_end_of_time,
                                             const ReplayPace& pace = {});

// The books after the events up to `upto`, applied in the order of their own times. Errc::corrupt if an event is too
// old even so. They remember what the options require, and everything from `keep` on.
[[nodiscard]] Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto,
                                                 accounting::StateOptions options, ReplayWatch* watch = nullptr,
                                                 Instant keep = k_end_of_time);

// The books of all events (of those up to `upto`), in the fastest way: from the newest checkpoint that remembers back
// to everything appended after it; without one, from all events in the order of their own times. The books forget at
// this pace on the way, so memory does not grow with the number of events.
[[nodiscard]] Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options,
                                                ReplayWatch* watch = nullptr,
                                                std::optional<std::int64_t> upto = std::nullopt,
                                                const ReplayPace& pace = {});

// Books that follow the ledger in the order in which events were appended, as shapleyd does.
class Replay {
 public:
  // Begins with these books, and forgets on the way what it may.
  Replay(const Database& database, accounting::StateOptions options, Recovered from, Forgetting forgetting,
         ReplayWatch* watch = nullptr)
      : database_(&database),
        options_(options),
        forgetting_(std::move(forgetting)),
        watch_(watch),
        books_(std::move(from)) {}
  // Begins with these books, and forgets nothing.
  Replay(const Database& database, accounting::StateOptions options, Recovered from, ReplayWatch* watch = nullptr)
      : database_(&database), options_(options), watch_(watch), books_(std::move(from)) {}

  // Applies the events up to `upto`; if an event is older than the books remember, a replay by time takes over.
  [[nodiscard]] Expected<void> advance_to(std::int64_t upto);
  // The same without a replay by time: false, and the books are unusable, if an event is older than they remember.
  [[nodiscard]] Expected<bool> follow_to(std::int64_t upto);
  [[nodiscard]] Recovered& books() { return books_; }
  // Lets the books forget what they may, unless this replay forgets nothing.
  void forget() {
    if (forgetting_) forgetting_->now(books_.last_sequence + 1, books_.state);
  }

 private:
  const Database* database_;
  accounting::StateOptions options_;
  std::optional<Forgetting> forgetting_;
  ReplayWatch* watch_ = nullptr;
  Recovered books_;
};

}  // namespace shapley::ledger
