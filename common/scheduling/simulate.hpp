// Runs one policy over one instance: the laboratory's clock.
//
// Greedy: while a processor is free and a job waits, one is started. Where only one organization waits the policy is
// not asked.
//
// With rigid jobs: while the first waiting job of some organization fits the free processors, one of those jobs is
// started. The policy chooses among their organizations. A first job that does not fit blocks its own organization,
// whose jobs run in FIFO order, and nobody else; nothing is reserved for it. The policy hears of a rigid job as of the
// q sequential jobs it stands for, all of one instant.
#pragma once

#include <cstdint>
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

// REQUIRES: validate(instance).
[[nodiscard]] SimulationResult simulate(const Instance& instance, Policy& policy);

}  // namespace shapley::scheduling
