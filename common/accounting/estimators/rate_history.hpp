// The history behind shapley_rate: contribution that accrues at the Shapley value of the instantaneous game
// (game/shapley_value.hpp).
//
// At an instant t where levels change, rates[t, next) = shapley_rates(demand = running + waiting, owned; placements),
// which sum to the processors running. What runs is demand for the nodes of its placement, as what waits is. Only where
// all of these offer less than the placement's runs hold (they were resolved otherwise since the runs began, or not at
// all) are its runs demand for any node: the grand coalition is never worth less than what runs. A rate r over [a, b)
// is worth what a segment of r micro-processors over [a, b) is, so phi is a UtilitySum whose running part is the rate
// in force.
//
// The history is a map of breakpoints (what changed at t), from the base on; its content is a pure function of the
// facts, whatever their order. Evaluation is lazy: a cursor goes forward over breakpoints and period boundaries when
// a result is asked for, and leaves snapshots, densely near the present and one in k_snapshot_stride before. A change
// at or before the cursor sends it back to the last snapshot before the change. Players are taken in the order of their
// names, so that ties fall alike whatever order organizations joined in. Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

// One organization at one point of the evaluation.
struct RateRow {
  ProcessorMillionths running;
  ProcessorMillionths waiting;
  ProcessorMillionths owned;
  game::UtilitySum given;  // of the period under way; its running part is the rate
  friend bool operator==(const RateRow&, const RateRow&) = default;
};

// What one organization asks for, holds and offers in one placement.
struct PlacedRow {
  PlacementId placement;
  OrgId organization;
  ProcessorMillionths waiting;
  ProcessorMillionths running;
  ProcessorMillionths offered;
  friend bool operator==(const PlacedRow&, const PlacedRow&) = default;
};
// Ascending by placement and organization, each once, none of zeros only.
using PlacedRows = std::vector<PlacedRow>;

// The evaluation after every breakpoint and boundary at or before `upto`.
struct RateSnapshot {
  Instant upto = k_beginning_of_time;
  std::size_t periods_closed = 0;
  std::vector<RateRow> rows;  // by OrgId; no row, which is all zero, for organizations that joined later
  PlacedRows placed;
  std::uint64_t number = 0;  // counts evaluated instants, to thin snapshots out
};

class RateHistory {
 public:
  // Every organization, in the order that breaks ties.
  void set_players(std::vector<OrgId> in_order) { players_ = std::move(in_order); }
  [[nodiscard]] const std::vector<OrgId>& players() const { return players_; }

  // REQUIRES: t lies after the base.
  void change(Instant t, OrgId organization, const LevelChange& change);
  void change(Instant t, OrgId organization, const PlacedChange& change);
  // REQUIRES: nothing waits or runs in it since the base.
  void forget(PlacementId placement);
  // Boundaries of periods, ascending.
  void set_boundaries(std::vector<Instant> boundaries);
  [[nodiscard]] const std::vector<Instant>& boundaries() const { return boundaries_; }

  // The rows at t >= every change, or later if more was evaluated before; and the sums of the periods that ended by
  // then, by OrgId, with the rates of their last second. Valid until the next change.
  [[nodiscard]] const RateSnapshot& evaluate(Instant t);
  [[nodiscard]] const std::vector<std::vector<game::UtilitySum>>& closed_periods() const { return closed_; }

  // Makes the state just before `horizon` the base and drops what came before.
  void forget_before(Instant horizon);

  // For checkpoints: the base, and a few later snapshots, the last of them the present one, at distances that grow back
  // in time, so that late events cost about as much after a restart as before it.
  [[nodiscard]] const RateSnapshot& base() const { return snapshots_.front(); }
  [[nodiscard]] std::vector<const RateSnapshot*> landmarks() const;
  // Restores the state of a checkpoint: base and landmarks come without levels, which follow from the changes. False if
  // their rates do not sum to what runs; the object is then unusable. REQUIRES: nothing was evaluated, and every change
  // was added, those from before the base, too.
  [[nodiscard]] bool restore(RateSnapshot base, std::vector<RateSnapshot> landmarks,
                             std::vector<std::vector<game::UtilitySum>> closed);

 private:
  struct Entry {
    OrgId organization;
    LevelChange change;
  };
  struct Breakpoint {
    std::vector<Entry> levels;  // each organization once, no zero change
    PlacedRows placed;
    [[nodiscard]] bool empty() const { return levels.empty() && placed.empty(); }
  };
  using Breakpoints = std::map<Instant, Breakpoint>;

  Breakpoints::iterator breakpoint_at(Instant t);
  void rewind_before(Instant t);
  // Evaluates every breakpoint and boundary at or before `limit`; keeps snapshots on the way if `keep`.
  void go_forward(RateSnapshot& cursor, Instant limit, bool keep);
  void close_period(RateSnapshot& cursor, Instant boundary);
  void apply_breakpoint(RateSnapshot& cursor, Instant t, const Breakpoint& breakpoint) const;
  void rate(RateSnapshot& cursor, Instant t) const;
  void keep_snapshot(const RateSnapshot& cursor);

  std::vector<OrgId> players_;
  Breakpoints breakpoints_;
  std::vector<Instant> boundaries_;
  std::vector<RateSnapshot> snapshots_{RateSnapshot{}};  // ascending; the first is the base
  RateSnapshot cursor_;
  std::vector<std::vector<game::UtilitySum>> closed_;  // by period and OrgId
};

}  // namespace shapley::accounting
