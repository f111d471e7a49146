// psi and phi computed again, the long way: the independent witness of an audit. phi by direct_contr only: what other
// estimators say is checked by the conservation of sums, and by being the same however the books come about.
//
// For every run, every node it held, every stretch in which it held the same of it (naive_sharing.hpp), and every
// stretch of that node's ownership, the sum over unit parts of SR13 Eq. 3,
//     psi = q * sum over i in [a, b) of (t - i)
// taken as an arithmetic series (naive_sums.hpp). Nothing of accounting/ but its vocabulary is used: not UtilitySum,
// not State, not its apportioning.
//
// A ledger may be longer than the memory: settle() folds everything up to an instant into sums, after which its caller
// takes the runs that are over out of the facts. A retraction changes what was, for the organization and for those who
// shared nodes with it, so facts tell of it before its time: what a run that will be retracted changes is added to the
// sums of each instant at which the books will still be asked with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/types.hpp"
#include "ledger/audit/facts.hpp"
#include "ledger/audit/naive_sums.hpp"

namespace shapley::ledger {

struct NaiveRow {
  Utility psi;
  CpuTime got;
  accounting::Credit direct;  // by direct_contr
  friend bool operator==(const NaiveRow&, const NaiveRow&) = default;
};

using NaiveRows = std::map<std::string, NaiveRow>;  // by organization

// What a row says of an estimator; nullopt when it is not summed here.
[[nodiscard]] std::optional<accounting::Credit> credit_of(const NaiveRow& row, accounting::EstimatorId estimator);

class NaiveBooks {
 public:
  // REQUIRES: the facts outlive the books; they name all organizations, nodes, statements of ownership, periods and
  // retractions from the start. `instants`: those at which the books will be asked after settle().
  explicit NaiveBooks(const Facts& facts, const std::vector<Instant>& instants = {});

  // The rows by organization at t, of the period that holds t, from the facts whose own time is <= t. REQUIRES: nothing
  // is settled, or t is one of the instants and not before what is settled.
  [[nodiscard]] NaiveRows at(Instant t) const;

  // The rows of [begin, end) at `end`, from the facts whose own time is <= known.
  struct Span {
    Instant begin;
    Instant end;
    Instant known;
  };
  // REQUIRES: nothing of the span is settled.
  [[nodiscard]] NaiveRows of_period(const Span& span) const;

  // Folds what was held before `upto` into sums. REQUIRES: the facts whose own time is before that are all there.
  void settle(Instant upto);
  [[nodiscard]] Instant settled() const { return settled_; }

  // The final rows of the periods that are settled whole, by their ends.
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
  // What runs held of a node, and whose they are.
  struct NodeUses {
    std::vector<NodeUse> uses;
    std::vector<std::uint32_t> users;  // organizations
  };
  [[nodiscard]] std::vector<Part> owners_at(const std::map<Instant, std::vector<accounting::OwnershipSpan>>& statements,
                                            Instant t);
  [[nodiscard]] std::vector<Stretch> stretches_of(std::uint32_t node);
  // By node, what the runs that count as far as it is known held during the span.
  [[nodiscard]] std::map<std::uint32_t, NodeUses> uses_in(const Span& span) const;
  // The nodes of runs that count at span.known and will be retracted.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of_retracted(const Span& span) const;
  // Adds (sign 1) what was held during the span, or takes it back (-1).
  void fold(const Span& span, NaiveAccounts& accounts) const;
  void fold_node(std::uint32_t node, const NodeUses& uses, const Span& span, int sign, NaiveAccounts& accounts) const;
  void credit(std::uint32_t user, std::uint32_t node, const HeldStretch& held, int sign, NaiveAccounts& accounts) const;
  void settle_within_period(Instant upto);
  void close_period(Instant end);
  [[nodiscard]] NaiveRows rows_of(const NaiveAccounts& accounts, Instant t) const;

  const Facts& facts_;
  NameIndex owners_;  // the facts' organizations, then owners that run nothing
  std::uint32_t commons_;
  std::vector<std::vector<Stretch>> nodes_;
  Instant settled_ = k_beginning_of_time;
  NaiveAccounts present_;  // settled, of the present period, without what will be retracted
  std::map<Instant, NaiveAccounts> not_yet_retracted_;  // by instant that will be asked: what is to be added then
  std::map<Instant, NaiveRows> closed_;
};

}  // namespace shapley::ledger
