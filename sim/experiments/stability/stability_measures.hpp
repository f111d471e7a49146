// What members of a consortium feel of a schedule: shares of the machine over time, and waiting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "scheduling/instance.hpp"

namespace shapley::sim {

struct StabilityMeasures {
  // By organization and slice: the part of the machine's processor seconds that its jobs used. Whole slices only.
  std::vector<std::vector<double>> shares;
  // Standard deviation of an organization's shares, the greatest of all organizations', over the last third of the
  // slices and over all.
  double deviation_late = 0;
  double deviation = 0;
  // From release to start; of a job that does not start, to the instance's end.
  Duration longest_wait;
  std::vector<double> mean_wait_s;  // by organization; 0 without jobs
  // The longest time for which an organization had a job waiting and none started: starvation.
  Duration longest_without_start;
};

// Standard deviation with n; 0 without values.
[[nodiscard]] double deviation_of(std::span<const double> values);

// REQUIRES: a schedule of this instance in which each organization's jobs start in the order of (release, position);
// slice >= 1 s.
[[nodiscard]] StabilityMeasures measure_stability(const scheduling::Instance& instance,
                                                  std::span<const scheduling::Start> schedule, Duration slice);

}  // namespace shapley::sim
