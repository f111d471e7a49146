// The accounts: psi, levels and contributions of every organization in every period. They know neither jobs nor nodes:
// posting.hpp turns facts into the pieces, segments and changes of levels that are entered here.
//
// Every entry has a sign: 1 adds it, -1 takes back exactly what was added. Who enters may owe entries for a while
// (complete_by): they are made before anything is read. Single-threaded; the caller owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/estimators/period_sums.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/state.hpp"
#include "base/calendar.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// In processors, which are CPUs of nodes, whatever they are worth; but `waiting` is by the rule of charge.
struct OrganizationLevel {
  ProcessorMillionths owned;     // offered, by ownership and capacity
  ProcessorMillionths used;      // blocked by its jobs
  ProcessorMillionths waiting;   // asked for by its startable pending jobs
  ProcessorMillionths lent;      // its processors held by other organizations' jobs
  ProcessorMillionths borrowed;  // other organizations' processors held by its jobs
  friend bool operator==(const OrganizationLevel&, const OrganizationLevel&) = default;
  OrganizationLevel& operator+=(const OrganizationLevel& other);
};

// What organizations offer, use, ask for, lend and borrow in the last second of every period, and now. A change at t
// counts in every period that ends after t. Periods that ended at or before the memory horizon are settled: nothing
// changes them any more.
class PeriodLevels {
 public:
  struct Period {
    Instant end;
    std::vector<OrganizationLevel> rows;  // by OrgId
  };

  PeriodLevels() : periods_{{k_end_of_time, {}}} {}

  void resize(std::size_t organizations);  // more of them; those that were keep their levels
  void change(Instant t, OrgId organization, const OrganizationLevel& change);
  // Books what the piece blocks as used, in every period during whose last second it is held, or as lent and borrowed.
  void fold_used(int sign, const Piece& piece);
  void fold_lending(int sign, const Piece& piece);

  void close_period(Instant boundary);
  // Replaces the boundaries; periods that are not settled then have no levels. REQUIRES: no settled period changes.
  void set_boundaries(const std::vector<Instant>& boundaries);
  void settle(Instant horizon) { horizon_ = horizon; }
  [[nodiscard]] bool settled(const Period& period) const { return period.end <= horizon_; }

  [[nodiscard]] const std::vector<Period>& periods() const { return periods_; }  // ascending; the last is open
  [[nodiscard]] std::vector<Period>& periods() { return periods_; }

  // Lines of a checkpoint: the settled periods. load() of a text that does not say what was used leaves it at 0.
  void save(TextWriter& out) const;
  void load(TextReader& in, std::int64_t version);

 private:
  template <typename Change>
  void fold_held(const Piece& piece, Change&& change);

  Instant horizon_ = k_beginning_of_time;
  std::vector<Period> periods_;
};

// Of WorkSettled, as the books name organizations.
struct Settlement {
  OrgId from;
  OrgId to;
  Instant at;
  CpuTime work;
};

// Which instants close the books: the declarations of periods, folded into boundaries.
//
// A rule declared at `a` and replaced at `b` gives the calendar's boundaries in (a, b]: a boundary that falls on the
// very instant of a new declaration still closes the books, so repeating a declaration never loses one.
class PeriodRules {
 public:
  [[nodiscard]] std::optional<bool> repeats(const PeriodDeclared& event) const;
  void declare(Instant at, Period period) { declarations_[at] = period; }

  // First boundary after t; k_end_of_time if no boundary follows.
  [[nodiscard]] Instant next_boundary(Instant t) const;
  // Every boundary at or before t.
  [[nodiscard]] std::vector<Instant> boundaries_until(Instant t) const;
  // The rule in force at t: none before the first declaration.
  [[nodiscard]] Period rule_at(Instant t) const;

  // Lines of a checkpoint.
  void save(TextWriter& out) const;
  void load(TextReader& in, Instant now);

 private:
  std::map<Instant, Period> declarations_;
};

class Accounts {
 public:
  explicit Accounts(const EstimatorSet& left_out);

  // `enter`: makes the entries that are owed. It is called before what entries come to is read, closed or forgotten.
  void complete_by(std::function<void()> enter) { enter_owed_ = std::move(enter); }

  // Called when organizations joined. `rows`: by OrgId, the row that an organization's figures are part of.
  void set_organizations(const Organizations& organizations, std::vector<OrgId> rows);
  void set_rows(std::vector<OrgId> rows) { rows_ = std::move(rows); }
  [[nodiscard]] const std::vector<OrgId>& rows() const { return rows_; }
  [[nodiscard]] OrgId row_of(OrgId organization) const { return rows_[organization.value]; }
  // The piece with organizations replaced by the rows that they are part of today.
  [[nodiscard]] Piece in_rows(Piece piece) const;

