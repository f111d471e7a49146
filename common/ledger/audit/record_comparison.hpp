// The runs of a ledger against Slurm's own records of them. Pure functions; conventions in docs/reference/ledger.md.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "ledger/audit/audit.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/audit/recorded_runs.hpp"
#include "sacct/slurm_records.hpp"

namespace shapley::ledger {

// Runs that were not compared because no record can be about them: how many, for the notes.
struct RunsLeftOut {
  std::int64_t before_records = 0;  // ended before the records begin
  std::int64_t after_records = 0;   // began, or for jobcomp ended, after the records were made
  std::int64_t empty = 0;           // held nothing
};

// Which jobs of a ledger have to be compared with the records, so that the facts of others need not be in memory.
class RunSelection {
 public:
  explicit RunSelection(const sacct::SlurmRecords& records, const ComparedInterval& asked = {});

  // Whether a job has to be among the compared facts, given the facts of this job alone; if not, its runs are counted
  // among those left out.
  [[nodiscard]] bool wants(JobId job, const Facts& of_job);
  // Whether the job's waits have to be among the compared facts, too.
  [[nodiscard]] bool wants_waits(JobId job) const { return requeued_.contains(job); }
  [[nodiscard]] const RunsLeftOut& left_out() const { return left_out_; }

 private:
  std::set<JobId> recorded_;
  std::set<JobId> requeued_;  // of these
  RecordsSpan span_;
  RunsLeftOut left_out_;
};

// Adds findings, notes and counts to `report`. `left_out`: runs that are not among the facts (RunSelection).
void compare_with_records(const Facts& facts, const LedgerSpan& span, const sacct::SlurmRecords& records,
                          AuditReport& report, const ComparedInterval& asked = {}, const RunsLeftOut& left_out = {});

// Whether a configuration (as text) counts processors as Slurm counts CPUs: no `weights`, or cpu: 1 alone.
[[nodiscard]] bool counts_cpus_only(const std::string& configuration);

}  // namespace shapley::ledger
