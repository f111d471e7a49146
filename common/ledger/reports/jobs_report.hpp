// The report of a ledger's jobs (reports/jobs.hpp): the daemon's replies and offline reports both come from here.
#pragma once

#include <cstddef>
#include <optional>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"
#include "reports/jobs.hpp"

namespace shapley::ledger {

// A report of every job of ten years would be useless, and too long for a frame. The newest jobs are kept.
inline constexpr std::size_t k_max_reported_jobs = 10'000;

// How far back `all` goes unless the question says so: a question about everything would hold up the daemon.
inline constexpr Duration k_reported_history{7 * 24 * 3600};

// The jobs, each with its segments; for a `viewer` only those that the viewer may see. Open segments count up to `at`.
// Reads the projections as they are at one moment, in three queries of at most `budget` each; Errc::limit says how to
// ask for less.
[[nodiscard]] Expected<JobsReport> jobs_report(const Ledger& ledger, const JobsFilter& filter, Instant at,
                                               QueryBudget budget = {}, const std::optional<JobsViewer>& viewer = {});

// The filter with the numbers that the ledger has for the names of `users` in place of the asker's.
// Errc::invalid_argument: neither knows one.
[[nodiscard]] Expected<JobsFilter> with_users_of(const accounting::UserNames& names, JobsFilter filter);

// What the books know for all jobs: what their runs were charged in, and what their users are called.
struct JobsContext {
  std::vector<accounting::ChargeDeclared> charges;
  accounting::UserNames users;

  [[nodiscard]] static JobsContext of(const accounting::State& state) { return {state.charges(), state.user_names()}; }
};
// Sets the unit, from the first run on, and the names.
void complete(JobsReport& report, const JobsContext& context);

}  // namespace shapley::ledger
