// What the virtual coalitions of a period make of everybody's contribution, and what is left of them when no fact
// changes it any more: contributions_of (hindsight/contributions.hpp) needs nothing else but psi.
//
// Single-threaded; the estimator owns it.
#pragma once

#include <cstddef>
#include <vector>

#include "hindsight/contributions.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

// By player: shares (shares_of) of phi, of work given and, in the open period, of the rate of that.
struct PeriodShares {
  std::vector<hindsight::Int256> phi;
  std::vector<hindsight::Int256> given;
  std::vector<hindsight::Int256> rate;
};

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

}  // namespace shapley::accounting
