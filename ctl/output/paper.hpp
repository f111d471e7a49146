// Amounts as a paper prints them: each is the exact amount, rounded to the nearest at the paper's number of decimals.
//
// One unit is the last decimal. An amount just between two units goes to the one that is farther from zero, so an
// amount and its negative have the same digits. 0 is printed for 0 and for what is less than half a unit, without a
// sign.
//
// Rounded amounts need not add up to a rounded total. What is left,
//     (rounding) = rounded total - sum of the rounded amounts                                     [units]
// is printed beside them, so that what is printed adds up: in a row `(rounding)` where amounts are added down a column
// (users of an organization), in a column of that name where they are added along a line (before + given - got =
// after). No amount is changed for it. Both are left out where they are zero everywhere.
//
// In a table of pairs each total has a rest of its own: in the row of the owner and `(rounding)` what its printed pairs
// lack to what it lent, in the row of `(rounding)` and the borrower what they lack to what that one borrowed. A rest
// belongs to that total only.
//
// Where processors of clusters differ in worth, the amounts are added with their weights, and their weighted sum is
// rounded before the rest is taken.
//
// A total is the exact sum of the exact amounts. If the books are not exact, the rest does not hide it.
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

// The name of the row and of the column.
inline constexpr const char* k_rounding = "(rounding)";

// An amount in units of the last decimal that is printed.
using Units = Int128;

// dividend / divisor, rounded to the nearest; halves away from zero. REQUIRES: divisor > 0.
[[nodiscard]] Units nearest_of_quotient(Int128 dividend, Int128 divisor);

// "1,204.3" for 12043 units of one decimal, "-0.5"; with a sign: "+1,204.3", "-0.5", "0.0". REQUIRES: `decimals` is 1,
// 2 or 3.
[[nodiscard]] std::string unit_text(Units units, int decimals);
[[nodiscard]] std::string signed_unit_text(Units units, int decimals);

// Core-hours that a report has as a double; to the millionth of a processor-second up to two million core-hours.
// |core_hours| above 1e24 counts as that.
[[nodiscard]] CpuTime work_of(double core_hours);

inline constexpr int k_most_decimals = 3;

// The core-hours of one paper: a statement, of one cluster or of a consortium, with the page of the same figures.
class PaperAmounts {
 public:
  // `largest` of the paper, without regard to sign: from 100 core-hours on there is one decimal, below 1 there are
  // three.
  explicit PaperAmounts(CpuTime largest);
  // Of a statement: by what its organizations got, gave and settled, and their differences.
  explicit PaperAmounts(const ledger::AccountReport& report);
  // REQUIRES: 1, 2 or 3.
  [[nodiscard]] static PaperAmounts with_decimals(int decimals);

  [[nodiscard]] int decimals() const { return decimals_; }

  [[nodiscard]] Units nearest(CpuTime work) const;
  // What is left of the amounts' sum: its units less those of the amounts.
  [[nodiscard]] Units left_over(std::span<const CpuTime> amounts) const;

  [[nodiscard]] std::string text(Units units) const { return unit_text(units, decimals_); }
  [[nodiscard]] std::string text(CpuTime work) const { return text(nearest(work)); }
  [[nodiscard]] std::string signed_text(Units units) const { return signed_unit_text(units, decimals_); }
  [[nodiscard]] std::string signed_text(CpuTime work) const { return signed_text(nearest(work)); }

 private:
  PaperAmounts() = default;

  int decimals_ = k_most_decimals;
};

// The rest of each organization of a statement, in its order: what is left of what it lent to each other one, and of
// what it borrowed from each.
struct PairsLeftOver {
  Units lent = 0;
  Units borrowed = 0;
};
[[nodiscard]] std::vector<PairsLeftOver> pairs_left_over(const ledger::AccountReport& report,
                                                         const PaperAmounts& amounts);

}  // namespace shapley::ctl
