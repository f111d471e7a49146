#include "ctl/output/paper.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/contract.hpp"
#include "base/text.hpp"

namespace shapley::ctl {

namespace {

using ledger::AccountReport;
using ledger::AccountRow;
using ledger::Amount;

constexpr Int128 k_core_hour = Int128{3600} * k_micro;

Int128 power_of_ten(int decimals) {
  constexpr std::array<std::int64_t, 4> k_powers = {1, 10, 100, 1000};
  SHAPLEY_REQUIRE(decimals >= 1 && decimals < static_cast<int>(k_powers.size()));
  return k_powers.at(static_cast<std::size_t>(decimals));
}

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

CpuTime largest_amount_of(const AccountReport& report) {
  Int128 largest = 0;
  const auto see = [&](const Amount& amount) { largest = std::max(largest, magnitude(amount.work.value)); };
  for (const ledger::PeriodPart& part : report.periods) {
    for (const ledger::PeriodRow& row : part.organizations)
      for (const Amount& amount : {row.opening.difference, row.given, row.got, row.settled, row.closing.difference})
        see(amount);
  }
  for (const AccountRow& row : report.organizations) see(row.got);
  return {largest};
}

std::vector<CpuTime> works_of(const std::vector<ledger::LentPair>& pairs) {
  std::vector<CpuTime> works;
  for (const ledger::LentPair& pair : pairs) works.push_back(pair.work);
  return works;
}

}  // namespace

Units nearest_of_quotient(Int128 dividend, Int128 divisor) {
  SHAPLEY_REQUIRE(divisor > 0);
  const Int128 amount = magnitude(dividend);
  const Int128 rest = amount % divisor;
  const Units units = amount / divisor + (rest >= divisor - rest ? 1 : 0);
  return dividend < 0 ? -units : units;
}

std::string unit_text(Units units, int decimals) {
  const Int128 one = power_of_ten(decimals);
  const Int128 amount = magnitude(units);
  return (units < 0 ? "-" : "") + grouped(amount / one) + '.' +
         to_string(one + amount % one).substr(1);  // with the zeros in front
}

std::string signed_unit_text(Units units, int decimals) {
  return (units > 0 ? "+" : "") + unit_text(units, decimals);
}

CpuTime work_of(double core_hours) {
  constexpr double k_most = 1e24;
  return {static_cast<Int128>(std::round(std::clamp(core_hours, -k_most, k_most) * static_cast<double>(k_core_hour)))};
}

PaperAmounts::PaperAmounts(CpuTime largest)
    : decimals_(magnitude(largest.value) >= 100 * k_core_hour ? 1
                : magnitude(largest.value) >= k_core_hour     ? 2
                                                              : k_most_decimals) {}

PaperAmounts::PaperAmounts(const AccountReport& report) : PaperAmounts(largest_amount_of(report)) {}

PaperAmounts PaperAmounts::with_decimals(int decimals) {
  SHAPLEY_REQUIRE(decimals >= 1 && decimals <= k_most_decimals);
  PaperAmounts amounts;
  amounts.decimals_ = decimals;
  return amounts;
}

Units PaperAmounts::nearest(CpuTime work) const {
  return nearest_of_quotient(work.value, k_core_hour / power_of_ten(decimals_));
}

Units PaperAmounts::left_over(std::span<const CpuTime> amounts) const {
  CpuTime sum;
  Units printed = 0;
  for (const CpuTime amount : amounts) {
    sum += amount;
    printed += nearest(amount);
  }
  return nearest(sum) - printed;
}

std::vector<PairsLeftOver> pairs_left_over(const AccountReport& report, const PaperAmounts& amounts) {
  std::vector<PairsLeftOver> rests;
  for (const AccountRow& row : report.organizations) {
    rests.push_back(
        {.lent = amounts.left_over(works_of(row.lent_to)), .borrowed = amounts.left_over(works_of(row.borrowed_from))});
  }
  return rests;
}

}  // namespace shapley::ctl
