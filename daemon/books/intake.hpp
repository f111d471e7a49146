// The feeder's side of the books: frames in, events out, group commits.
//
// Frames wait in the inbox until process() reads them against the books. Events of many frames are committed together;
// a record of a job that already has events in the batch forces a commit first, because the observer compares with
// books that hold everything before it. When a commit fails (disk full) processing stops where it is, nothing is
// acknowledged, and the next process() goes on: accepting() tells the server to stop reading meanwhile. The same holds
// while the next frame is one that a wrong clock made (quarantine.hpp). A call reads a portion of the records, so that
// the thread, which has more to do, is not held for seconds by one frame of a hundred thousand.
// Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/books/last_look.hpp"
#include "daemon/books/observation_watch.hpp"
#include "daemon/books/placements.hpp"
#include "daemon/books/quarantine.hpp"
#include "daemon/observer/observer.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

using FeederFrame = std::variant<protocol::SnapshotBegin, protocol::Observations, protocol::SnapshotEnd>;

class Intake {
 public:
  struct Limits {
    std::size_t batch_events = 20'000;  // commit at once from here on
    std::size_t inbox_frames = 64;      // stop reading from here on
    std::size_t portion_records = 500;  // of a call of process()
  };

  // `books` and `rules` must outlive the intake. `last_observed`: until when the books are known to be complete.
  Intake(Books& books, const ReadingRules& rules, std::optional<Instant> last_observed, Limits limits);

  // A feeder's life on one connection. `interval`: the longest time between two of its scans; `min_job_age`: how long
  // slurmctld keeps the record of a job that ended, 0: not known. `observing`: what it says it has looked at.
  void begin_session(std::uint64_t instance, Duration interval, Duration min_job_age, const Observing& observing = {});
  void end_session();

