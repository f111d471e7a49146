// The simulation behind `experiment workflow`, on sets small enough for a pencil.
#include <gtest/gtest.h>

#include "sim/experiments/workflow.hpp"

namespace shapley::sim {
namespace {

using workflow::Measure;
using workflow::Median;

constexpr Measure k_off{Median::upper, false, false};

TEST(WorkflowSimulation, FirstComeFirstServedIsByWorkflow) {
  const std::vector<SimulatedWorkflow> set{{0, {{10, 10, 10, 10}}}, {1, {{10, 10}}}};
  const auto outcome = simulate_workflows(set, {2, 0}, Control::first_come_first_served, k_off);
  EXPECT_EQ(outcome.makespans, (std::vector<std::int64_t>{20, 29}));
  EXPECT_EQ(outcome.slowdowns, (std::vector<double>{2.0, 2.9}));
  // eta: 0 while one workflow is active or both only run; from 1 to 10 W is 2/4 and 1.
  EXPECT_DOUBLE_EQ(outcome.unfairness, 9 * 0.5 + 10 * 1.0);
}

TEST(WorkflowSimulation, ActivitiesFollowEachOtherAndSlotsArrive) {
  const std::vector<SimulatedWorkflow> set{{0, {{5}, {7, 7}, {3}}}};
  EXPECT_EQ(simulate_workflows(set, {2, 0}, Control::fairness_loop, k_off).makespans.front(), 15);
  // The second slot is there at 100: the two tasks of 7 run one after the other.
  const auto late = simulate_workflows(set, {2, 100}, Control::fairness_loop, k_off);
  EXPECT_EQ(late.makespans.front(), 22);
  EXPECT_DOUBLE_EQ(late.slowdowns.front(), 22.0 / 15);
  EXPECT_DOUBLE_EQ(late.unfairness, 0);
}

TEST(WorkflowSimulation, IdenticalWorkflowsEndCloserTogether) {
  std::vector<std::int64_t>
      durations;  // of different lengths, or all slots fall idle at once and nothing is to be seen
  for (std::int64_t i = 0; i < 40; ++i) durations.push_back(7 + i * 5 % 9);
  const std::vector<SimulatedWorkflow> set{{0, {durations}}, {1, {durations}}};
  const auto spread = [&](Control control) {
    const auto outcome = simulate_workflows(set, {8, 0}, control, k_off);
    return std::abs(outcome.makespans[0] - outcome.makespans[1]);
  };
  EXPECT_LT(2 * spread(Control::fairness_loop), spread(Control::first_come_first_served));
}

}  // namespace
}  // namespace shapley::sim
