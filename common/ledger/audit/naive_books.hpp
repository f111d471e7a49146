// psi and phi computed again in the naive way: the independent witness of an audit. phi by owner only
// (EstimatorRow::by_owner); other estimators are checked by the conservation of sums, and by equal results however the
// books were computed.
//
// For every run, every node it held, every stretch in which it held the same of it (held_stretches), and every
// stretch of that node's ownership, the sum over unit parts of SR13 Eq. 3,
//     psi = q * sum over i in [a, b) of (t - i)
// taken as an arithmetic series (NaiveSum). Nothing of accounting/ except its vocabulary is used: not UtilitySum, not
// State, not its apportioning.
//
// A ledger may be larger than memory: settle() folds everything up to an instant into sums; afterwards its caller
// removes the runs that ended from the facts. A retraction changes the past, for the organization and for others that
// shared nodes with it, so the facts have it from the start: the effect of a run that will be retracted is added to the
// sums of each instant at which the books are asked before that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/contract.hpp"
#include "base/types.hpp"
#include "ledger/audit/facts.hpp"

namespace shapley::ledger {

// psi, phi and work of many runs as few numbers, by the auditor's own arithmetic (nothing of common/game).
//
// A unit part executed in second i is worth t - i at t (SR13 Eq. 3), so the unit parts of q processors during [a, b)
// are worth
//     sum over i in [a, b) of q * (t - i)  =  t * q * (b - a)  -  q * (a + (a + 1) + ... + (b - 1))
// at every t >= b: two sums that do not depend on t, and that simply add up over runs.
struct NaiveSum {
  Int128 seconds = 0;  // sum of q * (b - a): the work, in micro-processor seconds
  Int128 moments = 0;  // sum of q * (a + ... + (b - 1))

  // Adds processors (negative: takes them back) during [a, b). REQUIRES: a <= b.
  void add(Int128 processors, Instant a, Instant b) {
    SHAPLEY_REQUIRE(a <= b);
    const Int128 terms = b.value - a.value;
    seconds += processors * terms;
    // An arithmetic series: the number of terms times the mean of the first and the last; always a whole number.
    moments += processors * (terms * (static_cast<Int128>(a.value) + b.value - 1) / 2);
  }
  NaiveSum& operator+=(const NaiveSum& other) {
    seconds += other.seconds;
    moments += other.moments;
    return *this;
  }
  [[nodiscard]] Utility utility_at(Instant t) const { return {seconds * t.value - moments}; }
  [[nodiscard]] CpuTime work() const { return {seconds}; }
};

// The figures of one organization: what its jobs used, and what its processors gave.
struct NaiveAccount {
  NaiveSum used;
  NaiveSum given;
};

// By NaiveBooks' numbers of owners.
using NaiveAccounts = std::vector<NaiveAccount>;

// What runs hold of a node if they claim more than it has: the auditor's own computation, which shares no code with
// accounting/ownership/sharing.

// One run's claim on a node during [begin, end).
struct NodeClaim {
  Instant begin;
  Instant end;
  std::int64_t claimed = 0;  // micro-processors
};

// It held so much during [begin, end).
struct HeldStretch {
  Instant begin;
  Instant end;
  std::int64_t processors = 0;
};

// The stretches of every use, in the order of `uses`, which also breaks ties. If the uses of an instant claim more than
// the node's worth, they hold that worth in proportion to their claims, in integers by largest remainder.
[[nodiscard]] std::vector<std::vector<HeldStretch>> held_stretches(const std::vector<NodeClaim>& uses,
                                                                   const WholeNode& whole);

// `total` in proportion to `parts`, as integers: rounded down, then one more for the largest remainders; of equal ones,
// for the first. REQUIRES: some part is not 0.
[[nodiscard]] std::vector<std::int64_t> divided(std::int64_t total, const std::vector<std::int64_t>& parts);

struct NaiveRow {
  Utility psi;
  CpuTime got;
  accounting::Credit by_owner;  // valid for every estimator with that trait
  friend bool operator==(const NaiveRow&, const NaiveRow&) = default;
};

using NaiveRows = std::map<std::string, NaiveRow>;  // by organization

// The row's figures by the estimator; nullopt: it is not summed here.
[[nodiscard]] std::optional<accounting::Credit> credit_of(const NaiveRow& row, accounting::EstimatorId estimator);

class NaiveBooks {
 public:
  // REQUIRES: the facts outlive the books; they name all organizations, nodes, statements of ownership, periods, what
  // was settled, and retractions from the start. `instants`: those at which the books will be asked after settle().
  explicit NaiveBooks(const Facts& facts, const std::vector<Instant>& instants = {});

