// One run of one job as the books hold it, and the segments that are still missing, as events.
//
// A run is known by its start time (the anchor of its segments' keys). The writer reads the run's segments from the
// State, lets its user ask for run seconds, and emits events for what it is told to add; its own view includes what it
// emitted, so several steps can build on each other before anything is applied. Only mark_end emits a segment without
// length, and ordinals only count up. Pure; lives for one observation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/int128.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

// A segment of a long run that the State has forgotten, because it ended before its horizon; the ledger knows it. (A
// run goes on after weeks of suspension, and its seconds are counted from its start.)
struct PastSegment {
  std::uint32_t ordinal = 0;
  Instant begin;
  std::optional<Instant> end;
  std::string organization;
  bool retracted = false;
};

class RunWriter {
 public:
  struct Run {
    JobId job;
    Instant start;
    std::string organization;                        // used for a run that the books do not know yet
    std::string placement = {};                      // likewise: which nodes its request could have used
    std::optional<Instant> released = std::nullopt;  // likewise: since when it could have started
    JobId waited_as = {};                            // as of accounting::SegmentOpened
    std::vector<accounting::NodeShare> shares = {};  // where it runs now, after the last resize
    std::optional<Instant> resized = std::nullopt;   // when `shares` replaced what it had before
    std::string job_state = {};                      // Slurm's word, for the events
  };

  // `past`: segments of this run; those that the State knows, too, are ignored.
  RunWriter(const accounting::State& state, const std::vector<PastSegment>& past, Run run,
            std::vector<accounting::Event>& out);

  [[nodiscard]] bool known() const { return !segments_.empty(); }
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] Instant open_begin() const;                 // REQUIRES: is_open()
  [[nodiscard]] std::optional<Instant> last_edge() const;   // latest begin, end or retraction in the books
  [[nodiscard]] std::optional<Instant> latest_end() const;  // latest end of a closed segment

  // Run seconds in [from, to), an open segment taken as running through `to`.
  [[nodiscard]] Duration seconds_within(Instant from, Instant to) const;
  // What its segments that the State knows hold up to `to`, in millionths of processor-seconds.
  [[nodiscard]] Int128 work_until(Instant to) const;

  // Ends the open segment at max(end, its begin). REQUIRES: is_open().
  void close(Instant end, accounting::CloseReason reason);
  // Begins an open segment with the present shares. REQUIRES: !is_open().
  void open(Instant begin);
  // Cuts the open segment at the time of the resize if it still has other shares than the run has now.
  void apply_resize(Instant observed_at);
  // Adds `seconds` of running in the gaps of [from, to): the latest gap first, from each gap's begin on. The latest gap
  // is where nothing is known yet; earlier ones were seen as suspensions. Returns what found no room.
  Duration fill(Instant from, Instant to, Duration seconds, accounting::CloseReason reason);
  // Retracts `seconds` of running in [from, to) from closed segments, the latest first; what is left of a segment is
  // stated anew. For what slurmctld forgot. Segments that the State has forgotten stay.
  void retract_seconds(Instant from, Instant to, Duration seconds, Instant at, accounting::CloseReason reason);
  // The same for all that closed segments hold after `last`; an open one that begins after it is retracted, too.
  void retract_after(Instant last, Instant at, accounting::CloseReason reason);
  // Without a second there: the run went on to `end` though the last ones, or all of them, were suspended. No effect
  // where that is known.
  void mark_end(Instant end, accounting::CloseReason reason);
  // Whether the run holds a node, without a resize, that the books do not have for it, or more of a node: then theirs
  // is another run, which began in the very same second and which slurmctld forgot. The record of a run that is not
  // live may give the CPUs of one node to another, so there a node's CPUs count only where nodes are fewer.
  [[nodiscard]] bool is_elsewhere(bool is_live) const;
  // The books hold a run that Slurm's own do not: retracts every segment.
  void retract(Instant at);

 private:
  struct Segment {
    accounting::SegmentKey key;
    Instant begin;
    std::optional<Instant> end;
    std::vector<accounting::NodeShare> shares;
  };

  [[nodiscard]] static bool is_open_segment(const Segment& segment) { return !segment.end; }
  void remember(const accounting::State& state);
  void remember(const std::vector<PastSegment>& past);
  [[nodiscard]] const Segment* open_segment() const;
  [[nodiscard]] const std::vector<accounting::NodeShare>& shares_before_resize() const;
  [[nodiscard]] bool is_first(Instant begin) const;
  [[nodiscard]] bool resized_within(Instant from, Instant to) const;
  void add(Instant begin, std::optional<Instant> end, accounting::CloseReason reason,
           const std::vector<accounting::NodeShare>& shares);
  void emit(Instant begin, std::optional<Instant> end, accounting::CloseReason reason,
            const std::vector<accounting::NodeShare>& shares);
  void retract(const Segment& segment, Instant at);
  void add_closed(Instant begin, Instant end, accounting::CloseReason reason);

  Run run_;
  std::vector<accounting::Event>& out_;
  std::vector<Segment> segments_;        // by begin
  std::optional<Instant> retracted_at_;  // when a segment of this run was last retracted
  std::uint32_t next_ordinal_ = 0;
};

}  // namespace shapley::daemon
