// The jobs that run or wait in the books.
#pragma once

#include <optional>

#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// A job that runs or could start.
struct OpenSegment {
  JobId job;
  accounting::SegmentKind kind = accounting::SegmentKind::wait;
  OrgId organization;
  Instant since;  // the run's start, or when the present stretch of waiting began
  MicroProcessors processors;
};

// Calls visit(OpenSegment) for each, ascending by job: few of one job, at most a run and a wait.
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