  // How the wall clock is. To be told before process().
  void note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds, Instant now) {
    quarantine_.note_clock(doubt, grounds, now);
  }

  void receive(FeederFrame frame);
  [[nodiscard]] bool accepting() const { return inbox_.size() < limits_.inbox_frames; }

  // Reads a portion of the inbox against the books and commits all that came of it. Errors: the commit failed; call
  // again later.
  [[nodiscard]] Expected<void> process(Instant now);
  // Whether the last call ended because its portion did: call again, when others had their turn.
  [[nodiscard]] bool is_unfinished() const { return unfinished_; }

  // The highest sequence number of this instance whose observations are durable; 0: none.
  [[nodiscard]] std::uint64_t acknowledged(std::uint64_t instance) const;

  // Observes again, as of their next second, records that could not be distinguished from older ones and that nothing
  // superseded.
  [[nodiscard]] Expected<void> settle(Instant now);

  // Observation time of the newest frame that was read.
  [[nodiscard]] std::optional<Instant> last_observation() const { return known_until_; }
  // When slurmctld's records were looked at last, as far as another process, or this one, knows beside the ledger.
  void note_scanned(Instant until) { last_look_.note_scanned(until); }
  [[nodiscard]] const std::optional<Instant>& scanned_until() const { return last_look_.scanned_until(); }
  // Runs that Slurm's counts of restarts imply and that the books lack, since the start.
  [[nodiscard]] std::uint64_t lost_runs() const { return lost_runs_; }
  [[nodiscard]] bool in_snapshot() const { return snapshot_.has_value(); }
  // What waits for the wall clock.
  struct Held {
    Instant since;           // trusted time
    std::size_t frames = 0;  // that are here; the feeder may have more
    Instant observed_from;   // the times that they claim
    Instant observed_to;
  };
  [[nodiscard]] std::optional<Held> held() const;
  // Frames that were dropped since the start because a wrong clock made them.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  // Whether the books lack what was dropped and the feeder should begin anew, with a snapshot. Once a session.
  [[nodiscard]] bool take_snapshot_request(Instant now);
  // Whether the books hold what the feeder had when this session began: it sends its backlog first, then a snapshot.
  [[nodiscard]] bool caught_up() const { return caught_up_ && inbox_.empty(); }

 private:
  struct Snapshot {
    std::set<JobId> jobs;
    std::set<std::string, std::less<>> nodes;
    std::optional<Instant> known_until;  // before the snapshot, or later if a feeder scanned
  };
  // What the last record of a job said of its restarts: a jump without a run in the books is a lost run.
  struct Seen {
    std::uint32_t restart_count = 0;
    std::int64_t submit_time = 0;
  };
  template <typename Record>
  struct Unsettled {
    Record record;
    Instant observed_at;
  };

  // False: the portion ended before the frame did.
  [[nodiscard]] Expected<bool> read(const protocol::SnapshotBegin& frame, Instant at, Instant now);
  [[nodiscard]] Expected<bool> read(const protocol::Observations& frame, Instant at, Instant now);
  [[nodiscard]] Expected<bool> read(const protocol::SnapshotEnd& frame, Instant at, Instant now);
  // Reads one kind of a frame's items, of which `begin` others come before, from the cursor on.
  template <typename Items, typename Read>
  [[nodiscard]] Expected<bool> read_items(const Items& items, std::size_t begin, const Read& read_one);
  // Commits what the frame said of nodes, and notes their kinds.
  [[nodiscard]] Expected<void> learn_nodes(Instant now);
  [[nodiscard]] Expected<void> read_job(const protocol::JobRecord& as_sent, Instant observed_at, Instant now);
  [[nodiscard]] Expected<void> read_gone(JobId job, Instant last_alive, Departure departure, Instant now);
  [[nodiscard]] Departure departure_at(Instant snapshot_at) const;
  [[nodiscard]] Instant alive_before_snapshot(JobId job) const;
  // States in the batch which runs slurmctld has lost.
  void tell_of_loss(Instant at);
  [[nodiscard]] Expected<void> read_node(const protocol::NodeRecord& record, Instant observed_at, Instant now);
  [[nodiscard]] Expected<void> read_gone_node(const std::string& node, Instant observed_at, Instant now);
  // Reads what the books lack about the nodes that waiting jobs may use, once a whole snapshot was seen.
  [[nodiscard]] Expected<void> read_placements(Instant observed_at, Instant now);
  [[nodiscard]] Expected<void> flush(Instant now);
  [[nodiscard]] Expected<void> flush_before(JobId job, Instant now);
  [[nodiscard]] Expected<void> flush_before_node(const std::string& node, Instant now);
  [[nodiscard]] std::optional<Instant> known_before(Instant observed_at) const;
  [[nodiscard]] Instant surely_scanned(Instant at) const;
  [[nodiscard]] Instant last_alive(Instant observed_at) const;
  [[nodiscard]] std::optional<Instant> last_change(const std::string& node) const;
  void take(Observation observation);
  void take_node(const std::string& node, Instant observed_at, Observation observation);
  void count_lost_runs(const protocol::JobRecord& record);
  void count_runs_within_gap(const protocol::JobRecord& record);
  void tell_of_gap(Instant at);
  [[nodiscard]] std::optional<KnownRun> find_run(JobId job, Instant start) const;
  void complete(std::uint64_t sequence, Instant observed_at);
  [[nodiscard]] Expected<bool> read_frame(const FeederFrame& frame, Instant at, Instant now);
  [[nodiscard]] Expected<bool> read_mistimed(const FeederFrame& frame, Duration ahead, Instant now);
  void drop(const FeederFrame& frame, Instant now);
  void tell_of_mistimed(Instant now);

  Books& books_;
  const ReadingRules& rules_;
  Limits limits_;

  std::uint64_t instance_ = 0;
  Duration interval_;
  Duration min_job_age_;
  std::deque<FeederFrame> inbox_;
  std::size_t cursor_ = 0;   // items of the first frame that are done
  std::size_t portion_ = 0;  // items that may still be read in this call
  bool unfinished_ = false;
  bool in_session_ = false;
  bool caught_up_ = false;  // a whole snapshot of this session was read
  std::optional<Snapshot> snapshot_;
  std::optional<protocol::Observations> absent_;  // what the end of a snapshot showed to be gone

  std::vector<accounting::Event> batch_;
  std::set<JobId> batch_jobs_;
  std::set<std::string, std::less<>> batch_nodes_;
  std::optional<std::vector<accounting::CapacityChanged>> node_kinds_;  // what waiting jobs could run on; charging.hpp
  Placements placements_;
  std::uint64_t batch_sequence_ = 0;                     // last frame wholly in the batch
  std::map<std::uint64_t, std::uint64_t> acknowledged_;  // by instance

  // Observation time of the last complete frame, and of the scan before it: one scan may come in several frames.
  std::optional<Instant> known_until_;
  std::optional<Instant> known_earlier_;
  LastLook last_look_;
  LostRuns lost_;  // that no event tells of yet
  std::map<JobId, Unsettled<protocol::JobRecord>> unsettled_jobs_;
  std::map<std::string, Unsettled<protocol::NodeRecord>> unsettled_nodes_;
  std::unordered_map<JobId, Seen> seen_;
  std::map<std::string, Instant, std::less<>> node_changes_;
  std::uint64_t lost_runs_ = 0;

  ObservationWatch watch_;
  Quarantine quarantine_;
  Instant told_at_ = k_beginning_of_time;
  std::uint64_t dropped_ = 0;
  std::optional<Instant> gap_since_;  // the last frame was dropped then, and no whole snapshot was read since
  bool snapshot_requested_ = false;
};

}  // namespace shapley::daemon
