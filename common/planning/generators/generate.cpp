#include "planning/generators/generate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "planning/generators/lublin.hpp"

namespace shapley::planning {

namespace {

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

Grid generate_grid(WorkloadModel model, std::vector<std::int64_t> clusters, std::size_t jobs, Rng& rng) {
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
