// What MO11 proves, and what is known of its counter-examples, on the instances of the paper.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "instances.hpp"
#include "naive.hpp"
#include "planning/algorithms.hpp"
#include "planning/generate.hpp"
#include "planning/mocca.hpp"

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
  EXPECT_EQ(makespan_text(grid, best), "3");  // two per cluster make 100 jobs: no schedule can do better
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

// Samples of the rigid-job model against the published distributions, integrated here by another way.

constexpr std::int64_t k_machine = 128;  // the size that the parameters were published for

std::vector<LublinJob> sample(LublinJobs kinds, std::int64_t most, std::size_t count) {
  Rng rng(1);
  LublinStream stream(kinds, most, rng);
  std::vector<LublinJob> jobs;
  for (std::size_t i = 0; i < count; ++i) jobs.push_back(stream.next());
  return jobs;
}

std::vector<LublinJob> of_kind(const std::vector<LublinJob>& jobs, LublinKind kind) {
  std::vector<LublinJob> chosen;
  for (const LublinJob& job : jobs)
    if (job.kind == kind) chosen.push_back(job);
  return chosen;
}

double part(const std::vector<LublinJob>& jobs, const std::function<bool(const LublinJob&)>& is) {
  double count = 0;
  for (const LublinJob& job : jobs) count += is(job) ? 1 : 0;
  return count / static_cast<double>(jobs.size());
}

double density(double x, double shape, double scale) {
  return std::exp((shape - 1) * std::log(x) - x / scale - std::lgamma(shape) - shape * std::log(scale));
}

double integral(double from, double to, const std::function<double(double)>& f) {
  constexpr int k_steps = 20'000;
  const double step = (to - from) / k_steps;
  double sum = 0;
  for (int i = 0; i < k_steps; ++i) sum += f(from + (i + 0.5) * step);
  return sum * step;
}

struct Published {
  LublinKind kind;
  double serial, power_of_two, shape1, scale1, shape2, scale2, slope, intercept, widest, day_shape, day_scale;
};
const Published k_batch{LublinKind::batch, .2927, .6686, 6.57, .823, 639.1, .0156, -.003, .6986, 128, 6.1271, 5.274};
const Published k_interactive{
    LublinKind::interactive, .1541, .625, 3.8351, .6605, 7.073, .6856, -0.0118, 0.9156, 45, 8.9186, 3.668};
const Published k_any{LublinKind::any, .244, .576, 4.2, .94, 312, .03, -.0054, .78, 128, 8.1737, 3.9631};

// The mean logarithm of a serial job's run time, values above 12 being drawn again.
double mean_logarithm(const Published& p) {
  const double weight = p.slope + p.intercept;
  const auto mixture = [&](double x) {
    return weight * density(x, p.shape1, p.scale1) + (1 - weight) * density(x, p.shape2, p.scale2);
  };
  return integral(0, 12, [&](double x) { return x * mixture(x); }) / integral(0, 12, mixture);
}

void expect_published(const std::vector<LublinJob>& all, const Published& p) {
  const auto jobs = of_kind(all, p.kind);
  ASSERT_GT(jobs.size(), 10'000U);
  const auto is_serial = [](const LublinJob& job) { return job.processors == 1; };
  EXPECT_NEAR(part(jobs, is_serial), p.serial, 0.01);
  // Logarithms from 4.5 to 6.5, where a power of two takes what is half a step away from it; about 4 % of the other
  // jobs come upon one by chance.
  std::vector<LublinJob> wide;
  for (const LublinJob& job : jobs)
    if (job.processors >= 23 && job.processors <= 90) wide.push_back(job);
  const double power = p.power_of_two / (1 - p.serial);
  const auto is_power = [](const LublinJob& job) { return (job.processors & (job.processors - 1)) == 0; };
  EXPECT_NEAR(part(wide, is_power), power + 0.04 * (1 - power), 0.025);
  double widest = 0;
  double sum = 0;
  double serial = 0;
  for (const LublinJob& job : jobs) {
    EXPECT_GE(job.length, 1);
    EXPECT_LE(static_cast<double>(job.length), std::exp(12));
    widest = std::max(widest, static_cast<double>(job.processors));
    if (!is_serial(job)) continue;
    sum += std::log(static_cast<double>(job.length) + 0.5);  // seconds are cut off
    serial += 1;
  }
  EXPECT_LE(widest, p.widest);
  EXPECT_GE(widest, 0.7 * p.widest);
  EXPECT_NEAR(sum / serial, mean_logarithm(p), 0.08);
}

TEST(Lublin, KindsHaveTheirPublishedSizesAndRunTimes) {
  const auto jobs = sample(LublinJobs::batch_and_interactive, k_machine, 150'000);
  expect_published(jobs, k_batch);
  expect_published(jobs, k_interactive);
  EXPECT_TRUE(of_kind(jobs, LublinKind::any).empty());
}

TEST(Lublin, OneKindHasThePublishedSizesAndRunTimes) {
  expect_published(sample(LublinJobs::one_kind, k_machine, 50'000), k_any);
}

// The mean length of gaps is that of the rush hours' distribution, drawn again above e^13 s.
TEST(Lublin, GapsHaveTheirPublishedMean) {
  const auto jobs = sample(LublinJobs::one_kind, k_machine, 200'000);
  const auto gap = [](double x) { return density(x, 10.2303 * 1.0225, 0.4871); };
  const double mean = integral(0, 13, [&](double x) { return std::exp(x) * gap(x); }) / integral(0, 13, gap);
  const double found = static_cast<double>(jobs.back().arrival) / static_cast<double>(jobs.size());
  EXPECT_NEAR(found / mean, 1, 0.05);
}

TEST(Lublin, ArrivalsFollowTheHoursOfTheDay) {
  const auto all = sample(LublinJobs::batch_and_interactive, k_machine, 300'000);
  for (const Published& p : {k_batch, k_interactive}) {
    const auto jobs = of_kind(all, p.kind);
    std::map<std::int64_t, double> by_period;
    for (const LublinJob& job : jobs) by_period[job.arrival % 86'400 / 21'600] += 1 / static_cast<double>(jobs.size());
    const auto day = [&](double x) { return density(x, p.day_shape, p.day_scale); };
    const double whole = integral(10.5, 58.5, day);
    EXPECT_NEAR(by_period[1], integral(12.5, 24.5, day) / whole, 0.02);  // 6:00 to 12:00
    EXPECT_NEAR(by_period[2], integral(24.5, 36.5, day) / whole, 0.02);
    EXPECT_NEAR(by_period[3], integral(36.5, 48.5, day) / whole, 0.02);
  }
}

TEST(Lublin, EveryJobFitsMachinesOfAnySize) {
  for (const std::int64_t most : {1, 2, 3, 5, 100, 512}) {
    std::int64_t arrival = 0;
    std::int64_t widest = 0;
    for (const LublinJob& job : sample(LublinJobs::batch_and_interactive, most, 2000)) {
      EXPECT_GE(job.processors, 1);
      EXPECT_GE(job.arrival, arrival);
      arrival = job.arrival;
      widest = std::max(widest, job.processors);
    }
    EXPECT_LE(widest, most);
    EXPECT_GE(2 * widest, most);
  }
}

}  // namespace
}  // namespace shapley::planning
