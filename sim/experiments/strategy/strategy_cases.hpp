// The clusters on which `experiment strategy` plays: three owners of a node of 8 processors each and an organization
// without nodes. The first owner sends more than it owns, the others less, so there is something to lend and to claim.
// Run times are uniform from 10 s to 310 s; jobs of 1, 2 or 4 processors. Same seed, same jobs, on any machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/experiments/strategy/strategy_world.hpp"

namespace shapley::sim {

struct StrategyCase {
  std::string name;   // "load_0.80", "load_1.05", "saturated"
  std::string about;  // one line
  double load = 1;    // work that is submitted, as a part of what the cluster can do
};
[[nodiscard]] const std::vector<StrategyCase>& strategy_cases();

// What the organizations do who play no game.
[[nodiscard]] ClusterScenario honest_scenario(const StrategyCase& chosen, std::uint64_t seed);

}  // namespace shapley::sim
