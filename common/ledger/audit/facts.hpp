// The events, folded as plainly as possible: the auditor's own reading of a ledger.
//
// It shares no code with the books (State) or with the projections, so that a mistake in either shows up as a
// difference. A fact is in force from its own time on, whenever it was learned. Single-threaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/text.hpp"

namespace shapley::ledger {

// (at, ordinal) -> the worth of the whole node from then on; 0: not known, nothing is shared.
using WholeNode = std::map<std::pair<Instant, std::uint32_t>, std::int64_t>;

struct SegmentFacts {
  std::optional<Instant> begin;  // nullopt: only its end is known
  std::optional<Instant> end;
  std::optional<Instant> retracted;
  accounting::CloseReason reason = accounting::CloseReason::ended;
  std::uint32_t organization = 0;  // index in Facts::organizations
  ProcessorMillionths processors;
  std::int64_t cpus = 0;                                             // that Slurm allocated; 0: not known
  bool is_billed = false;                                            // charged by Slurm's billing
  std::vector<std::pair<std::uint32_t, ProcessorMillionths>> nodes;  // (index in Facts::nodes, processors held there)

  // Whether it counts in the books when all events are known.
  [[nodiscard]] bool counts() const { return begin.has_value() && !retracted; }
};

class Facts {
 public:
  // REQUIRES: no event comes twice (the ledger's keys ensure that).
  void add(const accounting::Event& event);

  // For an audit that reads the ledger twice, because there may be more runs than memory holds. First pass: collects
  // what must be known from the start, which is names, statements of ownership, periods, and which runs are retracted.
  void survey(const accounting::Event& event);
  // The facts with only what survey() keeps.
  [[nodiscard]] Facts surveyed() const;
  // Second pass, in the order of time: adds the rest that the audit's own books are made from, which is runs and the
  // worth of nodes; other events are ignored.
  void follow(const accounting::Event& event);
  // Removes what no longer matters once all events up to `horizon` were followed and everything before it is summed up:
  // runs that ended, and former worths of nodes.
  void forget_before(Instant horizon);

  // Whether is_so(anchor, segment) is true of one of the job's segments of this kind.
  template <typename IsSo>
  [[nodiscard]] bool any_segment(accounting::SegmentKind kind, JobId job, const IsSo& is_so) const {
    return std::any_of(segments.lower_bound({kind, job, k_beginning_of_time, 0}),
                       segments.upper_bound({kind, job, k_end_of_time, UINT32_MAX}),
                       [&](const auto& segment) { return is_so(segment.first.anchor, segment.second); });
  }

  NameIndex organizations;
  NameIndex nodes;
  std::map<accounting::SegmentKey, SegmentFacts> segments;
  std::map<std::uint32_t, std::map<Instant, std::vector<accounting::OwnershipSpan>>>
      ownership;                                                         // node -> effective -> spans
  std::map<std::pair<std::uint32_t, Instant>, std::uint32_t> revisions;  // of these
  std::map<std::uint32_t, accounting::AdjustmentMade> adjustments;       // by number
  std::map<std::uint32_t, accounting::WorkSettled> settled;              // by the adjustment's number
  std::map<std::uint32_t, WholeNode> whole_nodes;
  std::map<Instant, Period> periods;
  std::map<Instant, std::string> configurations;
  std::vector<accounting::ObservationGap> gaps;  // in which slurmctld ran
  std::vector<accounting::StateLost> losses;
  std::map<std::pair<std::uint32_t, std::uint32_t>, JobId>
      array_tasks;  // (array job, task) -> the latest job known by that name
};

}  // namespace shapley::ledger
