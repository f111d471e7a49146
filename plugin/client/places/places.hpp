// The places of waiting jobs: what one scan found about them, and which of them need another label.
//
// A scan passes every job that waits for its priority and every job that holds processors. At its end the serving line
// is made from the leads that the daemon sent, and the labels (relabel) that jobs carry in their site factors are
// compared with it. Nothing else is remembered of labels: they are in slurmctld's records, and survive a restart there.
//
// Labels below the number of organizations, one for each organization, are for jobs that are not in line, because the
// jobs before them in their own organization need more than the cluster has, or because they could not start. The order
// of these labels follows the ranks with a delay that grows with the number of those jobs, because each change of it
// changes all of them.
//
// Leads are as old as what the daemon has acknowledged. What its organizations started and what ended since is taken
// from the scans (`used_`), so that a start is neither counted twice nor missed.
//
// Used by the scanning thread only, except for reflect().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/client/shapley_client.h"

namespace shapley::client {

// Places as numbers that seldom change.
//
// Slurm orders jobs by numbers, and a job's number is written under slurmctld's job lock. The place of every waiting
// job changes with every start and end, so places are labels: whole numbers with gaps between them, the greatest first,
// and only a job whose order among its neighbours is wrong gets another one. Labels below `first` are not for places:
// jobs that are not in line have them (Places).
//
// The order behind the first `depth` places is left as it was computed earlier. `depth_after` chooses the depth so that
// the front of the line is right after every start and end, and places further back are corrected the less often the
// further back they are: with n in line some log2(n) / 8 labels are written for each start or end, besides the one that
// each job gets when it comes into line. Pure functions.

inline constexpr std::uint32_t k_no_label = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t k_whole_line = std::numeric_limits<std::size_t>::max();

struct LabelRange {
  std::uint32_t first = 0;  // the least label for a place
  std::uint32_t end = 0;    // one more than the greatest; first <= end
};

// New labels for a line. `line`: the labels that the jobs have, in the order in which they should be served; one
// outside the range does not count. In the result every job has one. In order are: the first `depth` jobs, jobs among
// them by their old labels, and those without a label, together with all that could keep their labels; the other jobs
// have their old ones. As many as possible keep theirs.
// REQUIRES: twice as many labels in the range as there are in line.
[[nodiscard]] std::vector<std::uint32_t> relabel(std::span<const std::uint32_t> line, LabelRange range,
                                                 std::size_t depth);

// The least label of those in order after relabel(..., depth): another job with a higher label is among them.
[[nodiscard]] std::uint32_t boundary(std::span<const std::uint32_t> labels, std::size_t depth);

// How deep the line is corrected after the events with numbers (before, now]: starts and ends, from the first.
[[nodiscard]] std::size_t depth_after(std::uint64_t before, std::uint64_t now);

// The order in which the rule, applied again after every start, would serve the jobs that could start.
//
// Starting q processors of an organization lowers its lead by q and what it lacks to its guarantee by q
// (game/serving_order.hpp). So each job's place needs only its own organization's figures. With cum(j) the processors
// that jobs of the same organization ask for that go before j,
//
//     below(j) = cum(j) < lacking          (used + cum(j) < guarantee * owned)
//     order:     below before not below; within each by lead - cum(j), greatest first; ties by rank
//
// A job that is wider than what is free counts where it begins, as in start-time fair queueing. A job whose nodes are
// not available at present (a partition that is down, a reservation for maintenance) has a place for later, but counts
// only before others of that kind: it must not delay what could start now. Pure functions.

// One organization with its rank figures from the daemon.
struct Contender {
  std::uint32_t rank = 0;    // 0 is served first
  std::int64_t lead = 0;     // processors that it may start more than the one that owes most
  std::int64_t lacking = 0;  // processors that it lacks to its guarantee
};

// The request of one job, or of one record of an array's waiting tasks.
struct Asking {
  std::uint32_t job = 0;        // the caller's index
  std::int64_t processors = 1;  // of one task, > 0
  std::uint32_t tasks = 1;      // > 0
  bool nodes_available = true;
};

struct LinePlace {
  std::uint32_t job = 0;
  std::uint32_t organization = 0;
  // The number of tasks of an array's record in line, of which the first one is here; and whether jobs of other
  // organizations are between them.
  std::uint32_t tasks = 1;
  bool parted = false;
};

// `queues`: by organization, each in Slurm's own order. The line ends where its processors reach `reach`, or with
// `longest` places. Time: n log n of the tasks in the queues, of each queue as far as `reach`.
[[nodiscard]] std::vector<LinePlace> serving_line(std::span<const Contender> contenders,
                                                  std::span<const std::vector<Asking>> queues, std::int64_t reach,
                                                  std::size_t longest);

// The ranking of the organizations, by their index in the table of ranks.
struct Ranking {
  std::uint64_t membership = 0;  // changes when the indices may mean other organizations
  std::vector<Contender> contenders;
};

class Places {
 public:
  // Call it at the begin of a whole scan. The numbers of scans of both kinds increase. `labels`: how many fit; `reach`:
  // processors that could start at once if everything were free; `now_ms`: monotonic.
  void begin(std::uint64_t scan, Ranking ranking, std::uint32_t labels, std::int64_t reach, std::int64_t now_ms);

