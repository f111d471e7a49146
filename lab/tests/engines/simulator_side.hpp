// The simulator's account of an instance: a schedule, and what it says of psi and both contributions.
//
// One policy chooses. direct_contr and shapley_rate get every job whichever policy chooses, so that any policy's
// schedule has both contributions, and every start the owner of each processor that it took.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::engines {

enum class Chooser { direct_contr, shapley_rate, fcfs, round_robin, ref };

struct Setup {
  Chooser chooser = Chooser::direct_contr;
  std::uint64_t seed = 1;  // of direct_contr, which draws the processor that a job takes
};

// By organization at one instant, in processor seconds squared.
struct Account {
  std::vector<std::int64_t> psi;
  std::vector<scheduling::Rational> direct;
  std::vector<scheduling::Rational> rate;
};

struct StartedJob {
  std::uint32_t job = 0;              // index in Instance::jobs
  Instant begin;                      // of the instance's time
  std::vector<std::uint32_t> owners;  // one for each processor that it takes
};

// The jobs that start before instance.end, by index. REQUIRES: validate(instance); Chooser::ref: no rigid jobs.
[[nodiscard]] std::vector<StartedJob> schedule_of(const scheduling::Instance& instance, const Setup& setup);

// The same simulation, reported at t. REQUIRES: 0 <= t <= instance.end.
[[nodiscard]] Account account_at(Instant t, scheduling::Instance instance, const Setup& setup);

}  // namespace shapley::engines
