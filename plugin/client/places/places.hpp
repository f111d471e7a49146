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
// Leads are as old as what the daemon has acknowledged. What its organizations started and what ended since, and on
// whose nodes, is taken from the scans (`used_`), so that a start is neither counted twice nor missed.
//
// Used by the scanning thread only, except for reflect().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/client/places/line.hpp"
#include "plugin/client/requests/requests.hpp"
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

// How deep the line is corrected after the events with numbers (before, now]: starts and ends, from the first.
[[nodiscard]] std::size_t depth_after(std::uint64_t before, std::uint64_t now);

// The ranking of the organizations, by their index in the table of ranks.
struct Ranking {
  std::uint64_t membership = 0;  // changes when the indices may mean other organizations
  std::vector<Contender> contenders;
  std::shared_ptr<const NodeOwners> owners = std::make_shared<const NodeOwners>();  // by these indices
};

class Places {
 public:
  // `requests` outlives it: what waiting jobs ask for, and what is free, as of the end of a scan. It gets the owners of
  // nodes.
  explicit Places(Requests& requests) : requests_(requests) {}

  // Call it at the begin of a whole scan. The numbers of scans of both kinds increase. `labels`: how many fit; `reach`:
  // processors that could start at once if everything were free; `now_ms`: monotonic. What contenders run need not be
  // filled.
  void begin(std::uint64_t scan, Ranking ranking, std::uint32_t labels, std::int64_t reach, std::int64_t now_ms);

  void add(const shapley_waiting_t& waiting);
  // The job equals its state in an earlier scan, except for the order and the label. False: not known; call add().
  [[nodiscard]] bool add_again(std::uint32_t job_id, std::int64_t own_order, std::uint32_t level, std::uint32_t label);
  // age_s: for how many seconds it has run.
  void hold(std::uint32_t job_id, std::uint32_t organization, std::int64_t age_s);

  // The jobs that get another label, and the records of arrays that are split. `complete`: every record was passed;
  // otherwise nothing changes. Valid until the next begin().
  struct Decisions {
    std::vector<shapley_place_t> labels;
    std::vector<shapley_array_split_t> splits;
    std::vector<std::uint32_t> split_labels;  // of all splits, to which these point
    std::size_t in_line = 0;
    std::size_t looked_at = 0;  // number of places, from the first on, that are right now
    std::uint64_t events = 0;   // starts and ends since the scan before
    bool cut = false;           // there were not enough labels for all places
  };
  [[nodiscard]] const Decisions& end(bool complete);
  [[nodiscard]] const Decisions& decisions() const { return decisions_; }

  // Begins a scan of runs: hold() is called for each.
  void begin_runs(std::uint64_t scan, Ranking ranking, std::int64_t now_ms);
  void end_runs();
  // After a scan of runs, if something started or ended since the last decisions: places among the jobs that waited at
  // the last whole scan and have not started. No array is split.
  [[nodiscard]] const Decisions& decide_by_runs();

  // Whether the whole line should be corrected now, because nothing started or ended for a while, ever more seldom.
  // Monotonic time.
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
    std::int64_t age_s = 0;
    std::int64_t charge = 0;  // as in Measure
    std::int64_t blocked = 0;
    friend auto operator<=>(const Run&, const Run&) = default;
  };
  // By one organization.
  struct Use {
    Measure held{};
    Measure given{};  // on its nodes, by runs of any organization
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct Used {
    std::uint64_t scan = 0;
    std::vector<Use> by;      // organization
    std::int64_t usable = 0;  // processors of all usable nodes, in millionths
  };
  // What the line says of one job or record of an array.
  struct InLine {
    shapley_waiting_t* waiting = nullptr;
    NodeSetId nodes = 0;
    std::int64_t blocked = 0;         // by one task
    std::uint32_t tasks = 0;          // in line
    std::uint32_t places = 0;         // runs of consecutive tasks
    std::uint32_t in_last = 0;        // tasks of the last run
    std::size_t first = 0, last = 0;  // index of the first and the last run
    std::uint32_t split = 0;          // tasks that get records of their own
    std::uint32_t passed = 0;
  };
  // A place that gets a label: a job or record, or a task that gets a record.
  struct Entry {
    std::uint32_t job = 0;  // index in in_line_
    bool is_split = false;
  };

  void count_events();
  void measure_runs();
  void take(Ranking ranking);
  const std::vector<Use>& note_used();
  void correct_leads();
  [[nodiscard]] bool is_rest_far_off() const;
  void order_rest();
  void forget_gone();
  void forget_started();
  [[nodiscard]] std::vector<OwnQueue> own_queues(const NodeSetTable& sets, std::size_t longest);
  void keep_parts_together(std::vector<LinePlace>& line) const;
  void choose_splits(std::span<const LinePlace> line);
  [[nodiscard]] std::vector<Entry> entries(std::span<const LinePlace> line);
  void keep_own_order(std::span<const Entry> entries, const NodeSetTable& sets,
                      std::vector<std::uint32_t>& labels) const;
  [[nodiscard]] Room room_now(const NodeSetTable& sets) const;
  void take_labels(std::span<const Entry> in_line, std::span<const std::uint32_t> wanted);
  void decide();
  [[nodiscard]] bool waits_for_nodes(const Entry& entry) const;
  // After starts and ends, what waits for nodes does not count.
  [[nodiscard]] bool counts_in_depth(const Entry& entry) const;
  // How many of the first places that count are to be right.
  [[nodiscard]] std::size_t depth(std::span<const Entry> in_line);
  // The labels of all in line, of which the first ones are new.
  [[nodiscard]] std::vector<std::uint32_t> put_in_order(std::span<const Entry> in_line, LabelRange range);
  [[nodiscard]] bool is_quiet(std::int64_t now_ms) const;

  Requests& requests_;
  std::unordered_map<std::uint32_t, Job> jobs_;
  std::vector<shapley_waiting_t*> waiting_;
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
  std::uint64_t events_at_rest_order_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t events_looked_at_ = 0;
  std::int64_t last_event_ms_ = 0;
  std::int64_t last_end_ms_ = 0;
  std::int64_t interval_ms_ = 0;  // between ends, a recent average
  std::int64_t whole_ms_ = 0;     // when the whole line was corrected
  // Of what ended since the whole line was corrected, as much as what started since has not taken.
  std::int64_t freed_ = 0;
  bool changed_hands_ = false;  // nodes, since the last scan
  bool is_of_runs_ = false;     // the scan
  bool whole_is_due_ = true;
  bool unfinished_ = false;      // something behind the depth may be out of order
  std::vector<InLine> in_line_;  // of the decision that is being made
  Decisions decisions_;
  std::atomic<std::uint64_t> reflected_{0};
};

}  // namespace shapley::client
