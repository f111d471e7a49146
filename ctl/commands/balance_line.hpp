// A balance as a line of a paper: what it was before, given, got and settled, and what it is after.
#pragma once

#include <array>

#include "base/types.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/output/summed.hpp"

namespace shapley::ctl {

// The columns of balance_line().
inline constexpr AmountField k_balance_amounts[] = {{"before", true},  {"given"},          {"got"},
                                                    {"settled", true}, {"rounding", true}, {"after", true}};

struct BalanceWorks {
  CpuTime before = {}, given = {}, got = {}, settled = {};

  [[nodiscard]] CpuTime after() const { return before + given - got + settled; }
};
SHAPLEY_DESCRIBE(BalanceWorks, before, given, got, settled);

[[nodiscard]] inline std::array<Units, 6> balance_line(const BalanceWorks& works, const PaperAmounts& amounts) {
  return {amounts.nearest(works.before),
          amounts.nearest(works.given),
          amounts.nearest(works.got),
          amounts.nearest(works.settled),
          amounts.left_over(std::array{works.before, works.given, -works.got, works.settled}),
          amounts.nearest(works.after())};
}

}  // namespace shapley::ctl
