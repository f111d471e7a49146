// Utilities with one interface: how satisfied an organization is, at t, with what has happened to its jobs.
//
// Every one is a sum over the organization's started jobs (release r, start s, duration p), looks at no other
// organization's jobs (envy-free) and at nothing after t (non-clairvoyant) [SR13 Sec. 4]. More is better: what is
// minimized in scheduling is counted negative, as SR13 proposes. Seconds, or processor seconds squared for psi_sp.
//
//   psi_sp       q (t - s) - q (q-1)/2,  q = min(p, t-s)                       [SR13 Eq. 3]
//   flow_time    -(s + p - r)            of completed jobs
//   turnaround   -(min(s + p, t) - r)    of started jobs: time in the system so far
//   waiting_time -(s - r)                of started jobs
//   tardiness    -max(0, s + p - (r + 2p))  of completed jobs: the model has no due dates; a job is late when it took
//   more
//                                        than twice its duration
//   utilization  min(p, t-s)             processor seconds used, resource utilization except for the constant 1/(M t)
//
// SR13 names flow time and turnaround without formulas, elsewhere they are synonyms; here they differ in whether a
// running job counts already. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "scheduling/instance.hpp"

namespace shapley::scheduling {

struct ScheduledJob {
  Instant release;
  Instant start;
  Duration duration;
};

struct UtilityFunction {
  std::string_view name;
  std::int64_t (*of_job)(const ScheduledJob& job, Instant t);  // REQUIRES: job.start <= t
  bool settles;                                                // a completed job's utility never changes again
};

// All utilities, psi_sp first.
[[nodiscard]] std::span<const UtilityFunction> utility_functions();

// Errc::invalid_argument lists the known names.
[[nodiscard]] Expected<const UtilityFunction*> find_utility_function(std::string_view name);

// The utility of every organization at instance.end. The schedule's starts lie before it. A rigid job of q processors
// counts q times, as the sequential jobs that it stands for.
[[nodiscard]] std::vector<std::int64_t> utilities_of(const UtilityFunction& utility, const Instance& instance,
                                                     std::span<const Start> schedule);

// The three axioms of a strategy-proof utility [SR13 Sec. 4, Thm. 4.1], and a search for schedules that break them.
//
// With sigma, sigma' schedules of one organization, (s, p) a job that starts at s and lasts p, all at one instant t:
//
//   starting_times       psi(sigma + (s,p)) - psi(sigma + (s+1,p)) = psi(sigma' + (s',p)) - psi(sigma' + (s'+1,p)) > 0
//   number_of_tasks      psi(sigma + (s,p)) - psi(sigma) = psi(sigma' + (s,p)) - psi(sigma') > 0
//   strategy_resistance  gain(s, p1) + gain(s+p1, p2) = gain(s, p1+p2),  gain(s,p) = psi(sigma + (s,p)) - psi(sigma)
//
// The first two concern work that is completed at t (s+1+p <= t, s+p <= t), the third of running jobs, too. SR13 prints
// the third without "- psi(sigma)", which no utility satisfies beside other jobs; gains are what its proof uses.
// psi_sp satisfies all three, and, up to constants, nothing else does (Theorem 4.1).
//
// A counterexample is the first in the order of (t, sigma): few seconds and jobs. Finding none is a proof for the
// schedules searched only: t <= 7, durations <= 3, sigma of at most one job. Pure functions.
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

// Why the axiom fails: the schedules that it compares, their utilities at t, and a sentence with these numbers.
struct Counterexample {
  Instant t;
  std::vector<EvaluatedSchedule> schedules;
  std::string why;
};

[[nodiscard]] std::optional<Counterexample> find_counterexample(Axiom axiom, const ScheduleUtility& utility);

}  // namespace shapley::scheduling
