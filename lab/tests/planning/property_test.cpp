// Every algorithm against its slow, literal twin, and against what MO11 promises for all instances.
#include <algorithm>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "instances.hpp"
#include "naive.hpp"
#include "planning/algorithms.hpp"
#include "planning/mocca.hpp"

namespace shapley::planning {
namespace {

constexpr LocalOrder k_orders[] = {LocalOrder::hf, LocalOrder::lpt, LocalOrder::spt};

void expect_no_later(const Grid& grid, const Schedule& before, const Schedule& after) {
  for (std::uint32_t i = 0; i < before.size(); ++i) RC_ASSERT(end_of(grid, after, i) <= end_of(grid, before, i));
}

RC_GTEST_PROP(Planning, LocalSchedulesAreTheListsOfTheWitness, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 25);
  for (const LocalOrder order : k_orders) {
    const Schedule schedule = schedule_locally(grid, order);
    RC_ASSERT(check_schedule(grid, schedule).has_value());
    RC_ASSERT(schedule == naive::schedule_locally(grid, order));
  }
  RC_ASSERT(check_schedule(grid, schedule_locally(grid, LocalOrder::random, seed)).has_value());
}

// Proposition 1's instant t_HL of a cluster: up to it more than half of the processors are busy, from it on at most
// half, never rising. nullopt when the cluster's part of the schedule has no such instant.
std::optional<Ticks> high_low_instant(const Grid& grid, const Schedule& schedule, std::uint32_t cluster) {
  std::map<Ticks, std::int64_t> changes{{0, 0}};
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].cluster != cluster) continue;
    changes[schedule[i].start] += grid.jobs[i].processors;
    changes[end_of(grid, schedule, i)] -= grid.jobs[i].processors;
  }
  std::optional<Ticks> low_since;
  std::int64_t used = 0;
  for (const auto& [at, change] : changes) {
    if (low_since && change > 0) return std::nullopt;
    used += change;
    if (!low_since && 2 * used <= grid.clusters[cluster]) low_since = at;
  }
  return low_since;
}

// Proposition 1: the low stretch lasts LB at most.
RC_GTEST_PROP(Planning, HfHasTwoRegions, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 40);
  const Schedule schedule = schedule_locally(grid, LocalOrder::hf);
  const auto ends = cluster_makespans(grid, schedule);
  for (std::uint32_t k = 0; k < grid.clusters.size(); ++k) {
    const auto low_since = high_low_instant(grid, schedule, k);
    RC_ASSERT(low_since.has_value());
    RC_ASSERT(ends[k] - *low_since <= grid.lower_bound());
  }
}

RC_GTEST_PROP(Planning, MoccaIsTheWitnessAndKeepsTheoremOne, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 20);
  const auto plan = plan_mocca(grid);
  RC_ASSERT(plan.has_value());
  RC_ASSERT(check_schedule(grid, plan->schedule).has_value());
  RC_ASSERT(makespan(grid, plan->schedule) <= 3 * grid.lower_bound());
  RC_ASSERT(check_no_organization_loses(grid, schedule_locally(grid, LocalOrder::hf), plan->schedule).has_value());
  // What is moved ended after 3 LB, so no single job ends later, either.
  expect_no_later(grid, schedule_locally(grid, LocalOrder::hf), plan->schedule);
  RC_ASSERT(plan->phase2.size() + plan->phase3.size() == plan->removed.size());
  const auto witness = naive::mocca(grid);
  RC_ASSERT(witness.has_value());
  RC_ASSERT(plan->schedule == *witness);
}

RC_GTEST_PROP(Planning, Mocca4IsTheWitnessAndKeepsPropositionTen, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 20);
  for (const LocalOrder order : k_orders) {
    const auto plan = plan_mocca4(grid, order);
    RC_ASSERT(plan.has_value());
    RC_ASSERT(check_schedule(grid, *plan).has_value());
    RC_ASSERT(makespan(grid, *plan) <= 4 * grid.lower_bound());
    RC_ASSERT(check_no_organization_loses(grid, schedule_locally(grid, order), *plan).has_value());
    RC_ASSERT(*plan == naive::mocca4(grid, order));
  }
}

