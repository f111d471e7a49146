#include "planning/model/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace shapley::planning {

namespace {

struct Change {
  Ticks at;
  std::int64_t processors;  // negative: an end
};

Expected<void> check_cluster(const Grid& grid, std::uint32_t cluster, std::vector<Change>& changes) {
  // Ends come before starts of the same instant: [start, end) is half open.
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.processors < b.processors; });
  std::int64_t used = 0;
  for (const Change& change : changes) {
    used += change.processors;
    if (used > grid.clusters[cluster]) {
      return fail(Errc::corrupt, "cluster " + std::to_string(cluster) + " runs " + std::to_string(used) + " of its " +
                                     std::to_string(grid.clusters[cluster]) + " processors at " +
                                     fraction_text(change.at, grid.ticks_per_unit()));
    }
  }
  return {};
}

}  // namespace

Ticks makespan(const Grid& grid, const Schedule& schedule) {
  Ticks latest = 0;
  for (std::uint32_t i = 0; i < schedule.size(); ++i) latest = std::max(latest, end_of(grid, schedule, i));
  return latest;
}

std::vector<Ticks> organization_makespans(const Grid& grid, const Schedule& schedule) {
  std::vector<Ticks> latest(grid.organizations(), 0);
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    latest[grid.jobs[i].owner] = std::max(latest[grid.jobs[i].owner], end_of(grid, schedule, i));
  return latest;
}

std::vector<Ticks> cluster_makespans(const Grid& grid, const Schedule& schedule) {
  std::vector<Ticks> latest(grid.organizations(), 0);
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    latest[schedule[i].cluster] = std::max(latest[schedule[i].cluster], end_of(grid, schedule, i));
  return latest;
}

std::vector<Ticks> organization_flows(const Grid& grid, const Schedule& schedule) {
  std::vector<Ticks> total(grid.organizations(), 0);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) total[grid.jobs[i].owner] += end_of(grid, schedule, i);
  return total;
}

Expected<void> check_schedule(const Grid& grid, const Schedule& schedule) {
  if (schedule.size() != grid.jobs.size()) {
    return fail(Errc::corrupt, "the schedule places " + std::to_string(schedule.size()) + " of " +
                                   std::to_string(grid.jobs.size()) + " jobs");
  }
  std::vector<std::vector<Change>> changes(grid.organizations());
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const Placement& place = schedule[i];
    if (place.start < 0) return fail(Errc::corrupt, "job " + std::to_string(i) + " starts before instant 0");
    if (place.cluster >= grid.organizations())
      return fail(Errc::corrupt, "job " + std::to_string(i) + " runs on no cluster");
    changes[place.cluster].push_back({place.start, grid.jobs[i].processors});
    changes[place.cluster].push_back({end_of(grid, schedule, i), -grid.jobs[i].processors});
  }
  for (std::uint32_t k = 0; k < changes.size(); ++k) SHAPLEY_TRY(check_cluster(grid, k, changes[k]));
  return {};
}

Expected<void> check_no_organization_loses(const Grid& grid, const Schedule& local, const Schedule& plan) {
  const auto before = organization_makespans(grid, local);
  const auto after = organization_makespans(grid, plan);
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (after[k] > before[k]) {
      return fail(Errc::corrupt, "organization " + std::to_string(k) + " ends at " +
                                     fraction_text(after[k], grid.ticks_per_unit()) + ", alone at " +
                                     fraction_text(before[k], grid.ticks_per_unit()));
    }
  }
  return {};
}

std::vector<std::uint32_t> by_start(const Schedule& schedule, std::vector<std::uint32_t> jobs) {
  std::sort(jobs.begin(), jobs.end(), [&](std::uint32_t a, std::uint32_t b) {
    return schedule[a].start != schedule[b].start ? schedule[a].start < schedule[b].start : a < b;
  });
  return jobs;
}

std::vector<std::uint32_t> all_jobs(const Grid& grid) {
  std::vector<std::uint32_t> jobs(grid.jobs.size());
  std::iota(jobs.begin(), jobs.end(), 0U);
  return jobs;
}

std::vector<Profile> profiles_of(const Grid& grid, const Schedule& schedule, const std::vector<bool>& keep) {
  std::vector<Profile> profiles;
  for (const std::int64_t size : grid.clusters) profiles.emplace_back(size);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    if (!keep[i]) continue;
    profiles[schedule[i].cluster].add(schedule[i].start, end_of(grid, schedule, i), grid.jobs[i].processors);
  }
  return profiles;
}

}  // namespace shapley::planning
