// What is remembered of jobs and their segments: to distinguish known facts from new ones, to post segments again when
// ownership or periods change, and for the observer that derives events. Single-threaded; the caller owns it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

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

// What is remembered of a JobDescribed.
struct JobDescription {
  Instant submit;
  std::uint64_t content_hash = 0;
  std::string organization;
  JobId array;  // 0: none
};
constexpr auto description_of(std::type_identity<JobDescription>) {
  return describe("description", member("submit", &JobDescription::submit),
                  member("content_hash", &JobDescription::content_hash),
                  member("organization", &JobDescription::organization), member("array", &JobDescription::array));
}

// A description that holds from `at` on instead of the one of the same submit time.
struct JobChange {
  Instant submit;
  Instant at;
  std::uint64_t content_hash = 0;
  std::string organization;
};
constexpr auto description_of(std::type_identity<JobChange>) {
  return describe("change", member("submit", &JobChange::submit), member("at", &JobChange::at),
                  member("content_hash", &JobChange::content_hash), member("organization", &JobChange::organization));
}

struct RememberedJob {
  JobMemory memory;                          // as State::find_job shows it
  std::vector<SegmentRecord> segments;       // ascending by key
  std::vector<JobDescription> descriptions;  // ascending by submit
  std::vector<JobChange> changes;            // ascending by submit, at

  [[nodiscard]] const SegmentRecord* find(const SegmentKey& key) const;
  SegmentRecord& obtain(const SegmentKey& key);
  // Derives `memory` from the rest.
  void refresh();
};

class Jobs {
 public:
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] const RememberedJob* find(JobId job) const;
  [[nodiscard]] const SegmentRecord* find(const SegmentKey& key) const;
  RememberedJob& obtain(JobId job) { return jobs_[job]; }
  // The remembered tasks of an array, without the array's own job, ascending.
  [[nodiscard]] std::vector<JobId> tasks_of(JobId array) const;
  [[nodiscard]] std::vector<JobId> with_open_segments() const;  // ascending

  // Calls visit(segment) for each that counts in the books.
  template <typename Visit>
  void for_each_counted(Visit&& visit) const {
    for (const auto& [id, job] : jobs_) {
      for (const SegmentRecord& record : job.segments) {
        if (record.counts()) visit(record);
      }
    }
  }

  // Whether the fact known under the event's identity equals the event; nullopt: none is known.
  [[nodiscard]] std::optional<bool> repeats(const SegmentOpened& event) const;
  [[nodiscard]] std::optional<bool> repeats(const SegmentClosed& event) const;
  [[nodiscard]] std::optional<bool> repeats(const SegmentRetracted& event) const;
  [[nodiscard]] std::optional<bool> repeats(const JobDescribed& event) const;
  [[nodiscard]] std::optional<bool> repeats(const JobChanged& event) const;
  // REQUIRES: no description is known under the event's identity.
  void note(const JobDescribed& event);
  void note(const JobChanged& event);

  // The begin of the time to remember so that the `most` finished jobs with the latest ends are kept (and those that
  // end in the same second); k_beginning_of_time when there are not more. Jobs with an open segment are not finished.
  // REQUIRES: most > 0.
  [[nodiscard]] Instant begin_of_latest(std::size_t most) const;
  // When the first of all that is remembered and counts could have started; k_end_of_time: nothing is.
  [[nodiscard]] Instant first_release() const;
  // Forgets segments that ended, retractions, and jobs left without either, from before `horizon`. `forgotten` is
  // called for every segment first.
  void forget_before(Instant horizon, const std::function<void(const SegmentRecord&)>& forgotten);

  // Lines of a checkpoint; the present is `now`, and every organization of a run must be in the books. `entered` is
  // called for every segment that was read. Once `stop` is set both end soon, with what is done so far.
  void save(TextWriter& out, const std::atomic<bool>* stop) const;
  void load(TextReader& in, Instant now, const Organizations& organizations,
            const std::function<void(const SegmentRecord&)>& entered, const std::atomic<bool>* stop);

 private:
  void note_task(JobId job, JobId array);
  void forget_task(JobId id, const RememberedJob& job);
  void load_job(TextReader& in, Instant now, const Organizations& organizations,
                const std::function<void(const SegmentRecord&)>& entered);

  std::unordered_map<JobId, RememberedJob> jobs_;
  std::unordered_map<JobId, std::set<JobId>> tasks_;  // by array; derived from the descriptions of jobs
};

// Whether another thread has asked for the work to end.
[[nodiscard]] inline bool is_set(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

}  // namespace shapley::accounting