RC_GTEST_PROP(Planning, TheExperimentsVariantIsTheWitness, (std::uint64_t seed, bool four)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 20);
  for (const LocalOrder order : k_orders) {
    const int alpha = four ? 4 : 3;
    const ExperimentPlan plan = plan_mocca_experiment(grid, order, alpha);
    RC_ASSERT(check_schedule(grid, plan.schedule).has_value());
    RC_ASSERT(check_no_organization_loses(grid, schedule_locally(grid, order), plan.schedule).has_value());
    RC_ASSERT(plan.fell_back || makespan(grid, plan.schedule) <= alpha * grid.lower_bound());
    RC_ASSERT(plan.schedule == naive::mocca_experiment(grid, order, alpha));
  }
}

// Proposition 11.
RC_GTEST_PROP(Planning, IlbaIsTheWitnessAndDelaysNoJob, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 20);
  for (const Schedule& before : {schedule_locally(grid, LocalOrder::spt), plan_mocca(grid)->schedule}) {
    const Schedule after = balance(grid, before);
    RC_ASSERT(check_schedule(grid, after).has_value());
    expect_no_later(grid, before, after);
    RC_ASSERT(after == naive::balance(grid, before));
  }
}

// A small cluster takes part in what fits it, and keeps no wide job of others out of the plan.
RC_GTEST_PROP(Planning, IlbaPlacesWideJobsOnlyWhereTheyFit, (std::uint64_t seed)) {
  Rng rng(seed);
  Grid grid = random_grid(rng, 20);
  for (Job& job : grid.jobs) job.processors = between(rng, 1, grid.clusters[job.owner]);
  const Schedule local = schedule_locally(grid, LocalOrder::hf);
  const auto after = plan(grid, "ilba");
  RC_ASSERT(after.has_value());
  expect_no_later(grid, local, *after);
  RC_ASSERT(*after == naive::balance(grid, local));
  const std::int64_t smallest = *std::ranges::min_element(grid.clusters);
  const bool fits_everywhere =
      std::ranges::all_of(grid.jobs, [&](const Job& job) { return job.processors <= smallest; });
  RC_ASSERT(plan(grid, "mocca_ilba").has_value() == fits_everywhere);
}

// Proposition 12: sequential jobs, ILBA directly on any local schedule: Graham's bound W/M + (1 - 1/M) p_max.
RC_GTEST_PROP(Planning, IlbaIsAListAlgorithmForSequentialJobs, (std::uint64_t seed)) {
  Rng rng(seed);
  Grid grid = random_grid(rng, 40);
  std::int64_t longest = 0;
  for (Job& job : grid.jobs) {
    job.processors = 1;
    longest = std::max(longest, job.length);
  }
  const Schedule plan = balance(grid, schedule_locally(grid, LocalOrder::random, seed));
  RC_ASSERT(makespan(grid, plan) <= grid.work() + Ticks{longest} * (grid.ticks_per_unit() - 1));
}

RC_GTEST_PROP(Planning, NoPlanBeatsTheOptimumAndTheBoundIsOne, (std::uint64_t seed)) {
  Rng rng(seed);
  const Grid grid = random_grid(rng, 4, 3);
  const auto limits = organization_makespans(grid, schedule_locally(grid, LocalOrder::hf));
  const Ticks free = naive::optimum(grid, nullptr);
  const Ticks fair = naive::optimum(grid, &limits);
  RC_ASSERT(grid.lower_bound() <= free);
  RC_ASSERT(free <= fair);
  for (const std::string_view name : {"mocca", "mocca_ilba", "mocca_experiment_ilba", "ilba"}) {
    const auto schedule = plan(grid, name);
    RC_ASSERT(schedule.has_value());
    RC_ASSERT(makespan(grid, *schedule) >= fair);
  }
  RC_ASSERT(makespan(grid, plan_mocca(grid)->schedule) <= 3 * free);
}

}  // namespace
}  // namespace shapley::planning
