// How long an old debt is paid back, by its age: the first of two equal organizations that are always busy was alone
// for some days; from then on, weeks until both have the half of the machine for good.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

struct DebtResult {
  std::string rule;  // as the registry reads it
  std::vector<std::int64_t> days_alone;
  std::vector<std::optional<double>> weeks;  // until settled; none: not within 120 weeks
};

// The weeks from `begin` (in weeks) after which every share stays within 5 points of a half; none if the last one does
// not.
[[nodiscard]] std::optional<double> weeks_to_settle(const std::vector<double>& weekly_shares, double begin);

// In the order of `rules`; less after Ctrl-C.
[[nodiscard]] Expected<std::vector<DebtResult>> run_debts(const std::vector<std::string>& rules, std::uint64_t seed,
                                                          unsigned threads);

void print_debts(const std::vector<DebtResult>& results, std::ostream& out);
[[nodiscard]] Json to_json(const DebtResult& result);

}  // namespace shapley::sim