  void fold_piece(int sign, const Piece& piece);
  // There are few settlements, so no sum of them is kept.
  void settle(const Settlement& settlement) { settled_.push_back(settlement); }
  // What the piece blocks, for the levels; fold_piece() is by charge.
  void fold_blocked(int sign, const Piece& piece) {
    levels_.fold_used(sign, piece);
    fold_lending(sign, piece);
  }
  // Folds only what depends on which organizations are parts of which: lending.
  void fold_lending(int sign, const Piece& piece) { levels_.fold_lending(sign, in_rows(piece)); }
  void fold_segment(int sign, const SegmentFact& segment);  // without its pieces
  void change_levels(Instant t, OrgId organization, const LevelChange& change);
  // What it offers in processors; LevelChange::owned is by what nodes are worth.
  void change_owned(Instant t, OrgId organization, ProcessorMillionths change) {
    levels_.change(t, organization, {.owned = change, .used = {}, .waiting = {}, .lent = {}, .borrowed = {}});
  }
  // What its startable pending jobs ask for. No estimator uses it: what waits is a segment.
  void change_waiting(Instant t, OrgId organization, ProcessorMillionths change) {
    levels_.change(t, organization, {.owned = {}, .used = {}, .waiting = change, .lent = {}, .borrowed = {}});
  }
  // Runs `enter`, and holds the changes of levels that it makes back, and then enters them in the order of time: a
  // checkpoint's facts come in the order of jobs, and entering one change costs as much as all changes of its instant.
  void gather_levels(const std::function<void()>& enter);

  [[nodiscard]] const PeriodRules& rules() const { return rules_; }
  // The boundaries of the periods that ended at or before the present.
  [[nodiscard]] const std::vector<Instant>& boundaries() const { return boundaries_; }
  [[nodiscard]] Instant next_boundary() const { return next_boundary_; }
  // Ends the present period at next_boundary().
  void close_period();
  // Returns whether that changes boundaries. If it does, `fold_remembered` takes everything back that is remembered,
  // and adds it again to the new periods; those that are not settled have no levels then.
  bool declare(const PeriodDeclared& event, Instant now, const std::function<void(int sign)>& fold_remembered);

  // Whether an estimator needs the books made again for this segment: because it cannot add the segment, or because it
  // cannot take it back (stays).
  [[nodiscard]] bool is_too_old(const SegmentFact* before, const SegmentFact* after) const;
  [[nodiscard]] bool stays(const SegmentFact& segment) const;
  // The instant up to which forget_before() can go, `wanted` at most, with about `effort` steps.
  [[nodiscard]] Instant forgettable(Instant wanted, std::uint64_t effort) const;
  void forget_before(Instant horizon);
  // From now on these receive facts, by EstimatorId; they do not receive what was entered before. Without any no figure
  // may be asked for.
  void replace_estimators(std::vector<std::unique_ptr<Estimator>> by) { estimators_ = std::move(by); }

  void leave_out(EstimatorId estimator);
  void keep_at_most(Coalitions kept);
  // All of them, ascending.
  void divide_kinds(const std::vector<KindDivided>& divisions);
  [[nodiscard]] EstimatorSet kept() const;
  // Those that can say how things stand at t; others work on it with about `effort` steps each.
  [[nodiscard]] EstimatorSet catch_up(Instant t, std::uint64_t effort);
  [[nodiscard]] std::size_t bytes_of_coalitions() const;

  // psi by period.
  [[nodiscard]] PeriodSums& got() {
    complete();
    return got_;
  }
  // What was used at the end of settled periods, for a text that does not say it: then both measures were one.
  void use_what_ran();
  [[nodiscard]] PeriodLevels& levels() {
    complete();
    return levels_;
  }
  [[nodiscard]] std::size_t present_period() const { return got_.periods().size() - 1; }
  // The rows of the period at t, or at its end if it is closed, with the credits of the estimators in `by`.
  [[nodiscard]] std::vector<Standing> standings(std::size_t period, Instant t, const EstimatorSet& by);
  // `first_event`: when the books begin.
  [[nodiscard]] std::optional<CooperationWorth> worth(std::size_t period, Instant t, const EstimatorSet& by,
                                                      Instant first_event);

  // Lines of a checkpoint. Periods are loaded before anything is entered, estimators after all facts that are
  // remembered.
  void load_periods(TextReader& in, Instant now, Instant horizon);
  void save_estimators(TextWriter& out, const Estimator::Remembered& remembered) const;
  // Adds to `options` the estimators that the text leaves out, if they say so (StateOptions::as_saved).
  void load_estimators(TextReader& in, StateOptions& options, const Estimator::Remembered& remembered);

 private:
  void complete() const {
    if (enter_owed_) enter_owed_();
  }
  // REQUIRES: everything that is remembered was taken back, or nothing was entered.
  void set_boundaries(std::vector<Instant> boundaries);
  void add_settled(std::size_t period, Instant t, std::vector<Standing>& standings) const;
  void load_estimator(TextReader& in, EstimatorId id, StateOptions& options, const Estimator::Remembered& remembered);

  PeriodRules rules_;
  std::vector<Instant> boundaries_;
  Instant next_boundary_ = k_end_of_time;
  PeriodSums got_;
  PeriodLevels levels_;
  std::vector<std::unique_ptr<Estimator>> estimators_;
  std::vector<OrgId> rows_;
  std::vector<Settlement> settled_;
  struct GatheredLevel {
    Instant t;
    OrgId organization;
    LevelChange change;
  };
  std::optional<std::vector<GatheredLevel>> gathered_;
  std::function<void()> enter_owed_;
};

}  // namespace shapley::accounting
