// What is remembered of jobs and their segments: to distinguish known facts from new ones, for re-posting segments when
// ownership or periods change, and for the observer that derives events. Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting {

// Everything known under one segment key; facts may come in any order.
struct SegmentRecord {
  LiveSegment live;  // live.opened is meaningful only if `opened`; its key always is
  bool opened = false;
  bool retracted = false;
  CloseReason reason = CloseReason::ended;
  std::uint64_t job_state_hash = 0;
  Instant retracted_at;

  // Whether it counts in the books.
  [[nodiscard]] bool counts() const { return opened && !retracted; }
  [[nodiscard]] Instant end() const { return live.end.value_or(k_end_of_time); }
};

struct JobDescription {
  Instant submit;
  std::uint64_t content_hash = 0;
  std::string organization;
  JobId array;  // 0: none
};

// A description that holds from `at` on instead of the one of the same submit time.
struct JobChange {
  Instant submit;
  Instant at;
  std::uint64_t content_hash = 0;
  std::string organization;
};

struct JobRecord {
  JobMemory memory;                          // as find_job shows it
  std::vector<SegmentRecord> segments;       // ascending by key
  std::vector<JobDescription> descriptions;  // ascending by submit
  std::vector<JobChange> changes;            // ascending by submit, at

  [[nodiscard]] const SegmentRecord* find(const SegmentKey& key) const;
  SegmentRecord& obtain(const SegmentKey& key);
  // Derives `memory` from the rest.
  void refresh();
};

using Jobs = std::unordered_map<JobId, JobRecord>;

// The instant from which on the `most` finished jobs of the latest ends are remembered (those that end in one second
// with them, too); k_beginning_of_time when there are not more. Jobs with an open segment are not finished. REQUIRES:
// most > 0.
[[nodiscard]] Instant begin_of_latest(const Jobs& jobs, std::size_t most);

// Forgets segments that ended, retractions, and jobs left without either, from before `horizon`. `forgotten` hears of
// every segment first, `forgotten_job` of every job.
void forget_before(Jobs& jobs, Instant horizon, const std::function<void(const SegmentRecord&)>& forgotten,
                   const std::function<void(JobId, const JobRecord&)>& forgotten_job);

}  // namespace shapley::accounting
