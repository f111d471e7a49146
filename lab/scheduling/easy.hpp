// EASY backfill: rigid jobs with requested times, the queue's order given by a policy.
//
// Lifka, "The ANL/IBM SP Scheduling System" (JSSPP 1995); the algorithm as Mu'alem and Feitelson, "Utilization,
// Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling" (IEEE TPDS 12(6),
// 2001) write it down:
//
//   1. While the first job of the queue fits the free processors, it is started.
//   2. The first job that does not fit is the head. Running jobs are taken to end when they requested to. The shadow
//      time is the first instant at which enough of them have ended for the head; the extra processors are those that
//      are free then beyond what the head needs.
//   3. In the queue's order every other job that fits the free processors is started if it is to end by the shadow
//   time,
//      or needs no more than the extra processors (which are fewer by then). So no backfilled job delays the head.
//
// All is done again at every release, end and change of processors. A job ends when its duration is over, by its
// requested time at the latest; the schedule sees requested times only.
//
// The queue: without a policy jobs are in the order of (release, position), which is FCFS. With a policy they are in
// its order of the waiting organizations, each one's jobs by (release, position), as shapleyd ranks them. The policy is
// asked for the whole order before every start of step 1 and once for step 3. Times and ties follow policy.hpp. A job
// that is wider than all processors of the moment is skipped and delays no other job.
//
// Where processors are of several kinds, each kind has a reservation of its own, for the first job of the queue that
// waits for it; a job that may use several kinds takes the first one that it fits, and waits for the one in which it
// may start first. Jobs that share no kind do not affect each other.
//
// Pure. Cost: O(waiting + running) for every release and end.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

// From `at` on organizations own this many processors. Running jobs go on, even on processors that no longer exist.
struct Endowment {
  Instant at;
  std::vector<std::uint32_t> processors;  // by organization
};

[[nodiscard]] std::int64_t total_of(const Endowment& endowment);

struct EasyInstance {
  std::vector<Endowment>
      endowments;         // one at least, ascending by `at`, all of one size; the first holds from before, too
  std::vector<Job> jobs;  // releases >= 0
  std::vector<Duration> requested;  // by job, >= its duration
  Instant latest;                   // no simulated job may end after it (Errc::limit)
  // By kind and organization: whose processors are of which kind. They sum to those of the only endowment. Empty: all
  // processors are alike.
  std::vector<std::vector<std::uint32_t>> kinds{};
  Instant until = k_end_of_time;  // the simulation ends there, with what ends at it
  Duration residual{};            // as Instance::residual
};

inline constexpr std::int64_t k_never_started = -1;

struct EasySchedule {
  std::vector<std::int64_t> start;  // by job; k_never_started: it was always wider than all processors
  std::uint64_t backfilled = 0;     // jobs that were started by step 3
};

// Errc::invalid_argument names the job or endowment at fault; Errc::limit where psi could leave 63 bits by `latest`.
[[nodiscard]] Expected<void> validate(const EasyInstance& instance);

// Completes an instance whose processors are given by kind, and validates it: the endowment, and `latest`, by which
// every job that starts before `until` has ended. REQUIRES: there is a kind.
[[nodiscard]] Expected<void> finish_kinds(EasyInstance& instance);

// The instance that a policy is constructed with: the first endowment, no jobs.
[[nodiscard]] Instance first_instance(const EasyInstance& instance);

// `policy`: null for FCFS; else one made for first_instance(). `observer`: where the order is FCFS, a policy that
// learns what happens, and is not asked. REQUIRES: validate(instance), and with a policy k_max_organizations at most.
// Errc::invalid_argument when processors change and the policy does not support that (Policy::endowed); Errc::limit
// when a job would end after `latest`.
[[nodiscard]] Expected<EasySchedule> simulate_easy(const EasyInstance& instance, Policy* policy,
                                                   Policy* observer = nullptr);

// psi_sp [SR13 Eq. 3] of every organization at t: its jobs' unit parts that began before t, each q times.
[[nodiscard]] std::vector<std::int64_t> psi_of(const EasyInstance& instance, const EasySchedule& schedule, Instant t);
// Processor seconds that are done at instance.until. REQUIRES: a schedule that ends there.
[[nodiscard]] std::int64_t work_of(const EasyInstance& instance, const EasySchedule& schedule);

}  // namespace shapley::scheduling