  void add(const shapley_waiting_t& waiting);
  // The job equals its state in an earlier scan, except for the order and the label. False: not known; call add().
  [[nodiscard]] bool add_again(std::uint32_t job_id, std::int64_t own_order, std::uint32_t level, std::uint32_t label);
  void hold(std::uint32_t job_id, std::uint32_t organization, std::uint32_t processors);

  // The jobs that get another label, and the records of arrays that are split. `complete`: every record was passed;
  // otherwise nothing changes. Valid until the next begin().
  struct Decisions {
    std::vector<shapley_place_t> labels;
    std::vector<shapley_array_split_t> splits;
    std::size_t in_line = 0;
    std::size_t looked_at = 0;  // number of places, from the first on, that are right now
    std::uint64_t events = 0;   // starts and ends since the scan before
    bool cut = false;           // there were not enough labels for all places
  };
  [[nodiscard]] const Decisions& end(bool complete);

  // Begins a scan of runs: hold() is called for each, and nothing is decided.
  void begin_runs(std::uint64_t scan);
  void end_runs();

  // Whether the whole line should be corrected now, because nothing started or ended for a while. Monotonic time.
  [[nodiscard]] bool is_due(std::int64_t now_ms) const;

  // Any thread: the daemon's leads include what was seen up to this scan.
  void reflect(std::uint64_t scan) { reflected_.store(scan, std::memory_order_relaxed); }

 private:
  struct Job {
    shapley_waiting_t waiting{};
    std::uint64_t scan = 0;  // that saw it last
  };
  struct Run {
    std::uint32_t job_id = 0;
    std::uint32_t organization = 0;
    std::uint32_t processors = 0;
    friend auto operator<=>(const Run&, const Run&) = default;
  };
  struct Used {
    std::uint64_t scan = 0;
    std::vector<std::int64_t> processors;  // by organization
  };

  void count_events();
  const std::vector<std::int64_t>& note_used();
  void correct_leads();
  [[nodiscard]] bool is_rest_far_off() const;
  void order_rest();
  void forget_gone();
  void decide();
  [[nodiscard]] std::size_t depth();

  std::unordered_map<std::uint32_t, Job> jobs_;
  std::vector<const shapley_waiting_t*> waiting_;
  std::vector<Run> runs_, runs_before_;
  std::deque<Used> used_;
  std::uint64_t membership_ = 0;
  Ranking ranking_;
  std::uint64_t scan_ = 0;
  std::uint32_t labels_ = 0;
  std::int64_t reach_ = 0;
  std::int64_t now_ms_ = 0;
  std::vector<std::uint32_t> rest_label_;  // by organization
  std::int64_t rest_ordered_ms_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t events_looked_at_ = 0;
  std::int64_t last_event_ms_ = 0;
  std::int64_t interval_ms_ = 0;  // between events, a recent average
  bool whole_is_due_ = true;
  bool unfinished_ = false;  // something behind the depth may be out of order
  Decisions decisions_;
  std::atomic<std::uint64_t> reflected_{0};
};

}  // namespace shapley::client
