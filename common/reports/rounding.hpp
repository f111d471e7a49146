// How every amount of hours is rounded for people: to the nearest of the last decimal, and just between two away
// from zero, by integers. An amount and its negative have the same digits. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "base/contract.hpp"
#include "base/text.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// An amount in units of the last decimal that is printed.
using Units = Int128;

inline constexpr Int128 k_core_hour = Int128{3600} * k_micro;

// dividend / divisor, rounded to the nearest; halves away from zero. REQUIRES: divisor > 0.
[[nodiscard]] inline Units nearest_of_quotient(Int128 dividend, Int128 divisor) {
  SHAPLEY_REQUIRE(divisor > 0);
  const Int128 amount = dividend < 0 ? -dividend : dividend;
  const Int128 rest = amount % divisor;
  const Units units = amount / divisor + (rest >= divisor - rest ? 1 : 0);
  return dividend < 0 ? -units : units;
}

// REQUIRES: 0 to 5, so that an hour of a processor has a whole number of each.
[[nodiscard]] constexpr Int128 power_of_ten(int decimals) {
  SHAPLEY_REQUIRE(decimals >= 0 && decimals <= 5);
  Int128 power = 1;
  for (; decimals > 0; --decimals) power *= 10;
  return power;
}

// "1,204.3" for 12043 units of one decimal, "-0.5". REQUIRES: `decimals` is 1 to 5.
[[nodiscard]] inline std::string unit_text(Units units, int decimals) {
  const Int128 one = power_of_ten(decimals);
  const Int128 amount = units < 0 ? -units : units;
  return (units < 0 ? "-" : "") + grouped(amount / one) + '.' +
         to_string(one + amount % one).substr(1);  // with the zeros in front
}

// The work to the nearest of so many decimals of an hour.
[[nodiscard]] inline Units core_hour_units(CpuTime work, int decimals) {
  return nearest_of_quotient(work.value, k_core_hour / power_of_ten(decimals));
}

// Hours that a report has as a double; to the millionth of a processor-second up to two million hours.
// |core_hours| above 1e24 counts as that, and what is no number as nothing.
[[nodiscard]] inline CpuTime work_of(double core_hours) {
  constexpr double k_most = 1e24;
  if (std::isnan(core_hours)) return {};
  return {static_cast<Int128>(std::round(std::clamp(core_hours, -k_most, k_most) * static_cast<double>(k_core_hour)))};
}

}  // namespace shapley::ledger
