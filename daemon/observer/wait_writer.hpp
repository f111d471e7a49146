// The demand of one pending job in the books (wait segments), and the missing parts of it as events.
//
// A wait is [since the job could start, until it started or could not]. Its key's anchor is the begin of an unbroken
// stretch of waiting; a change of the amount, or of the nodes that it may use (request/placement.hpp), within the
// stretch counts the ordinal up.
//
// Demand counts finally only if the request starts. A request begins when the job is submitted or requeued. Of each of
// its waits at most as much stays as has started since and may still start; the excess was withdrawn, and is taken
// back: the segment is retracted, and stated again with what stays. The same happens to all of it when the job is
// cancelled before it started, set aside by its user, or moved to another organization. What lies before the State's
// horizon stays.
//
// An array's pending tasks share one record. When it requests less, tasks have started (as jobs of their own) or were
// withdrawn; which of the two follows from the runs in the books. The runs may arrive later than the record that
// shrank, so this is decided when the record is observed once more.
//
// A job that ends while nothing could start it (held, before its begin time) has no wait whose end would close it. So
// that the books show its end, it gets a wait without length, which is retracted at once.
//
// Pure; lives for one observation. follow_pending and follow_started return false when the record must be observed
// again: it cannot be distinguished from an older one (observer.hpp, "unsettled"), or an array's record shrank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

class WaitWriter {
 public:
  struct Job {
    JobId id;
    std::string organization = {};  // the organization of its present demand; empty: unchanged
    std::string slurm_state = {};   // as Slurm calls it, for the events
    ProcessorMillionths task = {};  // the request of one of its tasks
    bool is_array = false;          // the record of an array's pending tasks, or of the last one of them
    JobId waits_as = {};            // a task of an array that has a record of its own: the array's; else 0
  };
  // `events` holds what the same record yielded for the job's runs; new events are added behind.
  WaitWriter(const accounting::State& state, Job job, std::vector<accounting::Event>& events);

  struct Pending {
    ProcessorMillionths amount;       // 0: cannot start now
    ProcessorMillionths outstanding;  // may start without action of its user, now or later: >= amount; 0: set aside
    Instant eligible;                 // 0: not reported by Slurm
    Instant submit;
    Instant observed_at;
    Instant previous_scan;
    std::optional<Instant> reliable_since = std::nullopt;  // slurmctld's times until then are of a wrong clock
    std::string placement = {};                            // which nodes it may use
  };
  [[nodiscard]] bool follow_pending(const Pending& pending);

  struct Asked {
    std::string organization = {};  // not empty
    ProcessorMillionths amount = {};
    std::string placement = {};
  };
  struct Started {
    Instant start;
    Instant end;
    bool ran = true;    // false: ended without ever having started
    bool over = false;  // ended
    Instant observed_at;
    Asked asked = {};
  };
  [[nodiscard]] bool follow_started(const Started& started);

  // slurmctld no longer has the job. What is open ends at max(last_alive, its begin).
  void follow_gone(Instant last_alive);

 private:
  struct Wait {
    accounting::SegmentKey key;
    std::string organization;
    Instant begin;
    std::optional<Instant> end;
    ProcessorMillionths amount;
    std::string placement;
  };
  // How a withdrawn wait that is open ends.
  struct Withdrawal {
    Instant end;
    accounting::CloseReason reason;
    Instant at;  // when it became known
  };

  void remember(const accounting::State& state);
  void remember_runs();
  void remember_tasks(const accounting::State& state);
  [[nodiscard]] Wait* open_wait();  // nullptr: none is open
  [[nodiscard]] Wait& wait_of(const accounting::SegmentKey& key);
  [[nodiscard]] Instant begin_of(const Pending& pending) const;
  [[nodiscard]] accounting::SegmentKey next_key(Instant anchor) const;
  [[nodiscard]] std::int64_t tasks_started_after(const Wait& wait) const;  // of the array, for the same organization
  [[nodiscard]] ProcessorMillionths kept_of(const Wait& wait, std::int64_t own_starts,
                                            ProcessorMillionths outstanding) const;

  // Takes back the waits that began in [from, to) as far as kept_of says.
  void take_back(Instant from, Instant to, std::int64_t own_starts, ProcessorMillionths outstanding,
                 const Withdrawal& withdrawal);
  void reduce(const accounting::SegmentKey& key, ProcessorMillionths amount, const Withdrawal& withdrawal);
  void open(Wait wait);
  void close(Wait& wait, Instant end, accounting::CloseReason reason);
  void note_end(Instant end, const Started& started);
  void follow(const Pending& pending, const std::optional<accounting::SegmentKey>& stretch);
  void hand_over();

  Job job_;
  std::vector<accounting::Event>& out_;
  std::vector<accounting::Event> own_;  // events to be added to out_
  bool known_job_ = false;
  Instant horizon_;
  std::optional<Instant> wait_ended_;  // as of accounting::JobMemory
  std::optional<Instant> last_edge_;   // latest begin, end or retraction of runs and waits before this record
  std::vector<Wait> waits_;
  std::set<accounting::SegmentKey> used_;  // keys of waits, retracted ones too
  std::set<accounting::SegmentKey> run_keys_;
  Instant last_run_ = k_beginning_of_time;      // start of the job's last run
  Instant previous_run_ = k_beginning_of_time;  // of the one before
  // Starts of the array's other tasks that never waited by themselves, by organization; ascending.
  std::map<std::string, std::vector<Instant>> task_starts_;
};

}  // namespace shapley::daemon
