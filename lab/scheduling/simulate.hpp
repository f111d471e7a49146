// Runs one policy over one instance.
//
// Greedy: while a processor is free and a job waits, one is started. Where only one organization waits the policy is
// not asked.
//
// With rigid jobs: while the first waiting job of some organization fits the free processors, one of those jobs is
// started. The policy chooses among their organizations. A first job that does not fit blocks its own organization,
// whose jobs run in FIFO order, and no other; nothing is reserved for it. The policy receives a rigid job as the q
// sequential jobs that it stands for, all of one instant.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

struct SimulationResult {
  std::vector<std::int64_t> psi;  // by organization, at instance.end
  std::int64_t value = 0;         // v = sum of psi
  std::int64_t work = 0;          // p_tot: unit parts done before instance.end
  std::vector<Start> schedule;    // by job index; jobs that did not start are absent
  std::uint64_t events = 0;       // releases and completions before instance.end, a rigid job's once per processor
};

// REQUIRES: validate(instance); k_max_organizations at most.
[[nodiscard]] SimulationResult simulate(const Instance& instance, Policy& policy);

// Several machines on one clock, each with its own jobs and policy; what happens at one instant happens on one machine
// after the other. `before(t)` is called when everything before t has happened and nothing of t has: before each
// instant at which anything happens, and with end + 1 after the last one.
//
// REQUIRES: as simulate() of each, and one end.
struct Machine {
  const Instance* instance = nullptr;
  Policy* policy = nullptr;
};
[[nodiscard]] std::vector<SimulationResult> simulate_together(std::span<const Machine> machines,
                                                              const std::function<void(std::int64_t t)>& before);

}  // namespace shapley::scheduling
