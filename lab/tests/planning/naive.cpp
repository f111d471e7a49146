#include "naive.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace shapley::planning::naive {

namespace {

using Partial = std::map<std::uint32_t, Placement>;  // the jobs that have a place

struct Desk {
  const Grid& grid;
  Partial placed;

  [[nodiscard]] Ticks end(std::uint32_t job) const { return placed.at(job).start + grid.length_of(grid.jobs[job]); }
  // Processors idle on cluster k at every instant of [from, to).
  [[nodiscard]] std::int64_t idle(std::uint32_t k, Ticks from, Ticks to) const {
    std::vector<Ticks> instants{from};
    for (const auto& [job, place] : placed)
      if (place.cluster == k && place.start > from && place.start < to) instants.push_back(place.start);
    std::int64_t least = grid.clusters[k];
    for (const Ticks t : instants) {
      std::int64_t free = grid.clusters[k];
      for (const auto& [job, place] : placed)
        if (place.cluster == k && place.start <= t && t < end(job)) free -= grid.jobs[job].processors;
      least = std::min(least, free);
    }
    return least;
  }
  [[nodiscard]] Ticks horizon() const {
    Ticks last = 0;
    for (const auto& [job, place] : placed) last = std::max(last, end(job));
    return last + 1;
  }
  // C>=j, by trying every end.
  [[nodiscard]] Ticks since(std::uint32_t k, std::int64_t j) const {
    std::set<Ticks> candidates{0};
    for (const auto& [job, place] : placed)
      if (place.cluster == k) candidates.insert(end(job));
    for (const Ticks t : candidates)
      if (idle(k, t, horizon() + t) >= j) return t;
    return horizon();
  }
  [[nodiscard]] Ticks earliest(std::uint32_t k, const Job& job) const {
    std::set<Ticks> candidates{0};
    for (const auto& [other, place] : placed)
      if (place.cluster == k) candidates.insert(end(other));
    for (const Ticks t : candidates)
      if (idle(k, t, t + grid.length_of(job)) >= job.processors) return t;
    return horizon();
  }
};

std::vector<std::uint32_t> in_order(const Grid& grid, std::uint32_t owner, LocalOrder order) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < grid.jobs.size(); ++i)
    if (grid.jobs[i].owner == owner) list.push_back(i);
  std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Job& x = grid.jobs[a];
    const Job& y = grid.jobs[b];
    if (order == LocalOrder::hf) return x.processors > y.processors;
    return order == LocalOrder::lpt ? x.length > y.length : x.length < y.length;
  });
  return list;
}

std::vector<std::uint32_t> by_size(const Grid& grid) {  // largest cluster first, ties in input order
  std::vector<std::uint32_t> order(grid.clusters.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return grid.clusters[a] > grid.clusters[b]; });
  return order;
}

Schedule complete(const Desk& desk) {
  Schedule schedule;
  for (const auto& [job, place] : desk.placed) schedule.push_back(place);
  return schedule;
}

// Splits a schedule at a deadline: the desk keeps the jobs that end by it, the rest is returned in HF order.
std::vector<std::uint32_t> take_out(const Grid& grid, const Schedule& schedule, Ticks deadline, Desk& desk) {
  std::vector<std::uint32_t> removed;
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].start + grid.length_of(grid.jobs[i]) > deadline) {
      removed.push_back(i);
    } else {
      desk.placed[i] = schedule[i];
    }
  }
  std::stable_sort(removed.begin(), removed.end(),
                   [&](auto a, auto b) { return grid.jobs[a].processors > grid.jobs[b].processors; });
  return removed;
}

