// Utilities behind one seam: how satisfied an organization is, at t, with what has happened to its jobs.
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
//   utilization  min(p, t-s)             processor seconds used, resource utilization but for the constant 1/(M t)
//
// SR13 names flow time and turnaround without formulas, elsewhere they are synonyms; here they differ in whether a
// running job counts already. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

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

// All of them, psi_sp first.
[[nodiscard]] std::span<const UtilityFunction> utility_functions();

// Errc::invalid_argument lists the known names.
[[nodiscard]] Expected<const UtilityFunction*> find_utility_function(std::string_view name);

// Of every organization, at instance.end. The schedule's starts lie before it. A rigid job of q processors counts q
// times, as the sequential jobs it stands for.
[[nodiscard]] std::vector<std::int64_t> utilities_of(const UtilityFunction& utility, const Instance& instance,
                                                     std::span<const Start> schedule);

}  // namespace shapley::scheduling
