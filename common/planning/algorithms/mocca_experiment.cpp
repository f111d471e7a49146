#include "planning/algorithms/mocca_experiment.hpp"

#include "planning/algorithms/backward.hpp"
#include "planning/algorithms/compaction.hpp"
#include "planning/algorithms/mocca.hpp"

namespace shapley::planning {

ExperimentPlan plan_mocca_experiment(const Grid& grid, LocalOrder order, int alpha, std::uint64_t seed) {
  const Ticks deadline = alpha * grid.lower_bound();
  ExperimentPlan plan;
  plan.schedule = schedule_locally(grid, order, seed);
  plan.moved = ending_after(grid, plan.schedule, deadline);
  if (plan.moved.empty()) return plan;
  Schedule attempt = plan.schedule;
  if (place_backwards(grid, plan.moved, deadline, attempt)) {
    compact(grid, plan.moved, attempt);
    plan.schedule = std::move(attempt);
  } else {
    plan.moved.clear();
    plan.fell_back = true;
  }
  return plan;
}

}  // namespace shapley::planning
