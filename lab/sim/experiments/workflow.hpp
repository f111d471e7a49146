// An event-driven simulation of workflows on identical slots, first come first served or under the fairness loop.
#pragma once

#include <cstdint>
#include <vector>

#include "workflow/reprioritize.hpp"

namespace shapley::sim {

struct SimulatedWorkflow {
  std::int64_t submit = 0;                            // seconds
  std::vector<std::vector<std::int64_t>> activities;  // durations of their tasks; one activity after the other
};

struct Platform {
  std::size_t slots = 1;
  std::int64_t arrival_gap = 0;  // seconds between the arrivals of two slots; 0: all available at instant 0
};

enum class Control { first_come_first_served, fairness_loop };

struct SimulationOutcome {
  std::vector<std::int64_t> makespans;  // of each workflow, from its submission
  std::vector<double> slowdowns;        // makespan / longest path of its tasks [WF13 Sec. 3.1]
  double unfairness = 0;                // mu, the area under eta
};

// First come, first served is by workflow, in input order, as in the paper. The loop acts after every event, with tau =
// 1/5, knowing elapsed times only; priorities grow as in Algorithm 2. REQUIRES: submissions in ascending order.
[[nodiscard]] SimulationOutcome simulate_workflows(const std::vector<SimulatedWorkflow>& workflows,
                                                   const Platform& platform, Control control,
                                                   const workflow::Measure& measure);

}  // namespace shapley::sim
