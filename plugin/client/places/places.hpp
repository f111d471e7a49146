// The places of the jobs that wait: what one scan saw of them, and which of them need another label.
//
// A scan passes every job that waits for its priority and every job that holds processors. At its end the serving line
// is made from the leads that the daemon sent, and the labels (labels.hpp) that jobs carry in their site factors are
// compared with it. Nothing else is remembered of labels: they are in slurmctld's records, and survive a restart there.
//
// Labels below the number of organizations are for jobs that are not in line, because what goes before them in their
// own organization is more than the cluster has, or because they could not start: one label for each organization. The
// order of these labels follows the ranks with a delay that grows with their number, because each change of it is a
// change of all those jobs.
//
// Leads are as old as what the daemon has acknowledged. What its organization started and what ended since is made up
// for by what the scans saw (`used_`), so that a start is not counted twice or not at all.
//
// The scanning thread's, apart from reflect().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "plugin/client/places/labels.hpp"
#include "plugin/client/places/serving_line.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

// What the organizations were ranked by, by their index in the table of ranks.
struct Ranking {
  std::uint64_t membership = 0;  // changes when the indices may mean other organizations
  std::vector<Contender> contenders;
};

class Places {
 public:
  // At the beginning of a whole scan. Scans of both kinds have rising numbers. `labels`: how many there are room for;
  // `reach`: processors that could start at once if everything were free; `now_ms`: monotonic.
  void begin(std::uint64_t scan, Ranking ranking, std::uint32_t labels, std::int64_t reach, std::int64_t now_ms);

  void add(const shapley_waiting_t& waiting);
  // The same as in an earlier scan but for the order and the label. False: it is not known, so that add() is due.
  [[nodiscard]] bool add_again(std::uint32_t job_id, std::int64_t own_order, std::uint32_t level, std::uint32_t label);
  void hold(std::uint32_t job_id, std::uint32_t organization, std::uint32_t processors);

  // Which jobs get another label, and which records of arrays are to be split. `complete`: every record was passed;
  // otherwise nothing changes. Valid until the next begin().
  struct Decisions {
    std::vector<shapley_place_t> labels;
    std::vector<shapley_array_split_t> splits;
    std::size_t in_line = 0;
    std::size_t looked_at = 0;  // places from the first on that are right by now
    std::uint64_t events = 0;   // starts and ends since the scan before
    bool cut = false;           // there was no room for all places
  };
  [[nodiscard]] const Decisions& end(bool complete);

  // A scan of runs: hold() is called for each, and nothing is decided.
  void begin_runs(std::uint64_t scan);
  void end_runs();

  // Whether the line should be looked at as a whole now, because nothing started or ended for a while. Monotonic time.
  [[nodiscard]] bool is_due(std::int64_t now_ms) const;

  // Any thread: the daemon's leads reflect what was seen up to this scan.
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
  std::int64_t interval_ms_ = 0;  // between events, on average of late
  bool whole_is_due_ = true;
  bool unfinished_ = false;  // something behind the depth may be out of order
  Decisions decisions_;
  std::atomic<std::uint64_t> reflected_{0};
};

}  // namespace shapley::client
