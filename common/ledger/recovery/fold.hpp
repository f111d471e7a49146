// Folding stored events into State: the only way from the ledger to the books.
//
// An event that State refuses (Errc::conflict, ...) changed nothing when shapleyd met it, and is passed over here too;
// an audit lists such events.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/encoding/event_reader.hpp"
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
// release, but not further than an estimator believes it (k_believed), which reconsiders what it knows of the run since
// then; other events reach back to their own time.
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

// Applies an event, in the order of time. Errc::corrupt: it is older than the books remember.
[[nodiscard]] Expected<void> apply_in_order(accounting::State& state, const accounting::Event& event);

// The events of one file that are folded: those with after < number <= upto that concern `until` or earlier times.
struct EventRange {
  const Database* database = nullptr;
  std::int64_t after = 0;
  std::int64_t upto = std::numeric_limits<std::int64_t>::max();
  Instant until = k_end_of_time;
};

struct FoldOptions {
  ReplayPace pace = {};
  bool forgets = true;           // false: the books forget nothing on the way
  Instant keep = k_end_of_time;  // nothing from this instant on is forgotten
  ReplayWatch* watch = nullptr;
  std::function<bool(const accounting::Event&)> leaves_out = {};  // in the order of time: events that do not count
};

// Books that are made from events, one after the other, in the order of the events' own times or in that of their
// numbers, in which shapleyd applied them.
//
// On the way the books forget what no event to come reaches back to, at the given pace, so that memory does not grow
// with the number of events. REQUIRES: the data bases outlive the fold, stay where they are, and show it one snapshot.
class Fold {
 public:
  // By time. Of two events of equal time, the one of the earlier file or of the lower number comes first.
  [[nodiscard]] static Expected<Fold> by_time(const std::vector<EventRange>& files, Recovered from,
                                              FoldOptions how = {});
  // By number, the events after those in `from`, up to `upto` at most. `options`: of books that are made again.
  [[nodiscard]] static Expected<Fold> by_number(const Database& database, Recovered from, std::int64_t upto,
                                                accounting::StateOptions options, FoldOptions how = {});

  // By time: applies the events that concern t or earlier times. The present of the books is that of the last one.
  // Errc::corrupt: an event is older than the books remember.
  [[nodiscard]] Expected<void> advance_to(Instant t);
  // The steps of advance_to(), for a caller that does something before each event: the next event, if it concerns t or
  // an earlier time, else nullptr; valid until the next call. The books may forget before it, but do not have it yet.
  [[nodiscard]] Expected<const StoredEvent*> next(Instant t);
  [[nodiscard]] Expected<void> apply(const StoredEvent& stored);

  // By number: applies the events up to this one. If one is older than the books remember, the books are made again, in
  // the order of time, up to it.
  [[nodiscard]] Expected<void> advance_to_event(std::int64_t sequence);
  // The same without making them again: false, and the books are unusable, if an event is older than they remember.
  [[nodiscard]] Expected<bool> follow_to_event(std::int64_t sequence);

  [[nodiscard]] Recovered& books() { return books_; }
  [[nodiscard]] const Recovered& books() const { return books_; }

  // From now on, nothing from this instant on is forgotten.
  void keep(Instant from) { how_.keep = from; }
  // Lets the books forget what they may, although it is not due: questions to books that have just forgotten cost
  // little. No effect on a fold that forgets nothing.
  [[nodiscard]] Expected<void> forget();
  // Whether the books forgot before the event that next() gave last.
  [[nodiscard]] bool has_just_forgotten() const { return has_just_forgotten_; }

 private:
  struct File {
    EventRange range;
    EventReader reader;
    std::optional<Statement> order;  // by time: numbers and times of its events
    std::optional<Lookback> lookback;
    std::optional<std::int64_t> sequence;  // by time: of the next event; nullopt: no further one
    Instant at;                            // of that event

    [[nodiscard]] Expected<void> step();
  };

  Fold(Recovered from, FoldOptions how);
  [[nodiscard]] bool is_by_time() const { return !by_number_; }
  [[nodiscard]] Expected<void> count_down();
  [[nodiscard]] Expected<void> count(const StoredEvent& stored);
  [[nodiscard]] Expected<Instant> needed_from();

  std::vector<File> files_;
  std::optional<accounting::StateOptions> by_number_;  // nullopt: by time
  FoldOptions how_;
  Recovered books_;
  std::int64_t due_;  // events until the books forget next
  bool has_just_forgotten_ = false;
  StoredEvent event_;
};

// The books that the ledger begins with: empty ones, or those after the last event of its archive (Genesis).
// Errc::corrupt when they cannot be read.
[[nodiscard]] Expected<Recovered> opening_books(const Database& database, accounting::StateOptions options);

// The books after the events up to `upto`, applied in the order of their own times. Errc::corrupt if an event is too
// old even so. They remember what the options require, and everything from `keep` on.
[[nodiscard]] Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto,
                                                 accounting::StateOptions options, ReplayWatch* watch = nullptr,
                                                 Instant keep = k_end_of_time);

// The books of all events (of those up to `upto`), in the fastest way: from the newest checkpoint that remembers back
// to everything appended after it; without one, from all events, by number and, if one is too old, by time.
[[nodiscard]] Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options,
                                                ReplayWatch* watch = nullptr,
                                                std::optional<std::int64_t> upto = std::nullopt,
                                                const ReplayPace& pace = {});

}  // namespace shapley::ledger
