// Rows of sacct as events, by the same code that books observed runs.
//
// Every run becomes the records that slurmctld would have shown when the run became eligible, started, was resized, was
// suspended and ended. daemon/observer compares these with the books, in the order of time, and returns the missing
// events. sacct does not show: when a run was suspended (its last seconds are taken), its parts of several nodes
// (sacct/spreading.hpp), why it did not start after it was eligible (it counts as demand), and which nodes it could
// have used (all are assumed). Jobs that never ran add no events, like demand that is withdrawn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "daemon/observer/observer.hpp"
#include "sacct/site_nodes.hpp"
#include "sacct/sorted_rows.hpp"
#include "site_rules/attribution.hpp"

namespace shapley::ctl {

// Runs that count in the ledger are left out. The keys of segments that do not count are not used again.
struct KnownRun {
  bool counts = false;
  std::vector<daemon::PastSegment> retracted = {};
};

struct PastRunsSource {
  const sacct::SortedRows& rows;
  const site_rules::Attribution& attribution;
  const sacct::SiteNodes& nodes;
  const daemon::ReadingRules& rules;
  bool waits = true;  // also the demand of jobs before they started
  // The part of a run that the ledger has; called once per run. `end`: nullopt: the run has not ended.
  std::function<Expected<KnownRun>(JobId job, Instant start, std::optional<Instant> end, Duration suspended,
                                   const std::string& job_state)>
      known;
  // Passes on what runs of the ledger held from one instant to another, each row with its parts; may be empty.
  std::function<Expected<void>(Instant since, Instant until,
                               const std::function<Expected<void>(const sacct::SacctRow&)>& add)>
      held = {};
};

struct PastRuns {
  std::int64_t runs = 0;                        // resized runs count once
  std::int64_t known = 0;                       // left out
  std::int64_t never_ran = 0;                   // jobs
  std::int64_t not_ended = 0;                   // of `runs`
  std::int64_t suspended = 0;                   // of `runs`
  std::int64_t restored = 0;                    // of `runs`: runs that had been retracted
  Instant since, until;                         // the earliest start and the latest end of `runs`
  std::vector<std::int64_t> without_room = {};  // as sacct::Spreading has them
  // What the export calls the users of `runs`, from the begin of the last one on; by number.
  std::map<std::uint32_t, accounting::UserNamed> users = {};
};

// The first instant of all rows; k_end_of_time: no row is of a run.
[[nodiscard]] Expected<Instant> first_instant(const sacct::SortedRows& rows);

// Calls `take` with events in the order of time, a few at a time; only the runs that are open at one time are in
// memory. The rows are compared with `books`, which has the capacities of nodes, and the events are applied to it.
// REQUIRES: every row of a run has nodes (sacct::check_places).
[[nodiscard]] Expected<PastRuns> past_runs(
    const PastRunsSource& source, accounting::State& books,
    const std::function<Expected<void>(std::span<const accounting::Event>)>& take);

}  // namespace shapley::ctl
