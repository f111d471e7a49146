#include "sim/experiments/strategy/strategy_cases.hpp"

#include <algorithm>
#include <array>

#include "base/rng.hpp"

namespace shapley::sim {

namespace {

constexpr std::int64_t k_length_s = 10'000;
constexpr std::int64_t k_node = 8;
// Of the work that is submitted. At load 1.05 the owners send for 10, 6 and 6 processors, the fourth for 3.2.
constexpr std::array<double, 4> k_parts{10 / 25.2, 6 / 25.2, 6 / 25.2, 3.2 / 25.2};

// Until there are `work` processor seconds of them.
void add_jobs(ClusterScenario& scenario, std::uint32_t organization, double work, Rng& rng) {
  constexpr std::array<std::int64_t, 3> k_widths{1, 2, 4};
  for (double sent = 0; sent < work;) {
    ClusterJob job;
    job.organization = organization;
    job.submit = {static_cast<std::int64_t>(rng.below(k_length_s))};
    job.duration = {10 + static_cast<std::int64_t>(rng.below(301))};
    job.processors = k_widths[rng.below(k_widths.size())];
    job.useful = job.processors;
    job.wanted = static_cast<double>(job.submit.value);
    sent += static_cast<double>(job.processors * job.duration.value);
    scenario.jobs.push_back(std::move(job));
  }
}

}  // namespace

const std::vector<StrategyCase>& strategy_cases() {
  static const std::vector<StrategyCase> cases{
      {"load_0.80", "three owners of 8 processors and one organization without, load .8", 0.8},
      {"load_1.05", "the same, load 1.05", 1.05},
      {"saturated", "the same, load 2", 2}};
  return cases;
}

ClusterScenario honest_scenario(const StrategyCase& chosen, std::uint64_t seed) {
  ClusterScenario scenario;
  scenario.organizations = {"first", "second", "third", "without"};
  for (std::uint32_t owner = 0; owner < 3; ++owner)
    scenario.nodes.push_back({"n" + std::to_string(owner), owner, k_node});
  scenario.length = {k_length_s};
  Rng rng(seed);
  const double capacity = 3 * k_node * static_cast<double>(k_length_s);
  for (std::uint32_t u = 0; u < k_parts.size(); ++u) add_jobs(scenario, u, chosen.load * capacity * k_parts[u], rng);
  std::stable_sort(scenario.jobs.begin(), scenario.jobs.end(),
                   [](const ClusterJob& a, const ClusterJob& b) { return a.submit < b.submit; });
  return scenario;
}

}  // namespace shapley::sim
