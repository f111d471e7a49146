// The books of past instants, one after the other, as they are known today.
//
// At each instant the events count that speak of it or of earlier times, whenever they were recorded; a run that was
// retracted later counts for nothing. So the past reads the same whenever it is asked for. The events of the ledger,
// and of as many archives as are needed, are in memory, from the begin of the oldest of these files on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/name_index.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_adjustments.hpp"
#include "ledger/readers/past_files.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Whose a job is.
struct Submitter {
  std::uint32_t account = 0;  // of PastBooks::accounts()
  std::uint32_t user_id = 0;
};

class PastBooks {
 public:
  // What will be asked: instants in [since, until].
  struct Asked {
    std::filesystem::path ledger;         // the file that is open
    std::filesystem::path archives = {};  // where its archives are; empty: near it
    Instant since;
    Instant until;
    accounting::EstimatorSet by = accounting::EstimatorSet::all();  // with what was given by these
  };
  // Errc::not_found names an archive that is needed and is not there; Errc::invalid_argument says when the books begin
  // if that is after `until`.
  [[nodiscard]] static Expected<PastBooks> read(const Ledger& ledger, const Asked& asked);

  // Moves the books' present to t. REQUIRES: asked.since <= t <= asked.until, and t no earlier than last time.
  // Errc::corrupt: the books refuse an event in the order of time.
  [[nodiscard]] Expected<void> advance_to(Instant t);
  [[nodiscard]] accounting::State& state() { return state_; }
  [[nodiscard]] Instant begin() const { return begin_; }  // of the books, at asked.until at the latest
  [[nodiscard]] accounting::State take_state() && { return std::move(state_); }

  // The last submission of the job before `start`, as far as it was described; else nobody (account "", user 0).
  [[nodiscard]] Submitter submitter_of(JobId job, Instant start) const;
  [[nodiscard]] const NameIndex& accounts() const { return accounts_; }
  // All that the files tell of, by number, whenever they were made.
  [[nodiscard]] const std::vector<PastAdjustment>& adjustments() const { return adjustments_; }

 private:
  PastBooks() = default;
  void describe(const accounting::JobDescribed& job);

  accounting::State state_;
  Instant begin_;
  std::vector<accounting::Event> events_;  // in the order of time
  std::size_t next_ = 0;
  NameIndex accounts_;
  std::vector<PastAdjustment> adjustments_;
  std::map<std::pair<JobId, Instant>, Submitter> submitters_;  // by job and time of submission
};

}  // namespace shapley::ledger
