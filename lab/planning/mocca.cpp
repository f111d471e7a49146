#include "planning/mocca.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/contract.hpp"
#include "planning/schedule.hpp"

namespace shapley::planning {

namespace {

// Lower bounds from past searches: while jobs are only added to a profile, the earliest hole for a job never begins
// before the earliest hole once found for a shorter and narrower job.
//
// Lengths and widths are put into classes, at most k_classes each, so that a query and an insertion cost O(log^2
// k_classes). Coarse classes make the bound lower, never wrong.
//
// The classes of the values of one dimension: `lower` is the class whose least value is at most x, `upper` the first
// class all of whose values are at least x.
class SizeClasses {
 public:
  static constexpr std::size_t k_classes = 128;

  explicit SizeClasses(std::vector<std::int64_t> values);

  [[nodiscard]] std::size_t count() const { return least_.size() + 1; }
  [[nodiscard]] std::size_t lower(std::int64_t value) const;
  [[nodiscard]] std::size_t upper(std::int64_t value) const;

 private:
  std::vector<std::int64_t> least_;  // of each class, rising
};

class HoleMemory {
 public:
  // REQUIRES: both outlive this.
  HoleMemory(const SizeClasses& lengths, const SizeClasses& widths);

  // An instant before which no hole for the job can begin.
  [[nodiscard]] Ticks not_before(const Job& job) const;
  // No hole for the job begins before `start`.
  void remember(const Job& job, Ticks start);

 private:
  const SizeClasses* lengths_;
  const SizeClasses* widths_;
  std::vector<Ticks> greatest_;  // a two-dimensional Fenwick tree of maxima, by (length class, width class)
};

SizeClasses::SizeClasses(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const std::size_t step = values.size() / k_classes + 1;
  for (std::size_t i = 0; i < values.size(); i += step) least_.push_back(values[i]);
}

std::size_t SizeClasses::lower(std::int64_t value) const {
  const auto above = std::upper_bound(least_.begin(), least_.end(), value);
  return static_cast<std::size_t>(above - least_.begin());
}

std::size_t SizeClasses::upper(std::int64_t value) const {
  const auto at_least = std::lower_bound(least_.begin(), least_.end(), value);
  return static_cast<std::size_t>(at_least - least_.begin()) + 1;
}

HoleMemory::HoleMemory(const SizeClasses& lengths, const SizeClasses& widths)
    : lengths_(&lengths), widths_(&widths), greatest_((lengths.count() + 1) * (widths.count() + 1), 0) {}

Ticks HoleMemory::not_before(const Job& job) const {
  Ticks latest = 0;
  const std::size_t row = widths_->count() + 1;
  for (std::size_t i = lengths_->lower(job.length); i > 0; i &= i - 1)
    for (std::size_t j = widths_->lower(job.processors); j > 0; j &= j - 1)
      latest = std::max(latest, greatest_[i * row + j]);
  return latest;
}

void HoleMemory::remember(const Job& job, Ticks start) {
  const std::size_t row = widths_->count() + 1;
  for (std::size_t i = lengths_->upper(job.length); i <= lengths_->count(); i += i & (~i + 1))
    for (std::size_t j = widths_->upper(job.processors); j <= widths_->count(); j += j & (~j + 1))
      greatest_[i * row + j] = std::max(greatest_[i * row + j], start);
}

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
  // max_idle, and its end within D_k. It goes to the largest cluster that it fits.
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

std::vector<std::uint32_t> ending_after(const Grid& grid, const Schedule& schedule, Ticks deadline) {
  std::vector<std::uint32_t> late;
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    if (end_of(grid, schedule, i) > deadline) late.push_back(i);
  return highest_first(grid, std::move(late));
}

Expected<MoccaPlan> plan_mocca(const Grid& grid) {
  SHAPLEY_REQUIRE(validate(grid));
  return Mocca(grid).run();
}

Expected<Schedule> plan_mocca4(const Grid& grid, LocalOrder order, std::uint64_t seed) {
  SHAPLEY_REQUIRE(validate(grid));
  const Ticks deadline = 4 * grid.lower_bound();
  Schedule schedule = schedule_locally(grid, order, seed);
  const Schedule highest = schedule_locally(grid, LocalOrder::hf);
  const auto chosen = organization_makespans(grid, schedule);
  const auto reference = organization_makespans(grid, highest);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const std::uint32_t owner = grid.jobs[i].owner;
    if (chosen[owner] >= deadline || chosen[owner] >= reference[owner]) schedule[i] = highest[i];
  }
  if (!place_backwards(grid, ending_after(grid, schedule, deadline), deadline, schedule))
    return fail(Errc::corrupt, "mocca4: a job found no place before 4 LB, which Proposition 10 of MO11 excludes");
  return schedule;
}

ExperimentPlan plan_mocca_experiment(const Grid& grid, LocalOrder order, int alpha, std::uint64_t seed) {
  SHAPLEY_REQUIRE(validate(grid) && alpha >= 1);
  const Ticks deadline = alpha * grid.lower_bound();
  ExperimentPlan plan;
  plan.schedule = schedule_locally(grid, order, seed);
  plan.moved = ending_after(grid, plan.schedule, deadline);
  if (plan.moved.empty()) return plan;
  Schedule attempt = plan.schedule;
  if (place_backwards(grid, plan.moved, deadline, attempt)) {
    compact(grid, plan.moved, attempt);
    plan.schedule = std::move(attempt);
  } else {
    plan.moved.clear();
    plan.fell_back = true;
  }
  return plan;
}

Schedule balance(const Grid& grid, Schedule schedule) {
  SHAPLEY_REQUIRE(check_schedule(grid, schedule));
  return Balance(grid, std::move(schedule)).run();
}

void compact(const Grid& grid, const std::vector<std::uint32_t>& moved, Schedule& schedule) {
  auto profiles = profiles_of(grid, schedule, std::vector<bool>(grid.jobs.size(), true));
  for (const std::uint32_t job : by_start(schedule, moved)) {
    Placement& place = schedule[job];
    const Job& shape = grid.jobs[job];
    const Ticks length = grid.length_of(shape);
    Profile& profile = profiles[place.cluster];
    profile.add(place.start, place.start + length, -shape.processors);
    // Its own place is a hole, so there is one.
    place.start = profile.earliest_hole(shape.processors, length, place.start).value_or(place.start);
    profile.add(place.start, place.start + length, shape.processors);
  }
}

}  // namespace shapley::planning
