// Amounts as a paper prints them: each is the exact amount, rounded to the nearest at the paper's number of decimals.
//
// One unit is the last decimal (reports/rounding.hpp). 0 is printed for 0 and for what is less than half a unit,
// without a sign.
//
// Rounded amounts need not add up to a rounded total. What is left,
//     (rounding) = rounded total - sum of the rounded amounts                                     [units]
// is printed beside them, so that what is printed adds up: in a row `(rounding)` where amounts are added down a column
// (users of an organization, and what every table comes to in its row `(sum)`), in a column of that name where they are
// added along a line (before + given - got = after). No amount is changed for it. Both are left out where they are zero
// everywhere.
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

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/types.hpp"
#include "ledger/reports/statement.hpp"
#include "reports/rounding.hpp"

namespace shapley::ctl {

using ledger::nearest_of_quotient;
using ledger::unit_text;
using ledger::Units;
using ledger::work_of;

// The name of the row and of the column, and of the row of what a table comes to.
inline constexpr const char* k_rounding = "(rounding)";
inline constexpr const char* k_sum = "(sum)";

// "+1,204.3", "-0.5", "0.0". REQUIRES: as unit_text().
[[nodiscard]] std::string signed_unit_text(Units units, int decimals);

inline constexpr int k_most_decimals = 3;

// The core-hours of one paper: a statement, of one cluster or of a consortium, with the page of the same figures.
class PaperAmounts {
 public:
  // `largest` of the paper, without regard to sign: from 100 core-hours on there is one decimal, below 1 there are
  // three.
  explicit PaperAmounts(CpuTime largest);
  // Of a statement: by what its organizations got, gave and settled, and their differences.
  // `others`: the largest of the paper's other amounts.
  explicit PaperAmounts(const ledger::AccountReport& report, CpuTime others = {});
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

// The printed amounts of a table's lines, added up column by column.
class ColumnSums {
 public:
  void add(std::span<const Units> line);
  // What the lines lack to the line of their sums.
  [[nodiscard]] std::vector<Units> rest(std::span<const Units> sum) const;

 private:
  std::vector<Units> added_;
};

// A column of amounts: the name of its field, and whether an amount of it may be owed, so that it has a sign.
struct AmountField {
  std::string_view name;
  bool is_signed = false;
};

// The rows of a table, objects as described records are: lines, and below them `(rounding)`, if anything is left, and
// their sum, if there is more than one line.
class AmountRows {
 public:
  // REQUIRES: `amounts` and what `fields` refers to outlive it.
  AmountRows(const PaperAmounts& amounts, std::span<const AmountField> fields) : amounts_(amounts), fields_(fields) {}

  // `words`: the members of a row that are no amounts. REQUIRES: `line` has an amount for each field.
  void add(nlohmann::json words, std::span<const Units> line);
  // A line that is no part of the sum.
  void note(nlohmann::json words, std::span<const Units> line) { push(std::move(words), line, false); }
  // The rest of a part of the lines, which is added up with them; nothing is added if nothing is left.
  void add_rest(nlohmann::json words, std::span<const Units> rest);
  // The same, of a sum that is no line of this table.
  void note_rest(nlohmann::json words, std::span<const Units> rest);
  // To be called last. `sum`: a line, made of the exact sums.
  void finish(const nlohmann::json& rest_words, const nlohmann::json& sum_words, std::span<const Units> sum);

  // Whether a row has anything but zero in the column.
  [[nodiscard]] bool has(std::string_view field) const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] nlohmann::json take() && { return std::move(rows_); }

 private:
  void push(nlohmann::json words, std::span<const Units> line, bool is_rest);

  const PaperAmounts& amounts_;
  std::span<const AmountField> fields_;
  std::vector<bool> has_ = {};
  nlohmann::json rows_ = nlohmann::json::array();
  std::size_t lines_ = 0;
  ColumnSums sums_;
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
