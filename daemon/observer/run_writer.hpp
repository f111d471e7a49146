// One run of one job in the books, and the missing segments as events.
//
// A run is known by its start time (the anchor of its segments' keys). The writer reads the run's segments from the
// State, lets its user ask for run seconds, and emits events for what is added; its own view includes what it
// emitted, so several steps can build on each other before anything is applied. Only mark_end emits a segment without
// length, and ordinals only count up. Pure; lives for one observation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

// The segments of a job's runs and of its waits that count in the books, ascending by key. Pointers hold as State's do.
[[nodiscard]] std::vector<const accounting::LiveSegment*> runs_of(const accounting::State& books, JobId job);
[[nodiscard]] std::vector<const accounting::LiveSegment*> waits_of(const accounting::State& books, JobId job);

// A segment of a long run that is no longer in the State, because it ended before its memory horizon, but is in the
// ledger. (A run may continue after weeks of suspension, and its seconds are counted from its start.)
struct PastSegment {
  std::uint32_t ordinal = 0;
  Instant begin;
  std::optional<Instant> end;
  std::string organization;
  bool retracted = false;
};

class RunWriter {
 public:
  struct Observed {
    JobId job;
    Instant start;
    std::string organization;                        // for a run that is not in the books yet
    std::string placement = {};                      // likewise: which nodes its request could have used
    std::optional<Instant> released = std::nullopt;  // likewise: since when it could have started
    JobId waited_as = {};                            // as of accounting::SegmentOpened
    std::vector<accounting::NodeShare> shares = {};  // where it runs now, after the last resize
    std::optional<Instant> resized = std::nullopt;   // when `shares` replaced what it had before
    std::string job_state = {};                      // as Slurm calls it, for the events
  };

  // `past`: segments of this run; those that the State knows, too, are ignored.
  RunWriter(const accounting::State& state, const std::vector<PastSegment>& past, Observed run,
            std::vector<accounting::Event>& out);

  [[nodiscard]] bool known() const { return !segments_.empty(); }
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] Instant open_begin() const;                 // REQUIRES: is_open()
  [[nodiscard]] std::optional<Instant> last_edge() const;   // latest begin, end or retraction in the books
  [[nodiscard]] std::optional<Instant> latest_end() const;  // latest end of a closed segment

  // Run seconds in [from, to), an open segment taken as running through `to`.
  [[nodiscard]] Duration seconds_within(Instant from, Instant to) const;
  // The work of its segments in the State up to `to`, in millionths of processor-seconds.
  [[nodiscard]] Int128 work_until(Instant to) const;

  // Ends the open segment at max(end, its begin). REQUIRES: is_open().
  void close(Instant end, accounting::CloseReason reason);
  // Begins an open segment with the present shares. REQUIRES: !is_open().
  void open(Instant begin);
  // Cuts the open segment at the time of the resize if it still has other shares than the run has now.
  void apply_resize(Instant observed_at);
  // Adds `seconds` of running in the gaps of [from, to): the latest gap first, from each gap's begin on. In the latest
  // gap nothing is known yet; earlier ones were seen as suspensions. Returns the seconds that found no room.
  Duration fill(Instant from, Instant to, Duration seconds, accounting::CloseReason reason);
  // Retracts `seconds` of running in [from, to) from closed segments, the latest first; the rest of a segment is added
  // again. For runs that slurmctld lost. Segments that are no longer in the State stay.
  void retract_seconds(Instant from, Instant to, Duration seconds, Instant at, accounting::CloseReason reason);
  // The same for everything that closed segments hold after `last`; an open one that begins after it is retracted, too.
  void retract_after(Instant last, Instant at, accounting::CloseReason reason);
  // Records, with a segment of zero length, that the run went on to `end` although its last seconds, or all of them,
  // were suspended. No effect if that is known.
  void mark_end(Instant end, accounting::CloseReason reason);
  // Whether the run holds, without a resize, a node that it does not hold in the books, or more of a node: then the
  // books have another run, which began in the same second and which slurmctld lost. The record of a run that is not
  // live may attribute the CPUs of one node to another, so then a node's CPUs matter only if there are fewer nodes.
  [[nodiscard]] bool is_elsewhere(bool is_live) const;
  // The books contain a run that Slurm's records do not: retracts every segment.
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
  // A run keeps its charge until it ends or is resized, also when it is resumed after the rule of charge has changed.
  void keep_charge();
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

  Observed run_;
  std::vector<accounting::Event>& out_;
  std::vector<Segment> segments_;        // by begin
  std::optional<Instant> retracted_at_;  // when a segment of this run was last retracted
  std::uint32_t next_ordinal_ = 0;
};

// Runs that slurmctld no longer has when it comes back: it was killed before it saved them, or it lost the state that
// it had saved (`slurmctld -c`, a missing StateSaveLocation). Pure.
//
// Whether they count depends on when they began. A run that had been saved is in Slurm's accounting, and its processors
// were in use: it counts until it was seen last. A run that may not have been saved is retracted.
//
// slurmctld saves its state 5 s after a change at the latest (SAVE_MAX_WAIT).
inline constexpr Duration k_few_saves{15};

// Work in millionths of processor-seconds.
struct LostRuns {
  std::int64_t closed = 0;  // runs that end where they were seen last
  std::int64_t retracted = 0;
  Int128 closed_work = 0;
  Int128 retracted_work = 0;

  LostRuns& operator+=(const LostRuns& other);
  [[nodiscard]] bool any() const { return closed > 0 || retracted > 0; }
};

// Closes the open run at `last_look`, or retracts it as of `at` if it began within k_few_saves before. A look
// before the run's start counts as one at its start. REQUIRES: run.is_open().
[[nodiscard]] LostRuns lose_run(RunWriter& run, Instant start, Instant last_look, Instant at);

// The event at `at` for runs that were seen last at `seen`.
[[nodiscard]] accounting::StateLost loss_of(const LostRuns& lost, Instant at, Instant seen);

// For one run: "is retracted", "is counted until 1700000000, when it was seen last".
[[nodiscard]] std::string what_becomes_of(const LostRuns& lost, Instant last_look);

}  // namespace shapley::daemon
