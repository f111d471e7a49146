// The standings (reports/status.hpp) from the books, for `shapleyctl status`, the daemon's answers, and offline reading
// of a ledger, so that all of them agree. Also: the jobs that run or wait, one by one.
//
// Pure functions of the books and of t; they read no clock and own nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/forecast_report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// Sets what it got and gave in the period to that of the standing, by the estimator.
void set_work(OrganizationRow& row, const accounting::Standing& standing, accounting::EstimatorId estimator);

// Of the pending rests of arrays by number, how many of their tasks could start, which a running shapleyd knows. A
// record that is not listed counts as one job.
using StartableTasks = std::map<std::uint32_t, std::int64_t>;

// The books at max(t, state.now()). Figures are by `wanted` ("contribution"), or, if it is not in `able`, by its
// stand-in ("ranked_by"); `able`: those of State::catch_up at t, else all that are kept. phi by other estimators is
// not known.
[[nodiscard]] StatusReport status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted);
[[nodiscard]] StatusReport status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted,
                                         const accounting::EstimatorSet& able, const StartableTasks& tasks = {});

// Sets the title, the name for people, in every row whose organization has one.
void set_titles(StatusReport& report, const std::map<std::string, std::string>& titles);

// How many whole processors `other` may start before the key of `own` after `cum` processors, which its own jobs take
// before, is as great; 0 or more. Of rows that have a rank.
[[nodiscard]] std::int64_t startable_before(const RankedRow& other, const RankedRow& own, std::int64_t cum);

// `only`: these organizations; empty: all.
[[nodiscard]] std::vector<NoStart> no_start_report(const accounting::State& state,
                                                   const std::vector<std::string>& only = {});

// Errc::invalid_argument, with the names of the books' organizations, unless every name is one of these.
[[nodiscard]] Expected<void> check_organizations(const accounting::State& state, const std::vector<std::string>& names);

[[nodiscard]] tl::unexpected<Error> unknown_organization(const std::string& name,
                                                         const std::vector<std::string>& known);

// A job that runs or could start.
struct OpenSegment {
  JobId job;
  accounting::SegmentKind kind = accounting::SegmentKind::wait;
  OrgId organization;
  Instant since;  // the run's start, or when the present stretch of waiting began
  ProcessorMillionths processors;

  // How many jobs wait in it.
  [[nodiscard]] std::int64_t jobs(const StartableTasks& tasks) const {
    const auto found = tasks.find(job.value);
    return found == tasks.end() ? 1 : found->second;
  }
};

// Calls visit(OpenSegment) for each, ascending by job; a job has at most an open run and a wait.
template <typename Visit>
void for_each_open_segment(const accounting::State& state, Visit&& visit) {
  for (const JobId id : state.jobs_with_open_segments()) {
    const accounting::JobMemory* job = state.find_job(id);
    if (job == nullptr) continue;
    for (const accounting::SegmentKey& key : job->segments) {
      const accounting::LiveSegment* segment = state.find_segment(key);
      if (segment == nullptr || segment->end) continue;
      const std::optional<OrgId> organization = state.find_organization(segment->opened.organization);
      if (!organization) continue;
      visit(OpenSegment{.job = id,
                        .kind = key.kind,
                        .organization = *organization,
                        .since = key.anchor,
                        .processors = segment->opened.processors});
    }
  }
}

}  // namespace shapley::ledger
