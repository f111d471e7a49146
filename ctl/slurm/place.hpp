// A job's place in the order in which slurmctld serves jobs: the jobs of the daemon's queue that go before it by
// Slurm's own priorities (squeue), and the number of processors that each organization may start before it by the leads
// of the books.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "ledger/reports/explain_report.hpp"

namespace shapley::ctl {

// Slurm's own priorities of the pending records of all partitions that this user may see, by their numbers. A record is
// a job, a task of an array, or all tasks of an array that have no records of their own.
using PendingPriorities = std::unordered_map<std::uint32_t, std::int64_t>;
[[nodiscard]] Expected<PendingPriorities> pending_priorities(const ProgramRunner& run);

// A record of the daemon's queue and its place: from 1; the first of its tasks, which count as jobs.
struct PlacedJob {
  std::int64_t place = 0;
  ledger::QueuedJob is = {};
};

// All of the queue in the order in which slurmctld tries them. A task that squeue does not show yet, because its array
// was split a moment ago, has its array's priority; anything else that it does not show goes last.
[[nodiscard]] std::vector<PlacedJob> in_turn(const ledger::QueueReport& queue, const PendingPriorities& priorities);

// A value above the processors of the cluster is nullopt.
struct LeadBefore {
  std::string organization = {};
  std::optional<std::int64_t> processors = {};
};
SHAPLEY_DESCRIBE(LeadBefore, organization, processors);

// A job's place, or the reason why it is unknown.
struct Place {
  bool known = false;
  std::string why = {};
  // Only if the place is known.
  std::int64_t position = 0;  // from 1; tasks of arrays count as jobs
  std::int64_t of = 0;
  std::optional<bool> truncated = {};  // as far as the daemon's list shows
  std::optional<std::vector<ledger::Demand>> before = {};
  std::optional<std::vector<LeadBefore>> leads = {};  // organizations that may start jobs before it by their leads
};
SHAPLEY_DESCRIBE(Place, known, (supplement, why), (supplement, position), (supplement, of), (supplement, truncated),
                 (supplement, before), (supplement, leads));

// `rows`: the organizations of the explanation.
[[nodiscard]] Place place_of(std::uint32_t job, const std::string& organization, const ledger::QueueReport& queue,
                             const PendingPriorities& priorities, const std::vector<ledger::RankedRow>& rows);

// The value for the case that the place is unknown.
[[nodiscard]] Place place_not_known(const std::string& why);

// The site factor that follows from the books, computed again from slurm.conf's weights, the ranks and the job's level
// (docs/internals/plugin.md, "Ranks become priorities"), and whether slurmctld has this value.
//
// order strict:   site = 10000 + step * label + level_step * level: the label is the job's place, which the plugin
//                 chooses, so that of a site factor no more can be said than whether it has this form;
//                 step = others_max + 10001 [+ 15 level_step],   level_step = others_max + 2, both narrower if they do
//                 not fit below 2^31. Labels below the number of ranks are those of jobs that are not in line
// order weighted: site = weight * (ranks - 1 - position) / (ranks - 1) + level_step * level

struct RankRule {
  bool strict = true;
  std::int64_t weight = 0;      // order weighted: weight of the first rank
  std::int64_t others_max = 0;  // order strict: the greatest sum of a job's other factors
  std::int64_t ranks = 0;       // the number of organizations with a rank
  bool levels = false;          // whether steps leave room for levels
};

// The same values as in the plugin (plugin/priority/site_factor.h).
struct StrictSteps {
  std::int64_t step = 0;
  std::int64_t level_step = 0;
  std::int64_t labels = 0;  // the number of labels
};
// For order strict. REQUIRES: rule.ranks > 0, all numbers >= 0.
[[nodiscard]] StrictSteps strict_steps(const RankRule& rule);

// The label in a site factor of order strict, if it can be the site factor of a job at this level.
[[nodiscard]] std::optional<std::int64_t> label_in(std::int64_t site, const StrictSteps& steps, std::int64_t level);

// For order weighted. `position` counts from 0, the best; `level` from 0 to 15. REQUIRES: 0 <= position < rule.ranks,
// all numbers >= 0.
[[nodiscard]] std::int64_t weighted_site(const RankRule& rule, std::int64_t position, std::int64_t level);

// A site factor of order strict, of the form above.
struct StrictPlace {
  std::int64_t label = 0;
  std::int64_t labels = 0;
  std::int64_t step = 0;
  std::int64_t level_step = 0;
  std::int64_t level = 0;
  bool in_line = false;
};
SHAPLEY_DESCRIBE(StrictPlace, label, labels, step, level_step, level, in_line);

// The comparison of slurmctld's values with those that follow from the books.
struct PriorityVerdict {
  std::optional<bool> agrees = {};               // nullopt: unknown
  std::optional<std::string> why = {};           // the reason if not, or if unknown
  std::optional<std::int64_t> wished_site = {};  // for order weighted
  std::optional<StrictPlace> place = {};         // for order strict, if the site factor has that form
  std::optional<std::int64_t> site = {};
  std::optional<std::int64_t> priority = {};
  bool set_directly = false;
};
SHAPLEY_DESCRIBE(PriorityVerdict, agrees, why, wished_site, place, site, priority, set_directly);

// `priorities`: from the daemon's answer to explain.
[[nodiscard]] PriorityVerdict compare_priority(const std::optional<ledger::Priorities>& priorities,
                                               const SlurmFacts& slurm, const std::string& organization);

}  // namespace shapley::ctl
