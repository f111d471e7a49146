#include "planning/algorithms/ilba.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "planning/algorithms/hole_memory.hpp"
#include "planning/model/profile.hpp"

namespace shapley::planning {

namespace {

std::vector<std::uint32_t> least_loaded_first(const Grid& grid, const Schedule& schedule) {
  const auto makespans = cluster_makespans(grid, schedule);
  std::vector<std::uint32_t> order(grid.organizations());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return makespans[a] < makespans[b]; });
  return order;
}

class Balance {
 public:
  Balance(const Grid& grid, Schedule schedule)
      : grid_(grid), schedule_(std::move(schedule)), lengths_(values(&Job::length)), widths_(values(&Job::processors)) {
    for (const std::int64_t size : grid.clusters) {
      profiles_.emplace_back(size);
      memories_.emplace_back(lengths_, widths_);
    }
  }

  Schedule run() {
    const auto order = least_loaded_first(grid_, schedule_);
    std::vector<std::vector<std::uint32_t>> running(grid_.organizations());
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) running[schedule_[i].cluster].push_back(i);
    for (const std::uint32_t job : running[order.front()]) occupy(job);
    std::vector<std::uint32_t> taken{order.front()};
    for (std::size_t k = 1; k < order.size(); ++k) {
      for (const std::uint32_t job : by_start(schedule_, running[order[k]])) place(job, taken);
      taken.push_back(order[k]);
    }
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> values(std::int64_t Job::*member) const {
    std::vector<std::int64_t> all;
    for (const Job& job : grid_.jobs) all.push_back(job.*member);
    return all;
  }

  void occupy(std::uint32_t job) {
    const Placement& at = schedule_[job];
    profiles_[at.cluster].add(at.start, end_of(grid_, schedule_, job), grid_.jobs[job].processors);
  }

  [[nodiscard]] std::optional<Ticks> earliest(std::uint32_t cluster, const Job& job, Ticks latest) {
    HoleMemory& memory = memories_[cluster];
    const auto start =
        profiles_[cluster].earliest_hole(job.processors, grid_.length_of(job), latest, memory.not_before(job));
    memory.remember(job, start.value_or(latest + 1));
    return start;
  }

  void place(std::uint32_t job, const std::vector<std::uint32_t>& others) {
    const Job& shape = grid_.jobs[job];
    Placement& best = schedule_[job];
    // Proposition 11: the old start is still a hole on the job's own cluster, which bounds every search.
    best.start = earliest(best.cluster, shape, best.start).value_or(best.start);
    for (const std::uint32_t k : others) {  // least loaded first: of equal starts, the first wins
      if (best.start == 0) break;
      if (const auto start = earliest(k, shape, best.start - 1)) best = {k, *start};
    }
    occupy(job);
  }

  const Grid& grid_;
  Schedule schedule_;
  SizeClasses lengths_;
  SizeClasses widths_;
  std::vector<Profile> profiles_;  // of the clusters taken so far
  std::vector<HoleMemory> memories_;
};

}  // namespace

Schedule balance(const Grid& grid, Schedule schedule) {
  return Balance(grid, std::move(schedule)).run();
}

}  // namespace shapley::planning
