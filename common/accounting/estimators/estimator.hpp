// A contribution estimator: from the facts of the books to phi, what every organization gave. The seam between the
// books and the ways to measure a contribution; table.hpp lists those that there are.
//
// An estimator hears every fact and keeps of it what it needs. Its contributions must be a function of the set of facts
// alone, whatever their order, and at every instant
//     Sum(phi) = Sum(psi)  and  Sum(given) = Sum(got), to the unit:
// an audit checks both. A fact comes with a sign: 1 adds it, -1 takes back exactly what was added before. Facts are
// never later than the books' present, and, once forget_before() was called, never change what happened before that
// horizon.
//
// Single-threaded; State owns its estimators and reads no clock for them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/worth/worth.hpp"
#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

// What one organization gave in a period by one estimator.
struct Credit {
  Utility phi;    // contribution, in the unit of psi
  CpuTime given;  // work credited to it
  ProcessorMillionths
      rate{};  // work credited each second from then on, as long as nothing changes; 0 in closed periods
  friend bool operator==(const Credit&, const Credit&) = default;
};

// What runs of one organization's jobs held on processors of one owner during [begin, end). The pieces change with
// ownership, and when the end of a run becomes known; where runs share a node one piece may be of several.
struct Piece {
  OrgId organization;  // whose job
  OrgId owner;         // whose processors
  ProcessorMillionths processors;
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it runs
};

// How an organization's levels change at an instant, and from there on.
struct LevelChange {
  ProcessorMillionths running;  // processors that its jobs hold, of whatever placement
  ProcessorMillionths waiting;  // that its startable pending jobs ask for, if they may use any node
  ProcessorMillionths owned;    // that it offers, by ownership and capacity
};

// One placement (PlacementResolved) as long as waits or runs are of it.
struct PlacementId {
  std::uint32_t value = 0;
  friend auto operator<=>(const PlacementId&, const PlacementId&) = default;
};

// How what an organization has to do with a placement changes at an instant, and from there on.
struct PlacedChange {
  PlacementId placement;
  ProcessorMillionths waiting{};  // that its startable pending jobs of this placement ask for
  ProcessorMillionths running{};  // of LevelChange::running: what its jobs of this placement hold, wherever that is
  ProcessorMillionths
      offered{};  // that it offers on the nodes which they may use; set only while there are any of them
};

// A wait or a run of a job as a whole.
struct SegmentFact {
  SegmentKey key;
  OrgId organization;
  ProcessorMillionths processors;
  Instant begin;
  Instant end;                              // exclusive; k_end_of_time while it is open
  CloseReason reason = CloseReason::ended;  // why it ended, if it did
  // As of SegmentOpened: of a run, since when Slurm could have started it, and the job that its wait is booked under.
  std::optional<Instant> released = std::nullopt;
  JobId waited_as = {};
};

class Estimator {
 public:
  // The period of the books that a question is about, and when: at the period's end if it is closed.
  struct Question {
    std::size_t period = 0;                 // 0 is the first one
    Instant t;                              // >= every fact, or the period's end
    std::span<const game::UtilitySum> got;  // psi and work of the period, by OrgId
  };
  // What a checkpoint is written from, and what it is read into.
  struct Remembered {
    Instant horizon;  // k_beginning_of_time while nothing was forgotten
    Instant now;
    // Passes every piece and every segment that the books remember to `listener`, with this sign.
    std::function<void(Estimator& listener, int sign)> tell;
  };

  virtual ~Estimator() = default;

  // Every organization, in the order in which ties fall: by name. Ids are dense from 0. Called before anything else,
  // and again when one joins.
  virtual void set_organizations(const std::vector<OrgId>& by_name) = 0;

  // Facts. An estimator overrides those that it looks at.
  virtual void fold_piece(int /*sign*/, const Piece& /*piece*/) {}
  virtual void fold_segment(int /*sign*/, const SegmentFact& /*segment*/) {}
  virtual void change_levels(Instant /*t*/, OrgId /*organization*/, const LevelChange& /*change*/) {}
  virtual void change_placed(Instant /*t*/, OrgId /*organization*/, const PlacedChange& /*change*/) {}
  // No wait or run that the books remember is of it any more: what was offered is taken back.
  virtual void forget_placement(PlacementId /*placement*/) {}

  // The current period ended at `boundaries.back()`; those before are as they were. What runs there begins again in the
  // next period.
  virtual void close_period(const std::vector<Instant>& boundaries) = 0;
  // Other boundaries, ascending. Pieces and segments are all taken back before, and come again after; changes of levels
  // are not. No boundary before the horizon moves.
  virtual void set_boundaries(const std::vector<Instant>& boundaries) = 0;

  // The contributions of every organization in a period, from the period's begin on; index: OrgId.
  virtual void contributions(const Question& question, std::span<Credit> credits) = 0;

  // What cooperation is worth in a period, by an estimator that keeps what coalitions would have got alone; nullopt: by
  // this one it cannot be said, or not of this period any more. `rows`: by OrgId, whose row an organization is part of.
  [[nodiscard]] virtual std::optional<CooperationWorth> worth(const Question& /*question*/,
                                                              std::span<const OrgId> /*rows*/) {
    return std::nullopt;
  }

  // Whether this segment, whose begin is not before the horizon, is too old nevertheless: the books have to be made
  // again with it.
  [[nodiscard]] virtual bool is_too_old(const SegmentFact& /*segment*/) const { return false; }

  // True if this segment, which was added and does not begin before the horizon, cannot be taken back without making
  // the books again.
  [[nodiscard]] virtual bool stays(const SegmentFact& /*segment*/) const { return false; }

  // True if this estimator is disabled (contribution := usage), by configuration or for too many organizations. Never
  // becomes false again.
  [[nodiscard]] virtual bool is_off() const { return false; }

  // What it keeps in memory, about, in bytes; 0: next to nothing.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
  // From now on it keeps no more than this, if it can keep less. It does not become more again.
  virtual void keep_at_most(Coalitions /*kept*/) {}

  // Does some of the work that contributions() at t would have to do, about `effort` steps of it. False: there is more.
  [[nodiscard]] virtual bool catch_up(Instant /*t*/, std::uint64_t /*effort*/) { return true; }

  // How far towards `horizon` forget_before() gets with about `effort` steps.
  [[nodiscard]] virtual Instant forgettable(Instant horizon, std::uint64_t /*effort*/) const { return horizon; }
  // No fact will change what happened before `horizon`.
  virtual void forget_before(Instant /*horizon*/) {}

  // The estimator's lines in a checkpoint: what does not follow from the facts that the books remember.
  virtual void save(TextWriter& out, const Remembered& books) = 0;
  // Reads them, after the remembered facts and all changes of levels that follow from them were added. What does not
  // fit is a fault of the reader's.
  virtual void load(TextReader& in, const Remembered& books) = 0;

 protected:
  Estimator() = default;
  Estimator(const Estimator&) = default;
  Estimator& operator=(const Estimator&) = default;
};

}  // namespace shapley::accounting
