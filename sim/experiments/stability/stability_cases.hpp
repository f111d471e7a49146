// What `experiment stability` runs: machines on which work waits for long, and whole years of traces.
//
// The made cases last 40 weeks, head_start 80, on 16 processors for each organization. Run times are lognormal with a
// median of 2 h, at most 24 h; their mean residual run time E[d^2] / 2 E[d] is about 5 h. Same seed, same jobs, on any
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "scheduling/instance.hpp"
#include "sim/commands/experiment_command.hpp"

namespace shapley::sim {

struct StabilityCase {
  std::string name;   // "load_1.05", "LPC-EGEE_0.95": also a part of its plots' file names
  std::string about;  // one line
  scheduling::Instance instance;
};

// saturated   two equal organizations, each of which sends more than the processors of both can do
// load_1.05   four equal organizations, each of which sends 1.05 times what its processors can do
// bursty      four equal organizations, each of which sends .95 times that, as 20 bursts of an hour
// head_start  as saturated, but the first was alone for 30 days
[[nodiscard]] std::vector<StabilityCase> made_cases(std::uint64_t seed);

// Adds jobs of the organization, released at any instant before the end, until there is `work` processor seconds of
// them, and orders all jobs by release.
void add_made_jobs(scheduling::Instance& instance, std::uint32_t organization, double work, Rng& rng);

// Two equal organizations, always busy for `length`, after the first was alone for the first `alone` of it.
[[nodiscard]] StabilityCase head_start(Duration alone, Duration length, std::uint64_t seed);

// The first year (or all, if it is shorter) of each trace at loads .8, .95 and 1.05: users dealt at random to five
// organizations, equal processors, as many as make that load; parallel jobs as copies. None if no trace is at hand.
[[nodiscard]] Expected<std::vector<StabilityCase>> year_cases(const ExperimentArguments& arguments);

}  // namespace shapley::sim
