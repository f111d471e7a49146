// Instances of the paper's proofs, and random ones.
#pragma once

#include <cstdint>

#include "base/rng.hpp"
#include "planning/grid.hpp"

namespace shapley::planning {

inline std::int64_t between(Rng& rng, std::int64_t least, std::int64_t greatest) {
  return least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(greatest - least + 1)));
}

// Small clusters of different sizes, jobs that fit all of them, one organization with most of the jobs.
inline Grid random_grid(Rng& rng, std::int64_t most_jobs, std::int64_t most_clusters = 4) {
  Grid grid;
  const std::int64_t smallest = between(rng, 1, 6);
  const std::int64_t clusters = between(rng, 1, most_clusters);
  for (std::int64_t k = 0; k < clusters; ++k) grid.clusters.push_back(between(rng, smallest, smallest + 5));
  const std::int64_t jobs = between(rng, 0, most_jobs);
  const std::int64_t longest = between(rng, 1, 9);
  for (std::int64_t i = 0; i < jobs; ++i) {
    const bool busy_one = rng.below(3) != 0;
    const auto owner = busy_one ? grid.clusters.size() - 1 : static_cast<std::size_t>(between(rng, 0, clusters - 1));
    grid.jobs.push_back({static_cast<std::uint32_t>(owner), between(rng, 1, longest), between(rng, 1, smallest)});
  }
  return grid;
}

// Section 6.4 of MO11: ILBA on HF local schedules ends at (x + 1) L + x, the optimum at L = H's cluster filled, with H
// summed from i = 0 and L = n + sum (2n + 6i - 2) the number of jobs of length 1.
inline Grid ilba_worst_case(std::int64_t x, std::int64_t* length_out) {
  const std::int64_t n = x * x - x + 2;
  std::int64_t height = 0;
  std::int64_t length = n;
  for (std::int64_t i = 0; i <= x; ++i) height += (n + 2 * i) * (x - i + 1);
  for (std::int64_t i = 1; i <= x; ++i) length += 2 * n + 6 * i - 2;
  Grid grid;
  grid.clusters.assign(static_cast<std::size_t>(n + 2 * x), height);
  const auto add = [&](std::int64_t owner, std::int64_t count, std::int64_t p, std::int64_t q) {
    for (std::int64_t i = 0; i < count; ++i) grid.jobs.push_back({static_cast<std::uint32_t>(owner), p, q});
  };
  for (std::int64_t k = 0; k < n; ++k) {
    add(k, 1, length, x + 1);
    add(k, 1, 1, height - x - 1);
  }
  for (std::int64_t i = 1; i <= x; ++i) {
    const std::int64_t odd = n + 2 * i - 2;  // organizations are numbered from 0 here
    add(odd, i, length, height);
    add(odd, n + 3 * i - 2, 1, height);
    add(odd, n + 2 * i - 1, 1, height - x + i - 1);
    add(odd + 1, i, length, height);
    add(odd + 1, i, 1, height);
    add(odd + 1, 1, 1, height - x + i - 1);
    add(odd + 1, n + 2 * i, length, x - i + 1);
  }
  *length_out = length;
  return grid;
}

}  // namespace shapley::planning