  // The rows by organization at t, for the period that holds t, from the facts whose own time is <= t. REQUIRES:
  // nothing is settled, or t is one of the instants and not before what is settled.
  [[nodiscard]] NaiveRows at(Instant t) const;

  // The rows of [begin, end) at `end`, from the facts whose own time is <= known.
  struct Span {
    Instant begin;
    Instant end;
    Instant known;
  };
  // REQUIRES: nothing of the span is settled.
  [[nodiscard]] NaiveRows of_period(const Span& span) const;

  // Folds what was held before `upto` into sums. REQUIRES: the facts have everything whose own time is before that.
  void settle(Instant upto);
  [[nodiscard]] Instant settled() const { return settled_; }

  // The final rows of the periods that are completely settled, by their ends.
  [[nodiscard]] const std::map<Instant, NaiveRows>& closed_periods() const { return closed_; }

  // First instant of the books' period that holds t; k_beginning_of_time when they were never closed before t.
  [[nodiscard]] Instant period_begin_at(Instant t) const;

 private:
  struct Part {
    std::uint32_t owner;
    std::int64_t parts_per_million;
  };
  struct Stretch {
    Instant begin;
    Instant end;
    std::vector<Part> parts;  // sum to 1,000,000
  };
  // What runs held of a node, and their organizations.
  struct NodeUses {
    std::vector<NodeClaim> uses;
    std::vector<std::uint32_t> users;  // organizations
  };
  [[nodiscard]] std::vector<Part> owners_at(const std::map<Instant, std::vector<accounting::OwnershipSpan>>& statements,
                                            Instant t);
  [[nodiscard]] std::vector<Stretch> stretches_of(std::uint32_t node);
  // By node, what the runs that count at span.known held during the span.
  [[nodiscard]] std::map<std::uint32_t, NodeUses> uses_in(const Span& span) const;
  // The nodes of runs that count at span.known and will be retracted.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of_retracted(const Span& span) const;
  // Adds (sign 1) what was held during the span, or takes it back (-1).
  void fold(const Span& span, NaiveAccounts& accounts) const;
  void fold_node(std::uint32_t node, const NodeUses& uses, const Span& span, int sign, NaiveAccounts& accounts) const;
  void credit(std::uint32_t user, std::uint32_t node, const HeldStretch& held, int sign, NaiveAccounts& accounts) const;
  void settle_within_period(Instant upto);
  void close_period(Instant end);
  // Adds what was settled during [begin, until): as if it had been done in that one second.
  void add_settled(Instant begin, Instant until, NaiveAccounts& accounts) const;
  [[nodiscard]] NaiveRows rows_of(const NaiveAccounts& accounts, Instant t) const;

  const Facts& facts_;
  NameIndex owners_;  // the facts' organizations, then owners that run nothing
  std::uint32_t commons_;
  std::vector<std::vector<Stretch>> nodes_;
  Instant settled_ = k_beginning_of_time;
  NaiveAccounts present_;  // settled, of the present period, without what will be retracted
  std::map<Instant, NaiveAccounts> not_yet_retracted_;  // by instant that will be asked: what has to be added then
  std::map<Instant, NaiveRows> closed_;
};

}  // namespace shapley::ledger
