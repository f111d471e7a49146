// The three axioms of a strategy-proof utility [SR13 Sec. 4, Thm. 4.1], and a search for schedules that break them.
//
// With sigma, sigma' schedules of one organization, (s, p) a job that starts at s and lasts p, all at one instant t:
//
//   starting_times       psi(sigma + (s,p)) - psi(sigma + (s+1,p)) = psi(sigma' + (s',p)) - psi(sigma' + (s'+1,p)) > 0
//   number_of_tasks      psi(sigma + (s,p)) - psi(sigma) = psi(sigma' + (s,p)) - psi(sigma') > 0
//   strategy_resistance  gain(s, p1) + gain(s+p1, p2) = gain(s, p1+p2),  gain(s,p) = psi(sigma + (s,p)) - psi(sigma)
//
// The first two speak of work that is completed at t (s+1+p <= t, s+p <= t), the third of running jobs, too. SR13
// prints the third without "- psi(sigma)", which no utility satisfies beside other jobs; gains are what its proof uses.
// psi_sp satisfies all three, and nothing else does but for constants (Theorem 4.1).
//
// A counterexample is the first in the order of (t, sigma): few seconds and jobs. Finding none is a proof for the
// schedules searched only: t <= 7, durations <= 3, sigma of at most one job. Pure functions.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/utility_functions.hpp"

namespace shapley::scheduling {

enum class Axiom { starting_times, number_of_tasks, strategy_resistance };
inline constexpr std::array k_axioms{Axiom::starting_times, Axiom::number_of_tasks, Axiom::strategy_resistance};
[[nodiscard]] std::string_view name_of(Axiom axiom);

// psi(sigma, t) of any utility, additive over jobs or not.
using ScheduleUtility = std::function<std::int64_t(std::span<const ScheduledJob>, Instant)>;
[[nodiscard]] ScheduleUtility schedule_utility(const UtilityFunction& utility);

struct EvaluatedSchedule {
  std::vector<ScheduledJob> jobs;
  std::int64_t utility = 0;
};

// Why the axiom fails: the schedules that it compares, their utilities at t, and the sentence that their numbers make.
struct Counterexample {
  Instant t;
  std::vector<EvaluatedSchedule> schedules;
  std::string why;
};

[[nodiscard]] std::optional<Counterexample> find_counterexample(Axiom axiom, const ScheduleUtility& utility);

}  // namespace shapley::scheduling
