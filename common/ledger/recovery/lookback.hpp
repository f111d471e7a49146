// How far back the rest of a ledger speaks, so that books which are replayed need not remember more.
//
// The books remember what later events may change. Who reads a whole ledger can know beforehand what these events are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

// What a replay remembers at most.
struct ReplayPace {
  // So many events are applied, or as many as jobs are remembered, before the books forget what they may. > 0. A run
  // that begins before that and ends after it is told to the schedules of coalitions twice, so few events take longer.
  std::int64_t events_between_compactions = 20'000;
  // Where an event reaches back over more events than that, the books do not remember all of them for its sake: they
  // are made again in the order of time, up to it.
  std::int64_t most_events_reached_back = 200'000;
};

// Books that remember only what they are told to keep: for replays that know what is to come.
inline constexpr accounting::StateOptions k_remembers_nothing{
    .horizon = {}, .most_finished = 1, .shortest_horizon = {}};
// The same of these estimators alone.
[[nodiscard]] inline accounting::StateOptions remembers_nothing(const accounting::EstimatorSet& kept) {
  accounting::StateOptions options = k_remembers_nothing;
  options.left_out = kept.others();
  return options;
}

// SQL: what `row`, of a segment's begin or end, reaches back to: the begin of a run to its release, for an estimator
// decides again what it knows of the run since then, but for six hours at most; others to their own time.
[[nodiscard]] std::string reach_of_segment(const std::string& row);

// Lets the books forget what they may from before `keep`, some time of it after the other, not all at once: the
// schedules of coalitions take memory for all that they learn at once.
void forget_in_steps(accounting::State& books, Instant keep = k_end_of_time);

class Lookback {
 public:
  // For replays in the order of numbers, of the events after `after` up to `upto`: places are sequence numbers.
  [[nodiscard]] static Expected<Lookback> by_sequence(const Database& database, std::int64_t after, std::int64_t upto,
                                                      const ReplayPace& pace);
  // For replays of those events in the order of time: places are instants. Only two reach back then: the begin
  // of a run to its release, and a retraction as far as its segment did.
  [[nodiscard]] static Expected<Lookback> by_time(const Database& database, std::int64_t after, std::int64_t upto);

  // An instant not after any that events at this place or later reach back to; k_end_of_time: none reaches back. (Of
  // by_sequence: but for events that reach back too far, see above.)
  [[nodiscard]] Instant from(std::int64_t place) const;

 private:
  struct Step {
    std::int64_t last = 0;  // the last place that it stands for
    Instant earliest;       // that the events of this and of later steps reach back to
    Instant latest;         // of the times of the events of this and of earlier steps
  };
  void add(std::int64_t place, std::int64_t width, Instant reach, Instant at);
  void sum_up();
  void bound(std::int64_t after, const ReplayPace& pace);

  std::vector<Step> steps_;  // ascending
};

// Lets the books of a replay forget at its pace.
class Forgetting {
 public:
  Forgetting(Lookback lookback, const ReplayPace& pace)
      : lookback_(std::move(lookback)), every_(pace.events_between_compactions), due_(every_) {}

  // To be called before the event at `next` is applied. `keep`: what is from this instant on is kept, too. True: the
  // books have forgotten what they may.
  bool before(std::int64_t next, accounting::State& books, Instant keep = k_end_of_time);
  // The same, whether that is due or not: what is asked of books that have just forgotten costs little.
  void now(std::int64_t next, accounting::State& books, Instant keep = k_end_of_time);
  [[nodiscard]] const Lookback& lookback() const { return lookback_; }

 private:
  Lookback lookback_;
  std::int64_t every_;
  std::int64_t due_;  // after so many events
};

}  // namespace shapley::ledger
