#include "planning/algorithms/local.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <span>

#include "base/rng.hpp"
#include "planning/model/min_tree.hpp"

namespace shapley::planning {

namespace {

std::vector<std::uint32_t> sorted(const Grid& grid, std::vector<std::uint32_t> jobs, LocalOrder order, Rng& rng) {
  const auto length = [&](std::uint32_t job) { return grid.jobs[job].length; };
  switch (order) {
    case LocalOrder::hf:
      return highest_first(grid, std::move(jobs));
    case LocalOrder::lpt:
      std::stable_sort(jobs.begin(), jobs.end(), [&](auto a, auto b) { return length(a) > length(b); });
      return jobs;
    case LocalOrder::spt:
      std::stable_sort(jobs.begin(), jobs.end(), [&](auto a, auto b) { return length(a) < length(b); });
      return jobs;
    case LocalOrder::random:
      rng.shuffle(std::span<std::uint32_t>(jobs));
      return jobs;
  }
  return jobs;
}

struct Completion {
  Ticks at;
  std::int64_t processors;
  bool operator>(const Completion& other) const { return at > other.at; }
};

void run_list(const Grid& grid, std::uint32_t cluster, const std::vector<std::uint32_t>& list, Schedule& schedule) {
  std::vector<Int128> widths;
  for (const std::uint32_t job : list) widths.push_back(grid.jobs[job].processors);
  MinTree waiting(widths);
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> running;
  std::int64_t idle = grid.clusters[cluster];
  Ticks now = 0;
  while (!waiting.empty()) {
    if (const auto place = waiting.first_at_most(0, idle)) {
      const std::uint32_t job = list[*place];
      schedule[job] = {cluster, now};
      idle -= grid.jobs[job].processors;
      running.push({end_of(grid, schedule, job), grid.jobs[job].processors});
      waiting.take(*place);
      continue;
    }
    // Something runs: every job fits its owner's empty cluster.
    for (now = running.top().at; !running.empty() && running.top().at == now; running.pop())
      idle += running.top().processors;
  }
}

}  // namespace

std::string_view name_of(LocalOrder order) {
  switch (order) {
    case LocalOrder::hf:
      return "hf";
    case LocalOrder::lpt:
      return "lpt";
    case LocalOrder::spt:
      return "spt";
    case LocalOrder::random:
      return "rnd";
  }
  return "";
}

std::optional<LocalOrder> parse_local_order(std::string_view name) {
  for (const LocalOrder order : {LocalOrder::hf, LocalOrder::lpt, LocalOrder::spt, LocalOrder::random})
    if (name == name_of(order)) return order;
  return std::nullopt;
}

Schedule schedule_locally(const Grid& grid, LocalOrder order, std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> queues(grid.organizations());
  for (std::uint32_t i = 0; i < grid.jobs.size(); ++i) queues[grid.jobs[i].owner].push_back(i);
  Schedule schedule(grid.jobs.size());
  Rng rng(seed);
  for (std::uint32_t k = 0; k < queues.size(); ++k)
    run_list(grid, k, sorted(grid, std::move(queues[k]), order, rng), schedule);
  return schedule;
}

std::optional<Ticks> high_low_instant(const Grid& grid, const Schedule& schedule, std::uint32_t cluster) {
  std::map<Ticks, std::int64_t> changes{{0, 0}};
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].cluster != cluster) continue;
    changes[schedule[i].start] += grid.jobs[i].processors;
    changes[end_of(grid, schedule, i)] -= grid.jobs[i].processors;
  }
  std::optional<Ticks> low_since;
  std::int64_t used = 0;
  for (const auto& [at, change] : changes) {
    if (low_since && change > 0) return std::nullopt;
    used += change;
    if (!low_since && 2 * used <= grid.clusters[cluster]) low_since = at;
  }
  return low_since;
}

}  // namespace shapley::planning
