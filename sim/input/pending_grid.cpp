#include "sim/input/pending_grid.hpp"

#include <algorithm>
#include <limits>

#include "workload/assignment.hpp"
#include "workload/endowment.hpp"

namespace shapley::sim {

Expected<PendingGrid> read_pending(const PendingQueue& queue) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(queue.source));
  const std::int64_t total = queue.processors > 0 ? queue.processors : trace.processors;
  SHAPLEY_TRY_ASSIGN(const auto parts, workload::endow(workload::Endowment::uniform, queue.organizations, total));
  PendingGrid pending;
  planning::Grid& grid = pending.named.grid;
  grid.clusters.assign(parts.begin(), parts.end());
  const std::int64_t smallest = *std::min_element(grid.clusters.begin(), grid.clusters.end());
  const auto assignment = workload::deal_users(trace, queue.organizations, queue.seed);
  const std::int64_t begin = queue.begin.value_or(trace.jobs.front().submit.value);
  for (const workload::TraceJob& job : trace.jobs) {
    if (job.submit.value < begin || job.submit.value - begin >= queue.length.value) continue;
    if (job.processors > smallest) {
      ++pending.too_wide;
      continue;
    }
    grid.jobs.push_back({assignment.of(job), job.run.value, job.processors});
    pending.named.ids.push_back(job.id);
  }
  if (grid.jobs.empty()) {
    return fail(Errc::not_found, "trace: no job that fits " + std::to_string(smallest) +
                                     " processors was submitted in " + std::to_string(queue.length.value) +
                                     " s from second " + std::to_string(begin) + " on");
  }
  SHAPLEY_TRY(planning::validate(grid));
  return pending;
}

}  // namespace shapley::sim
