// The rules that `experiment stability` lays side by side, by the names that the registry reads.
#pragma once

#include <string>
#include <vector>

#include "game/serving_order.hpp"

namespace shapley::sim {

// 0, 1 h, 6 h, 1 d, 7 d, 30 d; 0, .5, .8.
[[nodiscard]] std::vector<Duration> stability_horizons();
[[nodiscard]] std::vector<game::Guarantee> stability_guarantees();

// Every policy under every horizon and guarantee, the published rule first; then, with the default's horizon and
// guarantee, weights of what runs, and organizations ordered once a pass (but ref); with other horizons the default's
// weight.
[[nodiscard]] std::vector<std::string> rules_of(const std::vector<std::string>& policies);

// What stability_maintenance.hpp runs: every policy under 7 d and 30 d, without a guarantee and with the default's,
// once a pass and with weights 0 to 1 of what runs; the default once a pass; fair_share after every start and once a
// pass.
[[nodiscard]] std::vector<std::string> rules_after_maintenance(const std::vector<std::string>& policies);

// The baseline of the criteria, the policy whose unfairness is the measure, and what members' waiting is limited to.
inline constexpr const char* k_fair_share = "fair_share";
inline constexpr const char* k_measure = "direct_contr";
inline constexpr double k_wait_factor = 1.5;
inline constexpr double k_deviation_factor = 1.2;
inline constexpr double k_deviation_margin = 0.01;  // of the machine
inline constexpr double k_unfairness_factor = 1.3;

}  // namespace shapley::sim
