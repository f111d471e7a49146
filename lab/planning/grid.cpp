#include "planning/grid.hpp"

#include <algorithm>
#include <numeric>

#include "base/contract.hpp"

namespace shapley::planning {

namespace {

constexpr std::int64_t k_max_length = std::int64_t{1} << 53;
constexpr std::int64_t k_max_processors = std::int64_t{1} << 31;

Expected<void> validate_clusters(const Grid& grid) {
  if (grid.clusters.empty()) return fail(Errc::invalid_argument, "no cluster: give every organization one");
  std::int64_t total = 0;
  for (std::size_t k = 0; k < grid.clusters.size(); ++k) {
    const std::int64_t size = grid.clusters[k];
    if (size < 1)
      return fail(Errc::invalid_argument, "cluster " + std::to_string(k) + ": expected 1 processor or more");
    if (size > k_max_processors || (total += size) > k_max_processors)
      return fail(Errc::limit, "cluster " + std::to_string(k) + ": more than 2^31 processors in all");
  }
  return {};
}

std::int64_t smallest_cluster(const Grid& grid) {
  return *std::min_element(grid.clusters.begin(), grid.clusters.end());
}

Expected<void> validate_width(const std::string& name, const Job& job, std::int64_t widest, const char* why) {
  if (job.processors >= 1 && job.processors <= widest) return {};
  return fail(Errc::invalid_argument, name + ": expected 1 to " + std::to_string(widest) + " processors (" + why +
                                          "), found " + std::to_string(job.processors));
}

Expected<void> validate_job(const Grid& grid, std::size_t index) {
  const Job& job = grid.jobs[index];
  const std::string name = "job " + std::to_string(index);
  if (job.owner >= grid.clusters.size())
    return fail(Errc::invalid_argument, name + ": owner " + std::to_string(job.owner) + " has no cluster");
  if (job.length < 1) return fail(Errc::invalid_argument, name + ": expected a length of 1 or more");
  if (job.length > k_max_length) return fail(Errc::limit, name + ": longer than 2^53");
  return validate_width(name, job, grid.clusters[job.owner], "a job must fit its owner's cluster");
}

}  // namespace

std::int64_t Grid::ticks_per_unit() const {
  return std::accumulate(clusters.begin(), clusters.end(), std::int64_t{0});
}

Int128 Grid::work() const {
  Int128 total = 0;
  for (const Job& job : jobs) total += Int128{job.length} * job.processors;
  return total;
}

Ticks Grid::lower_bound() const {
  std::int64_t longest = 0;
  for (const Job& job : jobs) longest = std::max(longest, job.length);
  return std::max(work(), Ticks{longest} * ticks_per_unit());
}

Expected<void> validate_at_home(const Grid& grid) {
  SHAPLEY_TRY(validate_clusters(grid));
  if (grid.jobs.size() > 0x7fffffff) return fail(Errc::limit, "more than 2^31 - 1 jobs");
  for (std::size_t i = 0; i < grid.jobs.size(); ++i) SHAPLEY_TRY(validate_job(grid, i));
  return {};
}

Expected<void> validate(const Grid& grid) {
  SHAPLEY_TRY(validate_clusters(grid));
  const std::int64_t smallest = smallest_cluster(grid);
  for (std::size_t i = 0; i < grid.jobs.size(); ++i) {
    SHAPLEY_TRY(validate_width("job " + std::to_string(i), grid.jobs[i], smallest, "every job must fit every cluster"));
  }
  return validate_at_home(grid);
}

std::vector<std::uint32_t> highest_first(const Grid& grid, std::vector<std::uint32_t> jobs) {
  std::sort(jobs.begin(), jobs.end(), [&](std::uint32_t a, std::uint32_t b) {
    return grid.jobs[a].processors != grid.jobs[b].processors ? grid.jobs[a].processors > grid.jobs[b].processors
                                                              : a < b;
  });
  return jobs;
}

std::vector<std::uint32_t> largest_first(const Grid& grid) {
  std::vector<std::uint32_t> order(grid.organizations());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return grid.clusters[a] > grid.clusters[b]; });
  return order;
}

std::string fraction_text(Int128 numerator, Int128 denominator) {
  SHAPLEY_REQUIRE(denominator > 0);
  Int128 a = numerator < 0 ? -numerator : numerator;
  Int128 b = denominator;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  std::string text = to_string(numerator / a);
  if (denominator != a) text += "/" + to_string(denominator / a);
  return text;
}

}  // namespace shapley::planning
