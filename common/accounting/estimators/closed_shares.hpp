// What the virtual coalitions of a period make of everybody's contribution, and what is left of them when no fact
// changes it any more: contributions_of (hindsight/contributions.hpp) needs nothing else but psi.
//
// Single-threaded; the estimator owns it.
#pragma once

#include <cstddef>
#include <vector>

#include "accounting/estimators/attendance.hpp"
#include "accounting/estimators/period_shares.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

// Of the first periods, all those that are final.
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

// Lines of a checkpoint: what is final of the gap of periods that are not (hindsight/gap_shares.hpp).
void save_gap(TextWriter& out, const GapOfPeriods& gap);
[[nodiscard]] GapOfPeriods load_gap(TextReader& in, std::size_t organizations);

}  // namespace shapley::accounting
