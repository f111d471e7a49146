// Rows of sacct as events, by the code that books what is watched.
//
// Of every run records are made as slurmctld would have shown them when it became eligible, started, was resized, was
// suspended and ended, and daemon/observer says what the books lack, in the order of time. What sacct does not tell:
// when within a run it was suspended (its last seconds are taken), which part of several nodes it held
// (history/site_nodes.hpp), what kept it from starting after it was eligible (it counts as demand), which nodes it
// could have used (any). Jobs that never ran leave nothing, as demand that is withdrawn does.
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
#include "history/attribution.hpp"
#include "history/sacct_rows.hpp"
#include "history/site_nodes.hpp"

namespace shapley::ctl {

// A run that counts is left out. The keys of segments that do not count are not used again.
struct KnownRun {
  bool counts = false;
  std::vector<daemon::PastSegment> retracted = {};
};

struct PastRunsSource {
  const std::vector<history::SacctRow>& rows;
  const history::Attribution& attribution;
  const history::SiteNodes& nodes;
  const daemon::ReadingRules& rules;
  bool waits = true;  // what jobs asked for before they started, too
  // What there is of a run already; called once for each. `end`: nullopt: it goes on.
  std::function<Expected<KnownRun>(JobId job, Instant start, std::optional<Instant> end, Duration suspended,
                                   const std::string& job_state)>
      known;
};

struct PastRuns {
  std::int64_t runs = 0;       // resized ones once
  std::int64_t known = 0;      // left out
  std::int64_t never_ran = 0;  // jobs
  std::int64_t not_ended = 0;  // of `runs`
  std::int64_t suspended = 0;  // of `runs`
  std::int64_t restored = 0;   // of `runs`: that had been retracted
  Instant since, until;        // the earliest start and the latest end of `runs`
};

// The first instant that a row speaks of; k_end_of_time: no row ran.
[[nodiscard]] Instant first_instant(const std::vector<history::SacctRow>& rows);

// Calls `take` with events in the order of time, a few at a time. `books`: what they are compared with and applied to;
// it has the capacities of nodes. REQUIRES: every row that ran has nodes (history::check_places).
[[nodiscard]] Expected<PastRuns> past_runs(
    const PastRunsSource& source, accounting::State& books,
    const std::function<Expected<void>(std::span<const accounting::Event>)>& take);

}  // namespace shapley::ctl
