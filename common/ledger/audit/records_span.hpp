// Of what time a ledger and Slurm's records tell: what lies beyond either horizon cannot be compared. Pure.
#pragma once

#include <optional>

#include "base/types.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/ledger_runs.hpp"
#include "ledger/audit/recorded_runs.hpp"
#include "ledger/audit/slurm_records.hpp"

namespace shapley::ledger {

// So many seconds may pass before what slurmctld does is in the ledger, or in slurmdbd: what is missing on one side and
// is younger than that at its end may have been on the way.
inline constexpr Duration k_on_the_way{10};

// Where the ledger begins and ends: what lies outside cannot be in it.
struct LedgerSpan {
  Instant first_received;
  Instant last_received;
};

// What the records are said to tell of, and how much of it they do by themselves: what lies outside cannot be in them.
class RecordsSpan {
 public:
  RecordsSpan(const SlurmRecords& records, const ComparedInterval& asked);

  // Of a run that no record is about: whether it ended before the records begin, and whether it was unknown to them
  // when they were made. Where no interval was asked they begin with the first recorded end, and were made not before
  // the last recorded time.
  [[nodiscard]] bool is_before(const LedgerRun& run) const;
  [[nodiscard]] bool is_after(const LedgerRun& run) const;
  // Whether [begin, end) is at some instant of what was asked; k_end_of_time: it goes on.
  [[nodiscard]] bool asks_for(Instant begin, Instant end) const;
  // Whether they were made so long after `t` that what happened then had reached slurmdbd.
  [[nodiscard]] bool made_after(Instant t) const;
  // Whether a run that is still open and has begun then must be in the records.
  [[nodiscard]] bool must_have_open(Instant begin) const;

 private:
  RecordFormat format_;
  ComparedInterval asked_;
  std::optional<Instant> earliest_end_;
  Instant latest_ = k_beginning_of_time;
};

}  // namespace shapley::ledger
