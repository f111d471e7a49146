#include "planning/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/contract.hpp"

namespace shapley::planning {

namespace {

constexpr double k_longest = 12;      // run times above e^12 s are drawn again,
constexpr double k_longest_gap = 13;  // and so are gaps above e^13 s
constexpr double k_half_hour = 1800;  // seconds
constexpr int k_day_begins = 10;      // half hour of the day at which the cycle of arrivals begins

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

// Marsaglia and Tsang's method. REQUIRES: shape >= 1.
double gamma(double shape, double scale, Rng& rng) {
  SHAPLEY_REQUIRE(shape >= 1);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(rng);
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(rng.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

std::int64_t draw_size(const LublinParameters& p, std::int64_t most, Rng& rng) {
  const double high = std::log2(static_cast<double>(most)) - p.below_machine;
  const double kind = rng.uniform();
  if (kind <= p.serial || high <= p.low) return 1;
  const double medium = std::max(p.low, high - p.medium_distance);
  const bool lower = rng.uniform() <= p.lower_stage;
  double size = lower ? p.low + rng.uniform() * (medium - p.low) : medium + rng.uniform() * (high - medium);
  if (kind <= p.serial + p.power_of_two) size = std::floor(size + 0.5);
  return std::clamp<std::int64_t>(std::llround(std::pow(2, size)), 1, most);
}

std::int64_t draw_length(const LublinParameters& p, std::int64_t processors, Rng& rng) {
  const double shorter = std::clamp(p.slope * static_cast<double>(processors) + p.intercept, 0.0, 1.0);
  double logarithm = 0;
  do {
    logarithm = rng.uniform() <= shorter ? gamma(p.shape1, p.scale1, rng) : gamma(p.shape2, p.scale2, rng);
  } while (logarithm > k_longest);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::exp(logarithm)));
}

// The gamma density over the half hour around i, by Simpson's rule and without its constant, which the mean cancels.
double arrivals_around(int i, const LublinParameters& p) {
  const auto density = [&](double x) { return std::pow(x, p.day_shape - 1) * std::exp(-x / p.day_scale); };
  return (density(i - 0.5) + 4 * density(i - 0.25) + 2 * density(i) + 4 * density(i + 0.25) + density(i + 0.5)) / 12;
}

std::int64_t up_to(std::int64_t most, Rng& rng) {
  return 1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
}

std::vector<double> cumulative_zipf(std::size_t count) {
  std::vector<double> sums;
  double sum = 0;
  for (std::size_t k = 1; k <= count; ++k) sums.push_back(sum += std::pow(static_cast<double>(k), -k_zipf_exponent));
  return sums;
}

}  // namespace

const std::vector<LublinParameters>& lublin_parameters(LublinJobs jobs) {
  static const std::vector<LublinParameters> k_one_kind{{
      .kind = LublinKind::any,
      .serial = 0.244,
      .power_of_two = 0.576,
      .low = 0.8,
      .below_machine = 0,
      .medium_distance = 2.5,
      .lower_stage = 0.86,
      .shape1 = 4.2,
      .scale1 = 0.94,
      .shape2 = 312,
      .scale2 = 0.03,
      .slope = -0.0054,
      .intercept = 0.78,
      .gap_shape = 10.2303,
      .gap_scale = 0.4871,
      .gap_all_hours = 1.0225,
      .day_shape = 8.1737,
      .day_scale = 3.9631,
  }};
  static const std::vector<LublinParameters> k_two_kinds{{
                                                             .kind = LublinKind::batch,
                                                             .serial = 0.2927,
                                                             .power_of_two = 0.6686,
                                                             .low = 1.2,
                                                             .below_machine = 0,
                                                             .medium_distance = 2,
                                                             .lower_stage = 0.875,
                                                             .shape1 = 6.57,
                                                             .scale1 = 0.823,
                                                             .shape2 = 639.1,
                                                             .scale2 = 0.0156,
                                                             .slope = -0.003,
                                                             .intercept = 0.6986,
                                                             .gap_shape = 6.0415,
                                                             .gap_scale = 0.8531,
                                                             .gap_all_hours = 1.0519,
                                                             .day_shape = 6.1271,
                                                             .day_scale = 5.2740,
                                                         },
                                                         {
                                                             .kind = LublinKind::interactive,
                                                             .serial = 0.1541,
                                                             .power_of_two = 0.625,
                                                             .low = 1,
                                                             .below_machine = 1.5,
                                                             .medium_distance = 2.5,
                                                             .lower_stage = 0.705,
                                                             .shape1 = 3.8351,
                                                             .scale1 = 0.6605,
                                                             .shape2 = 7.073,
                                                             .scale2 = 0.6856,
                                                             .slope = -0.0118,
                                                             .intercept = 0.9156,
                                                             .gap_shape = 6.5510,
                                                             .gap_scale = 0.6621,
                                                             .gap_all_hours = 0.9797,
                                                             .day_shape = 8.9186,
                                                             .day_scale = 3.6680,
                                                         }};
  return jobs == LublinJobs::one_kind ? k_one_kind : k_two_kinds;
}

LublinStream::LublinStream(LublinJobs jobs, std::int64_t most, Rng& rng) : most_(most), rng_(rng) {
  SHAPLEY_REQUIRE(most >= 1);
  for (const LublinParameters& parameters : lublin_parameters(jobs)) {
    Source source{.parameters = &parameters, .rate = {}};
    double sum = 0;
    // The published gamma distribution counts half hours from midnight as 1, and the first ones as those of the next
    // day.
    for (int i = k_day_begins + 1; i <= k_day_begins + k_half_hours; ++i)
      sum += source.rate[static_cast<std::size_t>((i - 1) % k_half_hours)] = arrivals_around(i, parameters);
    for (double& rate : source.rate) rate *= k_half_hours / sum;
    advance(source);
    sources_.push_back(source);
  }
}

double LublinStream::Source::arrival() const {
  const double rate_now = rate[static_cast<std::size_t>(half_hour % k_half_hours)];
  return k_half_hour * (static_cast<double>(half_hour) + spent / rate_now);
}

void LublinStream::advance(Source& source) {
  const LublinParameters& p = *source.parameters;
  double logarithm = 0;
  do {
    logarithm = gamma(p.gap_shape * p.gap_all_hours, p.gap_scale, rng_);
  } while (logarithm > k_longest_gap);
  source.spent += std::exp(logarithm) / k_half_hour;
  while (true) {
    const double rate_now = source.rate[static_cast<std::size_t>(source.half_hour % k_half_hours)];
    if (source.spent <= rate_now) return;
    source.spent -= rate_now;
    ++source.half_hour;
  }
}

LublinJob LublinStream::next() {
  const auto source = std::min_element(sources_.begin(), sources_.end(),
                                       [](const Source& a, const Source& b) { return a.arrival() < b.arrival(); });
  const LublinParameters& p = *source->parameters;
  LublinJob job;
  job.kind = p.kind;
  job.arrival = static_cast<std::int64_t>(source->arrival());
  job.processors = draw_size(p, most_, rng_);
  job.length = draw_length(p, job.processors, rng_);
  advance(*source);
  return job;
}

Grid generate_grid(WorkloadModel model, std::vector<std::int64_t> clusters, std::size_t jobs, Rng& rng) {
  SHAPLEY_REQUIRE(!clusters.empty());
  Grid grid;
  grid.clusters = std::move(clusters);
  const std::int64_t most = *std::min_element(grid.clusters.begin(), grid.clusters.end());
  const auto owners = cumulative_zipf(grid.clusters.size());
  std::optional<LublinStream> stream;
  if (model == WorkloadModel::swf) stream.emplace(LublinJobs::batch_and_interactive, most, rng);
  if (model == WorkloadModel::swf_one_kind) stream.emplace(LublinJobs::one_kind, most, rng);
  for (std::size_t i = 0; i < jobs; ++i) {
    Job job;
    if (stream) {
      const LublinJob drawn = stream->next();
      job.length = drawn.length;
      job.processors = drawn.processors;
    } else {
      job.length = up_to(50, rng);
      job.processors = up_to(most, rng);
    }
    const auto owner = std::lower_bound(owners.begin(), owners.end() - 1, rng.uniform() * owners.back());
    job.owner = static_cast<std::uint32_t>(owner - owners.begin());
    grid.jobs.push_back(job);
  }
  return grid;
}

std::vector<std::int64_t> pareto_clusters(std::size_t count, double shape, Rng& rng) {
  SHAPLEY_REQUIRE(shape > 0);
  constexpr double k_least = 128;
  constexpr double k_greatest = 1024;
  std::vector<std::int64_t> clusters;
  while (clusters.size() < count) {
    const double size = k_least * std::pow(rng.uniform(), -1 / shape);
    if (size <= k_greatest) clusters.push_back(static_cast<std::int64_t>(size));
  }
  return clusters;
}

}  // namespace shapley::planning
