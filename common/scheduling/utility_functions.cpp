#include "scheduling/utility_functions.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace shapley::scheduling {

namespace {

std::int64_t done(const ScheduledJob& job, Instant t) {
  return std::min(job.duration, t - job.start).value;
}
bool is_completed(const ScheduledJob& job, Instant t) {
  return job.start + job.duration <= t;
}
std::int64_t time_in_system(const ScheduledJob& job, Instant t) {
  return (std::min(job.start + job.duration, t) - job.release).value;
}

std::int64_t psi_sp(const ScheduledJob& job, Instant t) {
  const std::int64_t q = done(job, t);
  return q * (t - job.start).value - q * (q - 1) / 2;
}
std::int64_t flow_time(const ScheduledJob& job, Instant t) {
  return is_completed(job, t) ? -time_in_system(job, t) : 0;
}
std::int64_t turnaround(const ScheduledJob& job, Instant t) {
  return -time_in_system(job, t);
}
std::int64_t waiting_time(const ScheduledJob& job, Instant /*t*/) {
  return -(job.start - job.release).value;
}
std::int64_t tardiness(const ScheduledJob& job, Instant t) {
  const std::int64_t late = (job.start - job.release - job.duration).value;
  return is_completed(job, t) ? -std::max<std::int64_t>(0, late) : 0;
}
std::int64_t utilization(const ScheduledJob& job, Instant t) {
  return done(job, t);
}

constexpr std::array k_utilities{
    UtilityFunction{"psi_sp", psi_sp, false},        UtilityFunction{"flow_time", flow_time, true},
    UtilityFunction{"turnaround", turnaround, true}, UtilityFunction{"waiting_time", waiting_time, true},
    UtilityFunction{"tardiness", tardiness, true},   UtilityFunction{"utilization", utilization, true},
};

}  // namespace

std::span<const UtilityFunction> utility_functions() {
  return k_utilities;
}

Expected<const UtilityFunction*> find_utility_function(std::string_view name) {
  std::string known;
  for (const UtilityFunction& utility : k_utilities) {
    if (utility.name == name) return &utility;
    known += (known.empty() ? "" : ", ") + std::string(utility.name);
  }
  return fail(Errc::invalid_argument, "utility \"" + std::string(name) + "\" is unknown; known are " + known);
}

std::vector<std::int64_t> utilities_of(const UtilityFunction& utility, const Instance& instance,
                                       std::span<const Start> schedule) {
  std::vector<std::int64_t> utilities(instance.organizations());
  for (const Start& start : schedule) {
    const Job& job = instance.jobs[start.job];
    utilities[job.organization] +=
        job.processors * utility.of_job({job.release, start.start, job.duration}, instance.end);
  }
  return utilities;
}

}  // namespace shapley::scheduling