// Phase 3 of Algorithm 3, statement by statement. Jobs of phase 2 are kept apart, as in the paper's C>=j.
bool phase3(const Grid& grid, std::vector<std::uint32_t> unscheduled, const std::vector<Ticks>& deadlines, Desk& desk) {
  const auto clusters = by_size(grid);
  const auto starts = [&] {
    std::set<std::pair<Ticks, std::pair<std::int64_t, std::uint32_t>>> all;
    for (const std::uint32_t k : clusters)
      for (std::int64_t j = 1; j <= grid.clusters[k]; ++j) all.insert({desk.since(k, j), {j, k}});
    return all;
  };
  Ticks now = starts().begin()->first;
  while (!unscheduled.empty()) {
    const auto all = starts();
    std::int64_t max_idle = 0;
    for (const auto& [at, pair] : all)
      if (at == now) max_idle = std::max(max_idle, pair.first);
    bool scheduled_one = false;
    for (std::size_t i = 0; i < unscheduled.size() && !scheduled_one; ++i) {
      const std::uint32_t job = unscheduled[i];
      const Job& shape = grid.jobs[job];
      if (shape.processors > max_idle) continue;
      for (const std::uint32_t k : clusters) {
        if (desk.since(k, shape.processors) > now || now + grid.length_of(shape) > deadlines[k]) continue;
        desk.placed[job] = {k, now};
        unscheduled.erase(unscheduled.begin() + static_cast<std::ptrdiff_t>(i));
        scheduled_one = true;
        break;
      }
    }
    if (scheduled_one) continue;
    const auto next = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first > now; });
    if (next == all.end()) return false;
    now = next->first;
  }
  return true;
}

bool backwards(const Grid& grid, std::vector<std::uint32_t> waiting, Ticks deadline, Desk& desk) {
  auto clusters = by_size(grid);
  std::reverse(clusters.begin(), clusters.end());
  Ticks now = deadline;
  while (!waiting.empty()) {
    bool placed = false;
    for (std::size_t i = 0; i < waiting.size() && !placed; ++i) {
      const Job& job = grid.jobs[waiting[i]];
      const Ticks start = now - grid.length_of(job);
      for (const std::uint32_t k : clusters) {
        if (start < 0 || desk.idle(k, start, now) < job.processors) continue;
        desk.placed[waiting[i]] = {k, start};
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
        placed = true;
        break;
      }
    }
    if (placed) continue;
    std::optional<Ticks> next;
    for (const auto& [job, place] : desk.placed)
      if (place.start < now && (!next || place.start > *next)) next = place.start;
    if (!next) return false;
    now = *next;
  }
  return true;
}

}  // namespace

Schedule schedule_locally(const Grid& grid, LocalOrder order) {
  Desk desk{grid, {}};
  for (std::uint32_t k = 0; k < grid.clusters.size(); ++k) {
    auto list = in_order(grid, k, order);
    Ticks now = 0;
    while (!list.empty()) {
      const auto fits = std::find_if(list.begin(), list.end(), [&](std::uint32_t job) {
        return desk.idle(k, now, now + 1) >= grid.jobs[job].processors;
      });
      if (fits != list.end()) {
        desk.placed[*fits] = {k, now};
        list.erase(fits);
        continue;
      }
      Ticks next = desk.horizon();
      for (const auto& [job, place] : desk.placed)
        if (place.cluster == k && desk.end(job) > now) next = std::min(next, desk.end(job));
      now = next;
    }
  }
  return complete(desk);
}

std::optional<Schedule> mocca(const Grid& grid) {
  const Ticks deadline = 3 * grid.lower_bound();
  Desk desk{grid, {}};
  const auto sorted = take_out(grid, naive::schedule_locally(grid, LocalOrder::hf), deadline, desk);
  const auto clusters = by_size(grid);
  std::vector<Ticks> deadlines(grid.clusters.size(), deadline);
  std::vector<std::uint32_t> unscheduled;
  Partial high;
  for (const std::uint32_t job : sorted) {
    const Job& shape = grid.jobs[job];
    bool scheduled = false;
    for (std::size_t i = clusters.size(); i-- > 0 && !scheduled;) {
      const std::uint32_t k = clusters[i];
      if (grid.clusters[k] >= 2 * shape.processors) break;
      if (desk.since(k, shape.processors) + grid.length_of(shape) > deadlines[k]) continue;
      deadlines[k] -= grid.length_of(shape);
      high[job] = {k, deadlines[k]};
      scheduled = true;
    }
    if (!scheduled) unscheduled.push_back(job);
  }
  if (!phase3(grid, unscheduled, deadlines, desk)) return std::nullopt;
  desk.placed.insert(high.begin(), high.end());
  return complete(desk);
}

