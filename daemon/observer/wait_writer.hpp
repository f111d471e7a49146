// The demand of one pending job as the books hold it (wait segments), and what is missing of it, as events.
//
// A wait is [since the job could start, until it started or could not]. Its key's anchor is the begin of an unbroken
// stretch of waiting; a change of the amount within the stretch counts the ordinal up. Pure; lives for one observation.
//
// The settle functions answer false when the record cannot be distinguished from an older one (observer.hpp,
// "unsettled").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

class WaitWriter {
 public:
  // `events` holds what the same record yielded for the job's runs; new events are added behind.
  WaitWriter(const accounting::State& state, JobId job, std::string job_state, std::vector<accounting::Event>& events);

  struct Pending {
    MicroProcessors amount;  // 0: cannot start now
    std::string organization;
    Instant eligible;  // 0: Slurm does not say
    Instant submit;
    Instant observed_at;
    Instant previous_scan;
  };
  [[nodiscard]] bool settle_pending(const Pending& pending);

  struct Started {
    Instant start;
    Instant end;
    bool ran = true;  // false: ended without ever having started
    Instant observed_at;
  };
  [[nodiscard]] bool settle_started(const Started& started);

 private:
  [[nodiscard]] Instant begin_of(const Pending& pending) const;
  void open(accounting::SegmentKey key, Instant begin, const Pending& pending);
  void close(Instant end, accounting::CloseReason reason);

  JobId job_;
  std::string job_state_;
  std::vector<accounting::Event>& events_;
  bool known_job_ = false;
  const accounting::LiveSegment* open_ = nullptr;
  std::optional<Instant> last_edge_;  // of runs and waits, before this record
  std::vector<accounting::SegmentKey> keys_;
};

}  // namespace shapley::daemon
