// `shapley-sim experiment stability`: what a horizon and a guarantee (game/serving_order.hpp) do to shares over time,
// to waiting and to unfairness, and whether the default rule keeps what a consortium may expect:
//
//   in every case         the longest wait is at most 1.5 times fair_share's, and
//                         the deviation of weekly shares at most 1.2 times fair_share's and a point (last third)
//   on windows of traces  delta-psi / p_tot against ref under the published rule is at most 1.3 times that of
//                         direct_contr under the published rule
#pragma once

#include <iosfwd>

#include "base/error.hpp"
#include "sim/commands/experiment_command.hpp"

namespace shapley::sim {

// and what happens when everything comes free at once (stability_maintenance.hpp).
//
// Prints tables, or with `json` {"cases": [...], "debts": [...], "maintenance": [...], "windows": [...],
// "criteria": [...]}. Returns an exit code of exit_code.hpp.
[[nodiscard]] Expected<int> experiment_stability(const ExperimentArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
