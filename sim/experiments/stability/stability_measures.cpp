#include "sim/experiments/stability/stability_measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shapley::sim {

namespace {

using scheduling::Instance;
using scheduling::Job;

// Processor seconds by organization and whole slice.
std::vector<std::vector<std::int64_t>> work_by_slice(const Instance& instance,
                                                     std::span<const scheduling::Start> schedule, Duration slice) {
  const auto slices = static_cast<std::size_t>(instance.end.value / slice.value);
  std::vector work(instance.organizations(), std::vector<std::int64_t>(slices));
  for (const scheduling::Start& start : schedule) {
    const Job& job = instance.jobs[start.job];
    const std::int64_t end = (start.start + job.duration).value;
    for (std::int64_t at = start.start.value; at < end;) {
      const auto place = static_cast<std::size_t>(at / slice.value);
      if (place >= slices) break;
      const std::int64_t until = std::min(end, static_cast<std::int64_t>(place + 1) * slice.value);
      work[job.organization][place] += (until - at) * job.processors;
      at = until;
    }
  }
  return work;
}

void measure_waits(const Instance& instance, const std::vector<std::int64_t>& start_of, StabilityMeasures& measures) {
  std::vector<std::size_t> order(instance.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return instance.jobs[a].release < instance.jobs[b].release; });
  std::vector<std::int64_t> last_start(instance.organizations(), 0);
  std::vector<std::int64_t> jobs(instance.organizations(), 0);
  measures.mean_wait_s.assign(instance.organizations(), 0);
  for (const std::size_t index : order) {
    const Job& job = instance.jobs[index];
    if (job.release >= instance.end) continue;
    const Duration wait{start_of[index] - job.release.value};
    const Duration at_the_head{start_of[index] - std::max(job.release.value, last_start[job.organization])};
    measures.longest_wait = std::max(measures.longest_wait, wait);
    measures.longest_without_start = std::max(measures.longest_without_start, at_the_head);
    measures.mean_wait_s[job.organization] += static_cast<double>(wait.value);
    last_start[job.organization] = start_of[index];
    ++jobs[job.organization];
  }
  for (std::size_t u = 0; u < jobs.size(); ++u)
    if (jobs[u] > 0) measures.mean_wait_s[u] /= static_cast<double>(jobs[u]);
}

}  // namespace

double deviation_of(std::span<const double> values) {
  if (values.empty()) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / n);
}

StabilityMeasures measure_stability(const Instance& instance, std::span<const scheduling::Start> schedule,
                                    Duration slice) {
  StabilityMeasures measures;
  const auto machine = static_cast<double>(instance.total_processors()) * static_cast<double>(slice.value);
  for (const auto& of_one : work_by_slice(instance, schedule, slice)) {
    std::vector<double> shares;
    for (const std::int64_t work : of_one) shares.push_back(static_cast<double>(work) / machine);
    const std::size_t late = shares.size() / 3;
    measures.deviation = std::max(measures.deviation, deviation_of(shares));
    measures.deviation_late = std::max(measures.deviation_late, deviation_of(std::span(shares).last(late)));
    measures.shares.push_back(std::move(shares));
  }
  std::vector<std::int64_t> start_of(instance.jobs.size(), instance.end.value);
  for (const scheduling::Start& start : schedule) start_of[start.job] = start.start.value;
  measure_waits(instance, start_of, measures);
  return measures;
}

}  // namespace shapley::sim