Schedule mocca4(const Grid& grid, LocalOrder order) {
  const Ticks deadline = 4 * grid.lower_bound();
  Schedule schedule = naive::schedule_locally(grid, order);
  const Schedule highest = naive::schedule_locally(grid, LocalOrder::hf);
  for (std::uint32_t k = 0; k < grid.clusters.size(); ++k) {
    const Ticks own = organization_makespans(grid, schedule)[k];
    if (own < deadline && own < organization_makespans(grid, highest)[k]) continue;
    for (std::uint32_t i = 0; i < schedule.size(); ++i)
      if (grid.jobs[i].owner == k) schedule[i] = highest[i];
  }
  Desk desk{grid, {}};
  const auto removed = take_out(grid, schedule, deadline, desk);
  return backwards(grid, removed, deadline, desk) ? complete(desk) : Schedule{};
}

Schedule mocca_experiment(const Grid& grid, LocalOrder order, int alpha) {
  const Ticks deadline = alpha * grid.lower_bound();
  const Schedule local = naive::schedule_locally(grid, order);
  Desk desk{grid, {}};
  auto moved = take_out(grid, local, deadline, desk);
  if (!backwards(grid, moved, deadline, desk)) return local;
  std::sort(moved.begin(), moved.end(),
            [&](auto a, auto b) { return std::pair(desk.placed[a].start, a) < std::pair(desk.placed[b].start, b); });
  for (const std::uint32_t job : moved) {
    const std::uint32_t k = desk.placed[job].cluster;
    desk.placed.erase(job);
    const Ticks start = desk.earliest(k, grid.jobs[job]);
    desk.placed[job] = {k, start};
  }
  return complete(desk);
}

Schedule balance(const Grid& grid, const Schedule& schedule) {
  std::vector<std::uint32_t> order(grid.clusters.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto ends = cluster_makespans(grid, schedule);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ends[a] < ends[b]; });
  Desk desk{grid, {}};
  for (std::size_t n = 0; n < order.size(); ++n) {
    std::vector<std::uint32_t> jobs;
    for (std::uint32_t i = 0; i < schedule.size(); ++i)
      if (schedule[i].cluster == order[n]) jobs.push_back(i);
    std::stable_sort(jobs.begin(), jobs.end(), [&](auto a, auto b) { return schedule[a].start < schedule[b].start; });
    for (const std::uint32_t job : jobs) {
      Placement best = schedule[job];
      if (n > 0) {
        best = {order[n], desk.earliest(order[n], grid.jobs[job])};
        for (std::size_t other = 0; other < n; ++other) {
          const Ticks start = desk.earliest(order[other], grid.jobs[job]);
          if (start < best.start) best = {order[other], start};
        }
      }
      desk.placed[job] = best;
    }
  }
  return complete(desk);
}

namespace {

// Every order of the jobs and every assignment, each job as early as the earlier ones allow: some such schedule is
// optimal for any objective that no earlier end can harm, with or without limits on ends.
void search(Desk& desk, const std::vector<Ticks>* limits, Ticks end, Ticks& best) {
  if (end >= best) return;
  if (desk.placed.size() == desk.grid.jobs.size()) {
    best = end;
    return;
  }
  for (std::uint32_t job = 0; job < desk.grid.jobs.size(); ++job) {
    if (desk.placed.contains(job)) continue;
    for (std::uint32_t k = 0; k < desk.grid.clusters.size(); ++k) {
      const Ticks start = desk.earliest(k, desk.grid.jobs[job]);
      const Ticks own = start + desk.grid.length_of(desk.grid.jobs[job]);
      if (limits != nullptr && own > (*limits)[desk.grid.jobs[job].owner]) continue;
      desk.placed[job] = {k, start};
      search(desk, limits, std::max(end, own), best);
      desk.placed.erase(job);
    }
  }
}

}  // namespace

Ticks optimum(const Grid& grid, const std::vector<Ticks>* limits) {
  Desk desk{grid, {}};
  Ticks best = 1;
  for (const Job& job : grid.jobs) best += grid.length_of(job);
  search(desk, limits, 0, best);
  return best;
}

}  // namespace shapley::planning::naive
