#include "planning/lublin.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shapley::planning {

namespace {

// Table of [LF03]: job sizes.
constexpr double k_serial = 0.244;
constexpr double k_power_of_two = 0.576;
constexpr double k_low = 0.8;              // least log2 of a parallel job's size
constexpr double k_medium_distance = 2.5;  // the middle lies this far below the greatest
constexpr double k_lower_part = 0.86;
// Run times: two gamma distributions of the natural logarithm, and the weight of the first by size.
constexpr double k_shape1 = 4.2;
constexpr double k_scale1 = 0.94;
constexpr double k_shape2 = 312;
constexpr double k_scale2 = 0.03;
constexpr double k_slope = -0.0054;
constexpr double k_intercept = 0.78;
constexpr double k_longest = 12;  // run times above e^12 s are drawn again

double uniform(Rng& rng) {  // in (0, 1)
  return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53;
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(uniform(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform(rng));
}

// Marsaglia and Tsang's method. REQUIRES: shape >= 1.
double gamma(double shape, double scale, Rng& rng) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(rng);
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(uniform(rng)) < x * x / 2 + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

std::int64_t draw_size(std::int64_t most, Rng& rng) {
  const double high = std::log2(static_cast<double>(most));
  const double kind = uniform(rng);
  if (kind <= k_serial || high <= k_low) return 1;
  const double medium = std::max(k_low, high - k_medium_distance);
  const bool lower = uniform(rng) <= k_lower_part;
  double size = lower ? k_low + uniform(rng) * (medium - k_low) : medium + uniform(rng) * (high - medium);
  if (kind <= k_serial + k_power_of_two) size = std::floor(size + 0.5);
  return std::clamp<std::int64_t>(std::llround(std::pow(2, size)), 1, most);
}

}  // namespace

LublinJob draw_lublin_job(std::int64_t most, Rng& rng) {
  LublinJob job;
  job.processors = draw_size(most, rng);
  const double first = std::clamp(k_slope * static_cast<double>(job.processors) + k_intercept, 0.0, 1.0);
  double logarithm = 0;
  do {
    logarithm = uniform(rng) <= first ? gamma(k_shape1, k_scale1, rng) : gamma(k_shape2, k_scale2, rng);
  } while (logarithm > k_longest);
  job.length = std::max<std::int64_t>(1, std::llround(std::exp(logarithm)));
  return job;
}

}  // namespace shapley::planning
