// The books of past instants, one after the other, as they are known today.
//
// At each instant the events count that speak of it or of earlier times, whenever they were recorded; a run that was
// retracted later counts for nothing. So the past reads the same whenever it is asked for. The events of the ledger,
// and of as many archives as are needed, are read from the begin of the oldest of these files on, one after the other:
// what is remembered follows what is open, and what ran since the last instant that was asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/name_index.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_adjustments.hpp"
#include "ledger/readers/past_events.hpp"
#include "ledger/readers/past_files.hpp"
#include "ledger/readers/submitters.hpp"
#include "ledger/recovery/lookback.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

class PastBooks {
 public:
  // What will be asked: instants in [since, until].
  struct Asked {
    std::filesystem::path ledger;         // the file that is open
    std::filesystem::path archives = {};  // where its archives are; empty: near it
    Instant since;
    Instant until;
    accounting::EstimatorSet by = accounting::EstimatorSet::all();  // with what was given by these
    ReplayPace pace = {};
  };
  // Errc::not_found names an archive that is needed and is not there; Errc::invalid_argument says when the books begin
  // if that is after `until`. REQUIRES: the ledger outlives the books and stays where it is.
  [[nodiscard]] static Expected<PastBooks> read(const Ledger& ledger, const Asked& asked);

  // Moves the books' present to t. They remember what ran since the instant that they were moved to before. REQUIRES:
  // asked.since <= t <= asked.until, and t no earlier than last time. Errc::corrupt: the books refuse an event in the
  // order of time.
  [[nodiscard]] Expected<void> advance_to(Instant t);
  [[nodiscard]] accounting::State& state() { return state_; }
  [[nodiscard]] Instant begin() const { return begin_; }  // of the books, at asked.until at the latest
  // What ran before the instant that the books were moved to last is forgotten. What is asked of books that have just
  // forgotten costs little.
  void forget();
  [[nodiscard]] accounting::State take_state() && { return std::move(state_); }

  // The last submission of the job before `start`, as far as it was described; else nobody (account "", user 0).
  [[nodiscard]] Expected<Submitter> submitter_of(JobId job, Instant start) { return submitters_.of(job, start); }
  [[nodiscard]] const NameIndex& accounts() const { return submitters_.accounts(); }
  // All that the files tell of, by number, whenever they were made.
  [[nodiscard]] const std::vector<PastAdjustment>& adjustments() const { return events_.adjustments(); }

 private:
  PastBooks(std::unique_ptr<PastFiles> files, PastEvents events, Submitters submitters, accounting::State state,
            Instant begin, const ReplayPace& pace)
      : files_(std::move(files)),
        events_(std::move(events)),
        submitters_(std::move(submitters)),
        state_(std::move(state)),
        pace_(pace),
        begin_(begin),
        due_(pace.events_between_compactions) {}

  void forget_before(Instant t);

  std::unique_ptr<PastFiles> files_;  // outlives what reads them
  PastEvents events_;
  Submitters submitters_;
  accounting::State state_;
  ReplayPace pace_;
  Instant begin_;
  std::int64_t due_;                     // after so many events the books forget
  Instant needed_from_ = k_end_of_time;  // what ran since then may be asked for; k_end_of_time: nothing may
};

}  // namespace shapley::ledger
