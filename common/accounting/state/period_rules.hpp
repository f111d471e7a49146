// Which instants close the books: the declarations of periods, folded into boundaries.
//
// A rule declared at `a` and replaced at `b` gives the calendar's boundaries in (a, b]: a boundary that falls on the
// very instant of a new declaration still closes the books, so repeating a declaration never loses one.
// Single-threaded; the caller owns it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/calendar.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class PeriodRules {
 public:
  [[nodiscard]] std::optional<Period> declared_at(Instant at) const;
  void declare(Instant at, Period period) { declarations_[at] = period; }

  // First boundary after t; k_end_of_time if there is none.
  [[nodiscard]] Instant next_boundary(Instant t) const;
  // Every boundary at or before t.
  [[nodiscard]] std::vector<Instant> boundaries_until(Instant t) const;
  // The rule in force at t: none before the first declaration.
  [[nodiscard]] Period rule_at(Instant t) const;

  [[nodiscard]] const std::map<Instant, Period>& declarations() const { return declarations_; }

 private:
  std::map<Instant, Period> declarations_;
};

}  // namespace shapley::accounting
