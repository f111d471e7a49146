// The runs of a ledger in the form of Slurm's records: from start to end, cut where they were resized.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "sacct/slurm_records.hpp"

namespace shapley::ledger {

struct LedgerPiece {
  Instant begin;
  std::optional<Instant> end;
  ProcessorMillionths processors;
  std::int64_t cpus = 0;   // that Slurm allocated; 0: not known
  bool is_billed = false;  // charged by Slurm's billing
};

// The segments of one (job, anchor).
struct LedgerRun {
  JobId job;
  Instant begin;
  std::optional<Instant> end;       // nullopt: still open
  std::vector<LedgerPiece> pieces;  // between resizes
  Duration held;                    // sum over its closed segments
  bool was_suspended = false;       // at least once
  bool ended_suspended = false;     // nothing followed the last suspension
  bool end_unseen = false;          // it ends at the time at which it was seen last
  bool ended_itself = false;        // no requeue ended it
  bool matched = false;             // with a record
  bool fitted = false;              // with a record of exactly its start and end

  [[nodiscard]] bool is_empty() const { return end && held.value == 0; }
};

// "job 17, run from 2026-11-21T07:00:00Z"
[[nodiscard]] std::string run_name(JobId job, Instant begin);

// The runs of the facts, by job and begin. Contradictions within one run become findings.
class LedgerRuns {
 public:
  LedgerRuns(const Facts& facts, std::vector<Finding>& findings);

  [[nodiscard]] std::vector<LedgerRun>& runs() { return runs_; }
  // The runs of one job, which are adjacent, because segments are ordered by job.
  [[nodiscard]] std::vector<LedgerRun*> of(JobId job);

 private:
  struct Part {
    const accounting::SegmentKey* key;
    const SegmentFacts* segment;
  };

  // Adds parts in the order of time: a part that became known late may have a later ordinal than what followed it.
  void add(std::vector<Part> parts);
  void begin(const accounting::SegmentKey& key, const SegmentFacts& segment);
  void extend(const SegmentFacts& segment);
  void add_piece(const SegmentFacts& segment);
  void account(const SegmentFacts& segment);
  void complain(const std::string& what);

  std::vector<Finding>& findings_;
  std::vector<LedgerRun> runs_;
  accounting::CloseReason last_reason_ = accounting::CloseReason::ended;
};

// A common difference between all records of a file and a ledger: they were made in another time zone, or sacct -T cut
// their times at the edges of the requested interval. It is one finding, not one for every run. Pure.
struct CommonDifference {
  std::string what;             // the finding
  sacct::SlurmRecords records;  // the records corrected by it
};

// nullopt: no common difference. A difference of time zones is a number of quarters of an hour, the same for start and
// end of a run, one or two different ones (summer time), that explains more runs than agree without it.
[[nodiscard]] std::optional<CommonDifference> common_difference(const Facts& facts, const sacct::SlurmRecords& records);

}  // namespace shapley::ledger
