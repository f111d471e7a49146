// Samples of the rigid-job model against the published distributions, integrated here by another way.
#include "planning/generators/lublin.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

namespace shapley::planning {
namespace {

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
