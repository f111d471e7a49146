// A contribution estimator: computes phi, what every organization gave, from the facts of the books. It separates the
// books from the ways to measure a contribution; table.hpp lists all of them.
//
// An estimator receives every fact and keeps of it what it needs. Its contributions must be a function of the set of
// facts alone, whatever their order, and at every instant
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
#include "accounting/ownership/kinds.hpp"
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
  // Work credited each second from then on, as long as nothing changes; 0 in closed periods.
  ProcessorMillionths rate{};
  friend bool operator==(const Credit&, const Credit&) = default;
};

// What runs of one organization's jobs held on processors of one owner during [begin, end). The pieces change with
// ownership, and when the end of a run becomes known; where runs share a node one piece may cover several runs.
struct Piece {
  OrgId organization;  // the organization of the job
  OrgId owner;         // the owner of the processors
  ProcessorMillionths processors;
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it runs
};

// How an organization's levels change from an instant on; the members are differences.
struct LevelChange {
  ProcessorMillionths running;  // processors that its jobs hold
  ProcessorMillionths owned;    // that it offers, by ownership and capacity, on nodes of `kind`
  Kind kind = 0;
};

// What one task of a request asks for, by the definition of hindsight in force when it was released
// (ownership/kinds.hpp).
struct Asked {
  std::int64_t width = 0;  // millionths of a processor that start together; 0: it starts in any parts
  KindSet kinds = 1;       // not empty: the kinds of nodes that it may use
  friend auto operator<=>(const Asked&, const Asked&) = default;
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
  Asked asked = {};  // of a run: as if it had asked for what it is charged
};

class Estimator {
 public:
  // The period of the books that is asked about, and the instant: the period's end if it is closed.
  struct Question {
    std::size_t period = 0;                 // 0 is the first one
    Instant t;                              // >= every fact, or the period's end
    std::span<const game::UtilitySum> got;  // psi and work of the period, by OrgId
  };
  // What the books remember when a checkpoint is written or read.
  struct Remembered {
    Instant horizon;  // k_beginning_of_time while nothing was forgotten
    Instant now;
    // Passes every piece and every segment that the books remember to `listener`, with this sign.
    std::function<void(Estimator& listener, int sign)> pass;
  };

  virtual ~Estimator() = default;

  // Every organization, in the order in which ties are broken: by name. Ids are dense from 0. Called before anything
  // else, and again when an organization joins.
  virtual void set_organizations(const std::vector<OrgId>& by_name) = 0;

  // Facts. An estimator overrides the functions of those that it uses.
  virtual void fold_piece(int /*sign*/, const Piece& /*piece*/) {}
  virtual void fold_segment(int /*sign*/, const SegmentFact& /*segment*/) {}
  virtual void change_levels(Instant /*t*/, OrgId /*organization*/, const LevelChange& /*change*/) {}
  // All divisions of kinds of nodes, ascending.
  virtual void divide_kinds(const std::vector<KindDivided>& /*divisions*/) {}

  // The current period ended at `boundaries.back()`; earlier boundaries are unchanged. What runs then goes on in the
  // next period.
  virtual void close_period(const std::vector<Instant>& boundaries) = 0;
  // Replaces the boundaries, ascending. The caller takes back all pieces and segments before, and enters them again
  // afterwards, but not the changes of levels. No boundary before the horizon moves.
  virtual void set_boundaries(const std::vector<Instant>& boundaries) = 0;

  // The contributions of every organization in a period, from the period's begin on; index: OrgId.
  virtual void contributions(const Question& question, std::span<Credit> credits) = 0;

  // The worth of cooperation in a period, by an estimator that keeps what coalitions would have got alone; nullopt: it
  // cannot compute it, or no longer for this period. `rows`: by OrgId, the row that an organization belongs to.
  [[nodiscard]] virtual std::optional<CooperationWorth> worth(const Question& /*question*/,
                                                              std::span<const OrgId> /*rows*/) {
    return std::nullopt;
  }

  // Whether the change of a segment from `before` to `after` is too old although it makes no difference before the
  // horizon: the books have to be made again with it. nullptr: there is none before, or none after; never both.
  [[nodiscard]] virtual bool is_too_old(const SegmentFact* /*before*/, const SegmentFact* /*after*/) const {
    return false;
  }

  // Whether retracting this segment needs the books made again although it is younger than the memory horizon.
  [[nodiscard]] virtual bool stays(const SegmentFact& /*segment*/) const { return false; }

  // True if this estimator is disabled (contribution := usage), by configuration or for too many organizations. Never
  // becomes false again.
  [[nodiscard]] virtual bool is_off() const { return false; }

  // Memory in bytes, approximately; 0: next to nothing.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
  // From now on it keeps at most these coalitions, if it can keep fewer; they never become more again.
  virtual void keep_at_most(Coalitions /*kept*/) {}

  // Does some of the work that contributions() at t would have to do, about `effort` steps of it. False: there is more.
  [[nodiscard]] virtual bool catch_up(Instant /*t*/, std::uint64_t /*effort*/) { return true; }

  // The instant up to which forget_before() can go, `horizon` at most, with about `effort` steps.
  [[nodiscard]] virtual Instant forgettable(Instant horizon, std::uint64_t /*effort*/) const { return horizon; }
  // Forgets what it can: no later fact will change what happened before `horizon`.
  virtual void forget_before(Instant /*horizon*/) {}

  // Writes the estimator's lines of a checkpoint: what does not follow from the facts that the books remember.
  virtual void save(TextWriter& out, const Remembered& books) = 0;
  // Reads these lines, after the remembered facts and all changes of levels that follow from them were added. Text that
  // does not fit them is a fault of the reader.
  virtual void load(TextReader& in, const Remembered& books) = 0;

 protected:
  Estimator() = default;
  Estimator(const Estimator&) = default;
  Estimator& operator=(const Estimator&) = default;
};

}  // namespace shapley::accounting
