// The feeder's side of the books: turns frames into events, and commits them in groups.
//
// Frames wait in the inbox until process() reads them against the books. Events of many frames are committed together;
// a record of a job that already has events in the batch forces a commit first, because the observer compares with
// books that hold everything before it. When a commit fails (disk full), processing stops, no frame is acknowledged,
// and the next process() continues: accepting() is false meanwhile, so that the server stops reading. The same holds
// while the next frame waits because of the clock (admission.hpp). A call reads only a portion of the records, so
// that one frame of a hundred thousand records does not block the thread for seconds. Single-threaded; time is passed
// in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/admission.hpp"
#include "daemon/books/books.hpp"
#include "daemon/books/losses.hpp"
#include "daemon/observer/observer.hpp"
#include "daemon/observer/usable_nodes.hpp"
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

  // Starts of jobs that a wrong clock put after the end of its gap, for as long as slurmctld has these jobs. When their
  // time comes, nothing else shows that they are wrong.
  using WrongStarts = std::map<JobId, Instant>;
  // What another process, which has ended, knew of the clock.
  struct Resumed {
    std::optional<TrustedClock::Doubt> doubt;  // that it ended in
    WrongStarts wrong_starts;
  };

  // `books` and `rules` must outlive the intake. `last_observed`: the instant until which the books are known to be
  // complete.
  Intake(Books& books, const ReadingRules& rules, std::optional<Instant> last_observed, Limits limits,
         Resumed resumed = {});

  // Begins a feeder's session on one connection. `interval`: the longest time between two of its scans; `min_job_age`:
  // the time for which slurmctld keeps the record of a job that ended, 0: unknown. `observing`: the times that it
  // reports to have observed.
  void begin_session(std::uint64_t instance, Duration interval, Duration min_job_age, const Observing& observing = {});
  void end_session();

  // Sets the state of the wall clock. Call before process().
  void note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds) {
    admission_.note_clock(doubt, grounds);
  }
  // Takes over what `before`, which reads no more, knew of the clock.
  void continue_clock(const Intake& before) {
    admission_ = before.admission_;
    if (known_until_) admission_.note_read(*known_until_);
    wrong_starts_ = before.wrong_starts_;
  }
  [[nodiscard]] const WrongStarts& wrong_starts() const { return wrong_starts_; }
  // Whether the wall clock was wrong, and no whole snapshot was read since it is right again.
  [[nodiscard]] bool is_after_wrong_clock() const { return admission_.awaits_snapshot() || is_after_drop_; }

  void receive(FeederFrame frame);
  [[nodiscard]] bool accepting() const { return inbox_.size() < limits_.inbox_frames; }

  // Reads a portion of the inbox against the books and commits the resulting events. Errors: the commit failed; call
  // again later.
  [[nodiscard]] Expected<void> process(Instant now);
  // Processes the whole inbox, however long that takes.
  [[nodiscard]] Expected<void> process_all(Instant now);
  // Whether the last call ended at the end of its portion, so that it has to be called again after other work.
  [[nodiscard]] bool is_unfinished() const { return unfinished_; }

  // The highest sequence number of this instance whose observations are durable; 0: none.
  [[nodiscard]] std::uint64_t acknowledged(std::uint64_t instance) const;

  // Re-processes ambiguous records (of the same second as the books) one second later, unless newer ones arrived.
  [[nodiscard]] Expected<void> retry_unsettled(Instant now);

  // The observation time of the newest frame that was read.
  [[nodiscard]] std::optional<Instant> last_observation() const { return known_until_; }
  // The instant of the last look at slurmctld's records that an earlier process recorded beside the ledger. Where a gap
  // ended later, that process ended before the whole snapshot after the gap was in the ledger: of jobs that are absent
  // nothing is known since the gap began. Not with two controllers: the other one may have read a snapshot since.
  void resume_look(Instant until, bool is_only_controller);
  [[nodiscard]] const std::optional<Instant>& scanned_until() const { return last_look_.scanned_until(); }
  // Runs that Slurm's counts of restarts imply and that the books lack, since the start.
  [[nodiscard]] std::uint64_t lost_runs() const { return restarts_.missing(); }
  [[nodiscard]] bool in_snapshot() const { return snapshot_.has_value(); }
  // The messages that wait for the wall clock.
  struct Held {
    Instant since;           // trusted time
    std::size_t frames = 0;  // messages here; the feeder may have more
    Instant observed_from;   // the times that they claim
    Instant observed_to;
  };
  [[nodiscard]] std::optional<Held> held() const;
  // The number of frames that were dropped since the start because they were made under a wrong clock.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  // Whether the feeder should begin again with a snapshot, because the wall clock was wrong. True at most once a
  // session.
  [[nodiscard]] bool take_snapshot_request();
  // The nodes of the feeder's session that jobs cannot use now and that may come back (SessionNodes::away).
  [[nodiscard]] const accounting::NodeNames& away() const { return session_nodes_.away(); }
  // Whether the books contain everything that the feeder had when this session began: it sends its backlog first, then
  // a snapshot.
  [[nodiscard]] bool caught_up() const { return caught_up_ && inbox_.empty(); }

 private:
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
  // Commits the frame's changes of nodes, and updates the kinds of nodes.
  [[nodiscard]] Expected<void> learn_nodes(Instant now);
  [[nodiscard]] Expected<void> read_job(const protocol::JobUpdate& as_sent, Instant observed_at, Instant now);
  [[nodiscard]] Expected<Observation> observe(const protocol::JobUpdate& record, Instant observed_at, Instant now);
  [[nodiscard]] std::optional<Instant> reliable_since(Instant observed_at) const;
  [[nodiscard]] Expected<void> read_gone(JobId job, Instant last_alive, Departure departure, Instant now);
  // Reads the jobs that the books have and the snapshot of `at` lacks.
  [[nodiscard]] Expected<void> read_absent(Instant at, Instant now);
  [[nodiscard]] Expected<void> read_node(const protocol::NodeRecord& record, Instant observed_at, Instant now);
  [[nodiscard]] Expected<void> read_gone_node(const std::string& node, Instant observed_at, Instant now);
  // Reads the nodes that waiting jobs may use, as far as the books lack them, once a whole snapshot was read.
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
  void book_gap(const std::optional<accounting::ObservationGap>& gap);
  // The time since the scan before, in which a run began and was requeued.
  void book_between_scans(Instant observed_at);
  // Books that a wrong clock's time, of which nothing was read, goes on until then.
  [[nodiscard]] bool is_of_wrong_clock(Instant reported) const;
  void book_wrong_clock(Instant until);
  void note_wrong_clock(Instant begin, Instant end);
  void complete(std::uint64_t sequence, Instant observed_at);
  [[nodiscard]] Expected<bool> read_frame(const FeederFrame& frame, Instant now);
  void drop(const FeederFrame& frame, Instant now);

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
  bool caught_up_ = false;            // a whole snapshot of this session was read
  std::optional<Instant> whole_at_;   // of that, until it is in the ledger
  std::optional<Snapshot> snapshot_;  // that has begun

  std::vector<accounting::Event> batch_;
  std::set<JobId> batch_jobs_;
  std::set<std::string, std::less<>> batch_nodes_;
  std::optional<std::vector<NodeKind>> node_kinds_;  // the kinds of nodes in the books; charging.hpp
  SessionNodes session_nodes_;
  std::uint64_t batch_sequence_ = 0;                     // last frame that is completely in the batch
  std::map<std::uint64_t, std::uint64_t> acknowledged_;  // by instance

  // Observation time of the last complete frame, and of the scan before it: one scan may come in several frames.
  std::optional<Instant> known_until_;
  std::optional<Instant> known_earlier_;
  LastLook last_look_;
  LostRuns lost_;  // that are in no event yet
  std::map<JobId, Unsettled<protocol::JobUpdate>> unsettled_jobs_;
  std::map<std::string, Unsettled<protocol::NodeRecord>> unsettled_nodes_;
  RestartCounts restarts_;
  std::map<std::string, Instant, std::less<>> node_changes_;

  ObservationWatch watch_;
  std::optional<accounting::ObservationGap> between_scans_;  // the last one
  Admission admission_;
  std::optional<WrongClock> wrong_clock_;  // the last one
  WrongStarts wrong_starts_;
  std::uint64_t dropped_ = 0;
  bool is_dropping_ = false;    // a frame of this session was dropped
  bool is_after_drop_ = false;  // a frame was dropped, and no whole snapshot was read since
  bool snapshot_requested_ = false;
};

}  // namespace shapley::daemon
