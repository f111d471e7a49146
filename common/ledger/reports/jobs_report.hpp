// The report of a ledger's jobs (reports/jobs.hpp): the daemon's replies and offline reports both come from here.
#pragma once

#include <cstddef>
#include <optional>

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

// What its runs were charged in, from the first one on.
[[nodiscard]] AmountUnit unit_of_jobs(const JobsReport& report, std::span<const accounting::ChargeDeclared> charges);

}  // namespace shapley::ledger
