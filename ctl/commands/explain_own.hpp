// `shapleyctl explain --me`: the caller's own jobs that wait, in one table: their places, what goes before each, when
// they start by the rule and by Slurm, and what would let them start now.
//
// Places, and when organizations pass each other, are the daemon's; Slurm's commands add Slurm's words (squeue), what
// is idle (sinfo), and whether a smaller job would start (sbatch --test-only). All instants are UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctl/commands/explain.hpp"

namespace shapley::ctl {

// What would let a job start now. Numbers that need not change are nullopt.
struct FitsNow {
  std::optional<std::int64_t> cpus = {};          // with so many, which are idle in its partition
  std::optional<std::int64_t> time_limit_s = {};  // with this limit: it would end before a job before it is to start
};
SHAPLEY_DESCRIBE(FitsNow, cpus, time_limit_s);

struct OwnJob {
  std::string job_id = {};        // as Slurm's commands name it
  std::string organization = {};  // empty: it is not in the daemon's books as one that could start
  std::string partition = {};
  std::int64_t cpus = 0;
  std::optional<std::int64_t> time_limit_s = {};  // nullopt: none or, without Slurm's words, not known
  std::string reason = {};                        // as Slurm calls it
  std::optional<Place> place = {};                // nullopt: jobs have no places here, or it could not start
  // What goes before it: by the place or, where that is not known, organizations of better ranks.
  std::vector<ledger::Demand> before = {};
  bool goes_first = false;  // its organization has the best rank of those that wait
  Dated by_rule = {};       // when it has, if nothing starts or ends; not known: not as far as the outlook goes
  Dated by_slurm = {};      // when Slurm expects to start it
  std::optional<FitsNow> fits_now = {};
};
SHAPLEY_DESCRIBE(OwnJob, job_id, organization, partition, cpus, time_limit_s, reason, place, before, goes_first,
                 by_rule, by_slurm, fits_now);

struct OwnJobs {
  std::string user = {};
  Dated at = {};
  std::string time_zone = "UTC";
  std::string no_places = {};  // why places are not known; empty: they are, or there are none here
  std::string no_slurm = {};   // why Slurm's words are missing
  std::vector<OwnJob> jobs = {};
  std::int64_t left_out = 0;  // jobs beyond the first hundred (k_most_own_jobs)
  bool truncated = false;     // the daemon has more jobs of this user than it lists
};
SHAPLEY_DESCRIBE(OwnJobs, user, at, time_zone, (supplement, no_places), (supplement, no_slurm), jobs, left_out,
                 (supplement, truncated));

[[nodiscard]] std::string render_own_jobs(const OwnJobs& report);
[[nodiscard]] std::string parsable_own_jobs(const OwnJobs& report);

// What run_explain does with `me`.
[[nodiscard]] Expected<ExitCode> explain_own_jobs(const ExplainArguments& arguments, const Endpoint& endpoint,
                                                  const Environment& environment);

}  // namespace shapley::ctl
