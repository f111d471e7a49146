// What MO11 proves, and what is known of its counter-examples, on the instances of the paper.
#include <gtest/gtest.h>

#include "instances.hpp"
#include "naive.hpp"
#include "planning/algorithms/algorithms.hpp"
#include "planning/algorithms/ilba.hpp"
#include "planning/algorithms/mocca.hpp"
#include "planning/algorithms/mocca4.hpp"

namespace shapley::planning {
namespace {

std::string makespan_text(const Grid& grid, const Schedule& schedule) {
  return fraction_text(makespan(grid, schedule), grid.ticks_per_unit());
}

Grid with_jobs(std::vector<std::int64_t> clusters, std::vector<Job> jobs) {
  return Grid{std::move(clusters), std::move(jobs)};
}

// Section 2.3: the printed "2/3" is 3/2, with sequential jobs and with parallel ones.
TEST(PlanningFacts, RespectingTheOrganizationsCostsThreeHalves) {
  for (const Grid& grid : {with_jobs({1, 1, 1}, {{0, 1, 1}, {1, 1, 1}, {2, 2, 1}, {2, 2, 1}}),
                           with_jobs({2, 2}, {{0, 1, 1}, {0, 1, 1}, {1, 2, 2}, {1, 2, 1}})}) {
    const auto limits = organization_makespans(grid, schedule_locally(grid, LocalOrder::hf));
    const Ticks free = naive::optimum(grid, nullptr);
    EXPECT_EQ(2 * naive::optimum(grid, &limits), 3 * free) << grid.clusters.size();
  }
}

// Proposition 7: with N = 50 clusters of 1000, three jobs must follow each other somewhere, and 3 / LB is 2.964.
TEST(PlanningFacts, ThreeLowerBoundsMayBeTheOptimum) {
  Grid grid;
  grid.clusters.assign(50, 1000);
  for (std::uint32_t i = 0; i < 101; ++i) grid.jobs.push_back({i % 50, 1, 501});
  const Schedule best = balance(grid, schedule_locally(grid, LocalOrder::hf));
  EXPECT_EQ(makespan_text(grid, best), "3");  // two per cluster make 100 jobs: nobody can do better
  EXPECT_EQ(makespan(grid, best) * 1000 / grid.lower_bound(), 2964);
}

// How many jobs of that shape, so wide that no two run side by side, can end by `end` when everything that ends by 2 LB
// stays. One after the other, each as early as it goes, is then the best on every cluster.
std::int64_t room_for_removed(const Grid& grid, const Schedule& local, Ticks end, std::int64_t length,
                              std::int64_t width) {
  std::vector<bool> keep(grid.jobs.size());
  for (std::uint32_t i = 0; i < keep.size(); ++i) keep[i] = end_of(grid, local, i) <= 2 * grid.lower_bound();
  const Ticks ticks = Ticks{length} * grid.ticks_per_unit();
  std::int64_t count = 0;
  for (Profile& profile : profiles_of(grid, local, keep)) {
    while (const auto start = profile.earliest_hole(width, ticks, end - ticks)) {
      profile.add(*start, *start + ticks, width);
      ++count;
    }
  }
  return count;
}

// Proposition 8 with lengths scaled by N: LB is the optimum, and keeping what ends by 2 C* leaves at best 3 - 6/N.
TEST(PlanningFacts, PartialDeschedulingIsNoBetterThanThree) {
  const std::int64_t n = 10;
  Grid grid;
  grid.clusters.assign(n, 2 * n - 1);
  for (std::int64_t i = 0; i < n; ++i) grid.jobs.push_back({0, 2, 2 * n - 1});
  for (std::int64_t i = 0; i < n; ++i) grid.jobs.push_back({0, n - 2, n});
  for (std::uint32_t k = 1; k < n; ++k)
    for (std::int64_t i = 0; i < n; ++i) grid.jobs.push_back({k, n - 2, 1});
  EXPECT_EQ(fraction_text(grid.lower_bound(), grid.ticks_per_unit()), std::to_string(n));
  // The optimum, built by hand: on every cluster one full job, then one of width n beside n - 1 of width 1.
  Schedule optimal;
  for (std::uint32_t k = 0; k < n; ++k) optimal.push_back({k, 0});
  for (std::uint32_t k = 0; k < n; ++k) optimal.push_back({k, 2 * Ticks{grid.ticks_per_unit()}});
  for (std::uint32_t i = 0; i < n * (n - 1); ++i)
    optimal.push_back({static_cast<std::uint32_t>(i % n), 2 * Ticks{grid.ticks_per_unit()}});
  ASSERT_TRUE(check_schedule(grid, optimal));
  EXPECT_EQ(makespan(grid, optimal), grid.lower_bound());
  const Schedule local = schedule_locally(grid, LocalOrder::hf);
  const Ticks best = (3 * n - 6) * Ticks{grid.ticks_per_unit()};
  EXPECT_GE(room_for_removed(grid, local, best, n - 2, n), n);
  EXPECT_LT(room_for_removed(grid, local, best - 1, n - 2, n), n);
}

// Section 5.2: MOCCA(4) may stay at 4 LB.
TEST(PlanningFacts, Mocca4IsTight) {
  const Grid grid = with_jobs({3, 1}, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  for (const LocalOrder order : {LocalOrder::hf, LocalOrder::lpt, LocalOrder::spt}) {
    const auto plan = plan_mocca4(grid, order);
    ASSERT_TRUE(plan);
    EXPECT_EQ(makespan(grid, *plan), 4 * grid.lower_bound());
  }
}

// Section 6.3: on one cluster ILBA moves nothing, and SPT's list ends at (2 - 1/m) times the optimum.
TEST(PlanningFacts, IlbaIsTightForSequentialJobs) {
  for (const std::int64_t m : {2, 3, 5, 8}) {
    Grid grid;
    grid.clusters = {m};
    for (std::int64_t i = 0; i < m * (m - 1); ++i) grid.jobs.push_back({0, 1, 1});
    grid.jobs.push_back({0, m, 1});
    const Schedule local = schedule_locally(grid, LocalOrder::spt);
    EXPECT_EQ(balance(grid, local), local);
    EXPECT_EQ(makespan_text(grid, local), std::to_string(2 * m - 1));
    EXPECT_EQ(makespan_text(grid, schedule_locally(grid, LocalOrder::lpt)), std::to_string(m));
  }
}

// Section 6.4: exactly (x + 1) L + x, so the ratio grows without bound.
TEST(PlanningFacts, IlbaAloneIsUnbounded) {
  for (std::int64_t x = 1; x <= 5; ++x) {
    std::int64_t length = 0;
    const Grid grid = ilba_worst_case(x, &length);
    ASSERT_TRUE(validate(grid));
    const Schedule plan = balance(grid, schedule_locally(grid, LocalOrder::hf));
    ASSERT_TRUE(check_schedule(grid, plan));
    EXPECT_EQ(makespan_text(grid, plan), std::to_string((x + 1) * length + x)) << "x = " << x;
  }
}

TEST(PlanningFacts, NothingToPlan) {
  const Grid grid = with_jobs({4, 2}, {});
  for (const std::string_view name : algorithm_names()) {
    const auto schedule = plan(grid, name);
    ASSERT_TRUE(schedule) << name;
    EXPECT_TRUE(schedule->empty());
    EXPECT_EQ(makespan(grid, *schedule), 0);
  }
}

TEST(PlanningFacts, MessagesNameWhatIsWrong) {
  EXPECT_EQ(validate(with_jobs({}, {})).error().code, Errc::invalid_argument);
  EXPECT_EQ(validate(with_jobs({4, 2}, {{0, 1, 3}})).error().what,
            "job 0: expected 1 to 2 processors (every job must fit every cluster), found 3");
  EXPECT_TRUE(validate_at_home(with_jobs({4, 2}, {{0, 1, 3}})));
  EXPECT_EQ(validate_at_home(with_jobs({4, 2}, {{1, 1, 3}})).error().what,
            "job 0: expected 1 to 2 processors (a job must fit its owner's cluster), found 3");
  EXPECT_EQ(validate(with_jobs({4}, {{1, 1, 1}})).error().what, "job 0: owner 1 has no cluster");
  EXPECT_EQ(validate(with_jobs({4}, {{0, 0, 1}})).error().code, Errc::invalid_argument);
  EXPECT_EQ(validate(with_jobs({4, 0}, {})).error().what, "cluster 1: expected 1 processor or more");
  EXPECT_EQ(plan(with_jobs({4}, {}), "local_xyz").error().code, Errc::not_found);
}

TEST(PlanningFacts, TheCheckerSeesWhatIsWrong) {
  const Grid grid = with_jobs({2, 2}, {{0, 3, 2}, {0, 3, 1}});
  const Ticks unit = grid.ticks_per_unit();
  EXPECT_TRUE(check_schedule(grid, {{0, 0}, {0, 3 * unit}}));
  EXPECT_EQ(check_schedule(grid, {{0, 0}, {0, 3 * unit - 1}}).error().what,
            "cluster 0 runs 3 of its 2 processors at 11/4");
  EXPECT_FALSE(check_schedule(grid, {{0, 0}}));
  EXPECT_FALSE(check_schedule(grid, {{0, -1}, {1, 0}}));
  EXPECT_FALSE(check_schedule(grid, {{0, 0}, {2, 0}}));
  EXPECT_TRUE(check_no_organization_loses(grid, {{0, 0}, {0, 3 * unit}}, {{0, 0}, {1, 0}}));
  EXPECT_EQ(check_no_organization_loses(grid, {{0, 0}, {1, 0}}, {{0, 0}, {0, 3 * unit}}).error().what,
            "organization 0 ends at 6, alone at 3");
}

}  // namespace
}  // namespace shapley::planning
