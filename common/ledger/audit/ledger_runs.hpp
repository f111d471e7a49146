// The runs of a ledger as Slurm's records have them: from start to end, cut where they were resized.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/audit/slurm_records.hpp"

namespace shapley::ledger {

struct LedgerPiece {
  Instant begin;
  std::optional<Instant> end;
  ProcessorMillionths processors;
  std::int64_t cpus = 0;  // that Slurm allocated; 0: not known
};

// The segments of one (job, anchor).
struct LedgerRun {
  JobId job;
  Instant begin;
  std::optional<Instant> end;       // none: still open
  std::vector<LedgerPiece> pieces;  // between resizes
  Duration held;                    // sum over its closed segments
  bool was_suspended = false;       // once at least
  bool ended_suspended = false;     // nothing followed the last suspension
  bool end_unseen = false;          // it ends where it was seen last
  bool matched = false;             // with a record
  bool fitted = false;              // with one that has its very start and end

  [[nodiscard]] bool is_empty() const { return end && held.value == 0; }
};

// "job 17, run from 2026-11-21T07:00:00Z"
[[nodiscard]] std::string run_name(JobId job, Instant begin);

// The runs of the facts, by job and begin. What is wrong with them by themselves becomes a finding.
class LedgerRuns {
 public:
  LedgerRuns(const Facts& facts, std::vector<Finding>& findings);

  [[nodiscard]] std::vector<LedgerRun>& runs() { return runs_; }
  // The runs of one job: neighbours, as segments are ordered by job.
  [[nodiscard]] std::vector<LedgerRun*> of(JobId job);

 private:
  struct Part {
    const accounting::SegmentKey* key;
    const SegmentFacts* segment;
  };

  // In the order of time: what became known late may have a later ordinal than what followed it.
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

// What the records of a file have in common where they differ from a ledger: they were made in another time zone, or
// sacct -T cut their times at the edges of what it was asked for. It is one finding, not one for every run. Pure.
struct CommonDifference {
  std::string what;      // the finding
  SlurmRecords records;  // without it
};

// nullopt: no such shift. A time zone's is a number of quarters of an hour that start and end of a run have in common,
// one or two of them (summer time), and that explains more runs than agree as they stand.
[[nodiscard]] std::optional<CommonDifference> common_difference(const Facts& facts, const SlurmRecords& records);

}  // namespace shapley::ledger
