// psi and phi computed again, the long way: the independent witness of an audit. phi by direct_contr only: what other
// estimators say is checked by the conservation of sums, and by being the same however the books come about.
//
// For every run, every node it held, every stretch in which it held the same of it (naive_sharing.hpp), and every
// stretch of that node's ownership, the sum over unit parts of SR13 Eq. 3,
//     psi = q * sum over i in [a, b) of (t - i)
// taken as an arithmetic series. Nothing of accounting/ but its vocabulary is used: not UtilitySum, not State, not its
// apportioning.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/types.hpp"
#include "ledger/audit/facts.hpp"

namespace shapley::ledger {

struct NaiveRow {
  Utility psi;
  CpuTime got;
  accounting::Credit direct;  // by direct_contr
  friend bool operator==(const NaiveRow&, const NaiveRow&) = default;
};

// What a row says of an estimator; nullopt when it is not summed here.
[[nodiscard]] std::optional<accounting::Credit> credit_of(const NaiveRow& row, accounting::EstimatorId estimator);

// Fixed once made: the owners of every node over all time.
class NaiveBooks {
 public:
  explicit NaiveBooks(const Facts& facts);

  // The rows by organization at t, of the period that holds t, from the facts whose own time is <= t.
  [[nodiscard]] std::map<std::string, NaiveRow> at(Instant t) const;

  // The rows of [begin, end) at `end`, from the facts whose own time is <= known.
  struct Span {
    Instant begin;
    Instant end;
    Instant known;
  };
  [[nodiscard]] std::map<std::string, NaiveRow> of_period(const Span& span) const;

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
  struct Window {
    Instant begin;  // clipped to the period
    Instant end;    // clipped to t
    Instant t;
  };
  [[nodiscard]] std::vector<Part> owners_at(const std::map<Instant, std::vector<accounting::OwnershipSpan>>& statements,
                                            Instant t);
  [[nodiscard]] std::vector<Stretch> stretches_of(std::uint32_t node);
  // A run that counts as far as it is known.
  struct Run {
    const SegmentFacts* facts;
    Instant end;
  };
  [[nodiscard]] std::vector<Run> runs_of(const Span& span) const;
  void credit(std::uint32_t user, std::uint32_t node, std::int64_t held, const Window& window,
              std::vector<NaiveRow>& rows) const;

  const Facts& facts_;
  NameIndex owners_;  // the facts' organizations, then owners that run nothing
  std::uint32_t commons_;
  std::vector<std::vector<Stretch>> nodes_;
};

}  // namespace shapley::ledger
