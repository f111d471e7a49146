#include "planning/algorithms/mocca.hpp"

#include <algorithm>
#include <optional>

#include "planning/algorithms/local.hpp"
#include "planning/model/min_tree.hpp"

namespace shapley::planning {

namespace {

class Mocca {
 public:
  explicit Mocca(const Grid& grid)
      : grid_(grid), clusters_(largest_first(grid)), deadlines_(grid.organizations(), 3 * grid.lower_bound()) {}

  Expected<MoccaPlan> run() {
    phase1();
    std::vector<std::uint32_t> unscheduled;
    for (const std::uint32_t job : plan_.removed) {
      if (!place_backwards(job)) unscheduled.push_back(job);
    }
    if (!phase3(unscheduled))
      return fail(Errc::corrupt, "mocca: a job found no place before 3 LB, which Theorem 1 of MO11 excludes");
    return std::move(plan_);
  }

 private:
  void phase1() {
    plan_.schedule = schedule_locally(grid_, LocalOrder::hf);
    plan_.removed = ending_after(grid_, plan_.schedule, 3 * grid_.lower_bound());
    std::vector<bool> keep(grid_.jobs.size(), true);
    for (const std::uint32_t job : plan_.removed) keep[job] = false;
    profiles_ = profiles_of(grid_, plan_.schedule, keep);
  }

  // Phase 2 for one job. The jobs placed here stay out of the profiles: each begins at its cluster's deadline D_k, and
  // nothing else may reach beyond that.
  bool place_backwards(std::uint32_t index) {
    const Job& job = grid_.jobs[index];
    const Ticks length = grid_.length_of(job);
    for (auto k = clusters_.rbegin(); k != clusters_.rend() && grid_.clusters[*k] < 2 * job.processors; ++k) {
      if (profiles_[*k].always_idle_since(job.processors) + length > deadlines_[*k]) continue;
      deadlines_[*k] -= length;
      plan_.schedule[index] = {*k, deadlines_[*k]};
      plan_.phase2.push_back(index);
      return true;
    }
    return false;
  }

  bool phase3(const std::vector<std::uint32_t>& unscheduled) {
    std::vector<Int128> lengths;
    for (const std::uint32_t job : unscheduled) lengths.push_back(grid_.length_of(grid_.jobs[job]));
    MinTree waiting(lengths);
    std::optional<Ticks> now = next_start(std::nullopt);
    while (!waiting.empty()) {
      if (!now) return false;
      if (!start_one(unscheduled, waiting, *now)) now = next_start(now);
    }
    return true;
  }

  // The least C>=j of all clusters (j >= 1), or the least after `now`: there the idle processors become one more.
  [[nodiscard]] std::optional<Ticks> next_start(std::optional<Ticks> now) const {
    std::optional<Ticks> next;
    for (const std::uint32_t k : clusters_) {
      const std::int64_t idle = now ? profiles_[k].idle_from(*now) : 0;
      if (idle == grid_.clusters[k]) continue;
      const Ticks since = profiles_[k].always_idle_since(idle + 1);
      if (!next || since < *next) next = since;
    }
    return next;
  }

  // Starts the first waiting job, highest first, that fits at `now`: q within what is idle from now on, at most
  // max_idle, and its end within D_k. The largest cluster that takes it gets it.
  bool start_one(const std::vector<std::uint32_t>& unscheduled, MinTree& waiting, Ticks now) {
    const std::int64_t widest = max_idle(now);
    std::optional<std::size_t> best;
    std::uint32_t cluster = 0;
    for (const std::uint32_t k : clusters_) {
      const std::int64_t idle = std::min(widest, profiles_[k].idle_from(now));
      if (idle < 1 || now >= deadlines_[k]) continue;
      const auto place = waiting.first_at_most(first_not_wider(unscheduled, idle), deadlines_[k] - now);
      if (!place || (best && *best <= *place)) continue;
      best = place;
      cluster = k;
    }
    if (!best) return false;
    const std::uint32_t job = unscheduled[*best];
    waiting.take(*best);
    plan_.schedule[job] = {cluster, now};
    plan_.phase3.push_back(job);
    profiles_[cluster].add(now, end_of(grid_, plan_.schedule, job), grid_.jobs[job].processors);
    return true;
  }

  // max {j : C>=j = now on some cluster}; 0 when there is none any more.
  [[nodiscard]] std::int64_t max_idle(Ticks now) const {
    std::int64_t widest = 0;
    for (const std::uint32_t k : clusters_) {
      const std::int64_t idle = profiles_[k].idle_from(now);
      if (idle > widest && profiles_[k].always_idle_since(idle) == now) widest = idle;
    }
    return widest;
  }

  [[nodiscard]] std::size_t first_not_wider(const std::vector<std::uint32_t>& jobs, std::int64_t width) const {
    const auto found = std::partition_point(jobs.begin(), jobs.end(),
                                            [&](std::uint32_t job) { return grid_.jobs[job].processors > width; });
    return static_cast<std::size_t>(found - jobs.begin());
  }

  const Grid& grid_;
  std::vector<std::uint32_t> clusters_;  // largest first
  std::vector<Ticks> deadlines_;         // D_k
  std::vector<Profile> profiles_;        // without the jobs of phase 2
  MoccaPlan plan_;
};

}  // namespace

std::vector<std::uint32_t> ending_after(const Grid& grid, const Schedule& schedule, Ticks deadline) {
  std::vector<std::uint32_t> late;
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    if (end_of(grid, schedule, i) > deadline) late.push_back(i);
  return highest_first(grid, std::move(late));
}

Expected<MoccaPlan> plan_mocca(const Grid& grid) {
  return Mocca(grid).run();
}

}  // namespace shapley::planning
