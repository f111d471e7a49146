// The events of the past in the order of time, one after the other, so that however many there are only one is in
// memory; and what has to be known before the first of them is applied.
//
// At each instant those events count that speak of it or of earlier times, whenever they were recorded, but none of a
// segment that was retracted at any time. Adjustments are not among them either: they are applied before all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_adjustments.hpp"
#include "ledger/recovery/lookback.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

class PastEvents {
 public:
  // Of the events that speak of `until` or of earlier times. REQUIRES: the files follow each other (PastFiles), outlive
  // it and stay where they are. They are read as they are now.
  [[nodiscard]] static Expected<PastEvents> open(const std::vector<const Ledger*>& files, Instant until);

  // The next event, if its time is not after t; nullptr: there is none. Valid until the next call.
  [[nodiscard]] Expected<const accounting::Event*> next_until(Instant t);

  // An instant not after any that the events to come reach back to; k_end_of_time: none reaches back.
  [[nodiscard]] Instant reached_back() const;

  // The first time by which an event of the files begins books (accounting::begin_by), however late; k_end_of_time:
  // none.
  [[nodiscard]] Instant begin() const { return begin_; }
  // All that the files retract, whenever that was.
  [[nodiscard]] const std::set<accounting::SegmentKey>& retracted() const { return retracted_; }
  // All that they tell of, by number.
  [[nodiscard]] const std::vector<PastAdjustment>& adjustments() const { return adjustments_; }

 private:
  // Of one file: its own events are those after `after`.
  struct File {
    std::int64_t after;
    Transaction snapshot;  // outlives what reads from it
    Statement order;       // numbers and times of the events, by time
    EventReader reader;
    Lookback lookback;
    std::optional<std::int64_t> sequence;  // of the next event; none: there are no more
    Instant at;                            // of the next event

    [[nodiscard]] Expected<void> step();
  };

  [[nodiscard]] Expected<void> add(const Ledger& ledger, Instant until);
  [[nodiscard]] Expected<void> note_begin(const Database& database, std::int64_t after);
  [[nodiscard]] Expected<void> note_retractions(const Database& database, std::int64_t after);
  [[nodiscard]] Expected<void> note_adjustments(const Database& database, File& file);

  std::vector<File> files_;  // the oldest first
  Instant begin_ = k_end_of_time;
  std::set<accounting::SegmentKey> retracted_;
  AdjustmentReader noting_;
  std::int64_t last_fact_ = 0;  // of the last adjustment so far: its number
  std::vector<PastAdjustment> adjustments_;
  accounting::Event event_;
};

}  // namespace shapley::ledger
