// Losses, found by comparing slurmctld's records with the books: jobs that a snapshot lacks, and runs that Slurm's
// counts of restarts imply. Single-threaded; pure except for the log.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/observer.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// The times in which slurmctld's records were not observed. They follow from a feeder's report about itself (Hello),
// its connections, and the observations. Single-threaded; pure.

// A feeder's report about itself: the members of protocol::Hello with the same names; the beginning of time: not
// reported.
struct Observing {
  Instant since = k_beginning_of_time;           // observing_since
  Instant before = k_beginning_of_time;          // observed_before
  Instant controller_ran = k_beginning_of_time;  // controller_ran_at
  bool dropped = false;
  std::uint64_t backlog = 0;  // messages that it sends again first
};

class ObservationWatch {
 public:
  // For the start of a process: the instant until which slurmctld was observed according to the ledger (nullopt:
  // never), and the recorded gaps.
  ObservationWatch(std::optional<Instant> last_observed, const std::vector<accounting::ObservationGap>& known);

  // The ledger lost events that it had of the time after the last observation.
  void note_events_lost() { are_events_lost_ = true; }
  void begin_session(const Observing& observing);
  // The feeder is connected, and all of its messages were read.
  void note_connected(Instant now);
  // What was observed until `now` is not read, because of a wrong clock that is right again. Returns the gap that this
  // leaves, or its next part, in place of one by the times that this session's feeder reports. nullopt: nothing was
  // ever observed, or no time has passed since.
  [[nodiscard]] std::optional<accounting::ObservationGap> end_wrong_clock(Instant now);
  // An observation of `at` was read. Returns the gap that it ends: at most once a session one by the times that the
  // session's feeder reports, and once one of lost events.
  [[nodiscard]] std::optional<accounting::ObservationGap> note_read(Instant at);

  // The gap that this session ended; nullopt: none.
  [[nodiscard]] const std::optional<accounting::ObservationGap>& gap() const { return gap_; }

 private:
  [[nodiscard]] std::optional<accounting::ObservationGap> find_gap() const;

  std::optional<Instant> observed_until_;
  bool are_events_lost_ = false;
  Observing observing_;
  bool returned_ = true;  // the gap of this session was returned, or there was none
  std::optional<accounting::ObservationGap> gap_;
};

// The last scan before slurmctld restarted: jobs that are missing afterwards existed at that time. It follows from the
// observations and, if nothing changed, from a feeder's connection and the next feeder's report about it.
// Single-threaded; pure.
class LastLook {
 public:
  void begin_session(const Observing& observing);
  // A feeder scanned until this instant, with or without changes.
  void note_scanned(Instant until);
  // The ledger lost what it had of this time: jobs that it has existed when the gap began.
  void note_lost(const accounting::ObservationGap& gap);
  // A frame of `at` is about to be read; `known_until`: the newest one before. The first frame of a feeder shows
  // whether slurmctld went away.
  void note_read(Instant at, const std::optional<Instant>& known_until);
  // A whole snapshot was read, so all jobs of slurmctld are known.
  void end_snapshot() { restart_.reset(); }

  [[nodiscard]] const std::optional<Instant>& scanned_until() const { return scanned_until_; }
  // `known`, an instant of which all jobs are known, or a later one if a feeder scanned later, until `at` at the
  // latest: a slurmctld may be back within a second.
  [[nodiscard]] Instant refined(Instant known, Instant at) const;
  struct Restart {
    Instant last_look;       // before slurmctld went away
    Instant observed_since;  // by the feeder that found it back
  };
  // nullopt: slurmctld did not go away, or all jobs are known again.
  [[nodiscard]] const std::optional<Restart>& restart() const { return restart_; }
  [[nodiscard]] std::optional<Instant> before_restart() const {
    return restart_ ? std::optional(restart_->last_look) : std::nullopt;
  }

 private:
  std::optional<Instant> scanned_until_;
  std::optional<Instant> since_;  // of a feeder of which no frame was read
  std::optional<Restart> restart_;
};

// All records of slurmctld, which a feeder sends when it connects. Jobs that the books have and the snapshot lacks are
// gone.
class Snapshot {
 public:
  // `known_until`: the last instant before the snapshot of which all jobs are known; nullopt: none.
  explicit Snapshot(std::optional<Instant> known_until) : known_until_(known_until) {}

  void note(JobId job) { jobs_.insert(job); }
  void note(const std::string& node) { nodes_.insert(node); }
  [[nodiscard]] bool has(JobId job) const { return jobs_.contains(job); }
  [[nodiscard]] bool has(const std::string& node) const { return nodes_.contains(node); }
  [[nodiscard]] const std::optional<Instant>& known_until() const { return known_until_; }

  struct Absent {
    std::vector<JobId> jobs;
    std::vector<std::string> nodes;
  };
  // The jobs that the books have and the snapshot lacks, at the first call. REQUIRES: the snapshot is complete, and in
  // the books.
  [[nodiscard]] const Absent& absent(const accounting::State& books);
  // The reason why jobs are absent from this snapshot of `at`. `gap`: the one that this session ended. `min_job_age`:
  // the time for which slurmctld keeps the record of a job that ended.
  [[nodiscard]] Departure departure(Instant at, const LastLook& look,
                                    const std::optional<accounting::ObservationGap>& gap, Duration min_job_age) const;
  // The last instant at which an absent job was known to exist.
  [[nodiscard]] Instant last_alive(const accounting::State& books, JobId job, const LastLook& look) const;

 private:
  std::set<JobId> jobs_;
  std::set<std::string, std::less<>> nodes_;
  std::optional<Instant> known_until_;
  std::optional<Absent> absent_;
};

// The runs that Slurm's counts of restarts imply and that the books lack.
class RestartCounts {
 public:
  // Call before the record is booked. `gap`: the one that this session ended. Whether a run is missing that began and
  // was requeued since the job was seen last.
  bool note(const protocol::JobUpdate& record, const accounting::State& books,
            const std::optional<accounting::ObservationGap>& gap);
  void forget(JobId job) { seen_.erase(job); }
  // The number of missing runs since the start.
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

 private:
  void note_first(const protocol::JobUpdate& record, const accounting::State& books,
                  const std::optional<accounting::ObservationGap>& gap);

  // From the last record of a job.
  struct Seen {
    std::uint32_t restart_count = 0;
    std::int64_t submit_time = 0;
  };
  std::unordered_map<JobId, Seen> seen_;
  std::uint64_t missing_ = 0;
};

// Logs the runs that slurmctld has lost; what a gap leaves out of the books.
void log_loss(const accounting::StateLost& loss);
void log_gap(const accounting::ObservationGap& gap);

}  // namespace shapley::daemon
