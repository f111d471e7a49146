// From the coalitions' schedules of a period to each organization's contribution in it.
//
// Up to the gap in equal parts that is hindsight/contributions.hpp; the gap between what really ran and what the
// virtual schedule of all did is shared by stretches (attendance.hpp). What is kept of a closed period when no fact
// changes it any more is its shares: contributions_of (hindsight/contributions.hpp) needs nothing else but psi.
//
// Single-threaded; the estimator owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "accounting/estimators/attendance.hpp"
#include "accounting/estimators/estimator.hpp"
#include "base/types.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

class CoalitionBooks;
class TextReader;
class TextWriter;

// By player: shares (shares_of, add_gap) of phi, of work given and, in the open period, of the rate of work given.
struct PeriodShares {
  std::vector<hindsight::Int256> phi;
  std::vector<hindsight::Int256> given;
  std::vector<hindsight::Int256> rate;
  std::size_t exact = hindsight::k_exact_players;  // up to so many players, the shares are from all coalitions
};

struct PeriodAsked {
  std::size_t period = 0;
  std::optional<Instant> begin;  // a mark of the schedules; nullopt: the first period
  Instant end;                   // the time that the schedules have reached, or a mark
  std::span<const OrgId> players;
};

// `ran`: what really ran, by period, shared out. `now`: for an open period, who is present and what runs at its end.
[[nodiscard]] PeriodShares shares_in(const CoalitionBooks& books, const PeriodAsked& asked, const GapOfPeriods& ran,
                                     const Attendance::Span* now);

// Each organization's credit, by OrgId. `ranks`: the place of each player in the order that breaks ties. Without
// players phi = psi for every organization.
void credit(const PeriodShares& shares, std::span<const OrgId> players, std::span<const std::uint32_t> ranks,
            const Estimator::Question& question, std::span<Credit> credits);

// The shares of the first periods, as far as they are final.
class ClosedShares {
 public:
  [[nodiscard]] std::size_t size() const { return periods_.size(); }
  [[nodiscard]] const PeriodShares& of(std::size_t period) const { return periods_[period]; }
  void add(PeriodShares shares) { periods_.push_back(std::move(shares)); }

  // Lines of a checkpoint.
  void save(TextWriter& out) const;
  void load(TextReader& in, std::size_t players);

 private:
  std::vector<PeriodShares> periods_;
};

// Lines of a checkpoint: the final part of the gap in periods that are not final (hindsight/gap_shares.hpp).
void save_gap(TextWriter& out, const GapOfPeriods& gap);
[[nodiscard]] GapOfPeriods load_gap(TextReader& in, std::size_t organizations);

}  // namespace shapley::accounting
