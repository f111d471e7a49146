// What an organization has of a game, and how it compares with playing none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/experiments/strategy/strategy_world.hpp"

namespace shapley::sim {

struct StrategyMeasures {
  double work = 0;  // useful processor seconds that were done for it
  double phi = 0;   // by the estimator that ranks, processor seconds squared
  // Mean over the useful processor seconds of its jobs: from when the work came up until that second was done; what is
  // not done counts until the end. Cutting and joining jobs leaves it comparable, as it does not count jobs.
  double delay_s = 0;
};
[[nodiscard]] StrategyMeasures measure_strategy(const ClusterScenario& scenario, const ClusterOutcome& outcome,
                                                std::uint32_t organization, std::string_view estimator);

struct StrategyChange {
  double work_percent = 0;
  std::optional<double> phi_percent;  // none: the honest organization is credited nothing
  double delay_s = 0;
};
// REQUIRES: the honest organization got work.
[[nodiscard]] StrategyChange change_of(const StrategyMeasures& honest, const StrategyMeasures& played);

}  // namespace shapley::sim
