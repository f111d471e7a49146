#include "planning/schedule.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace shapley::planning {

Profile::Profile(std::int64_t processors) : processors_(processors) {
  nodes_.push_back(Node{});
  nodes_[0].weight = weights_.next();
  root_ = 0;
}

void Profile::apply(Index index, std::int64_t count) {
  if (index == k_none) return;
  Node& node = at(index);
  node.used += count;
  node.least += count;
  node.greatest += count;
  node.waiting += count;
}

void Profile::push(Index index) {
  Node& node = at(index);
  if (node.waiting == 0) return;
  apply(node.left, node.waiting);
  apply(node.right, node.waiting);
  node.waiting = 0;
}

void Profile::pull(Index index) {
  Node& node = at(index);
  node.least = node.greatest = node.used;
  for (const Index child : {node.left, node.right}) {
    if (child == k_none) continue;
    node.least = std::min(node.least, at(child).least);
    node.greatest = std::max(node.greatest, at(child).greatest);
  }
}

void Profile::split(Index index, Ticks key, Index& below, Index& rest) {
  if (index == k_none) {
    below = rest = k_none;
    return;
  }
  push(index);
  if (at(index).begin < key) {
    Index inner = k_none;
    split(at(index).right, key, inner, rest);
    at(index).right = inner;
    below = index;
  } else {
    Index inner = k_none;
    split(at(index).left, key, below, inner);
    at(index).left = inner;
    rest = index;
  }
  pull(index);
}

Profile::Index Profile::merge(Index below, Index rest) {
  if (below == k_none) return rest;
  if (rest == k_none) return below;
  if (at(below).weight > at(rest).weight) {
    push(below);
    const Index merged = merge(at(below).right, rest);
    at(below).right = merged;
    pull(below);
    return below;
  }
  push(rest);
  const Index merged = merge(below, at(rest).left);
  at(rest).left = merged;
  pull(rest);
  return rest;
}

Ticks Profile::piece_of(Ticks t) const {
  Ticks found = 0;
  for (Index index = root_; index != k_none;) {
    const Node& node = at(index);
    if (node.begin <= t) found = node.begin;
    index = node.begin <= t ? node.right : node.left;
  }
  return found;
}

std::optional<Ticks> Profile::next_piece(Ticks begin) const {
  std::optional<Ticks> found;
  for (Index index = root_; index != k_none;) {
    const Node& node = at(index);
    if (node.begin > begin) found = node.begin;
    index = node.begin > begin ? node.left : node.right;
  }
  return found;
}

void Profile::cut(Ticks t) {
  std::int64_t used = 0;
  std::int64_t waiting = 0;
  for (Index index = root_; index != k_none;) {
    const Node& node = at(index);
    if (node.begin == t) return;
    if (node.begin < t) used = node.used + waiting;
    waiting += node.waiting;
    index = node.begin < t ? node.right : node.left;
  }
  Node fresh;
  fresh.begin = t;
  fresh.used = fresh.least = fresh.greatest = used;
  fresh.weight = weights_.next();
  nodes_.push_back(fresh);
  Index below = k_none;
  Index rest = k_none;
  split(root_, t, below, rest);
  root_ = merge(merge(below, static_cast<Index>(nodes_.size() - 1)), rest);
}

void Profile::add(Ticks from, Ticks to, std::int64_t count) {
  SHAPLEY_REQUIRE(0 <= from && from < to);
  cut(from);
  cut(to);
  Index below = k_none;
  Index middle = k_none;
  Index above = k_none;
  split(root_, from, below, middle);
  split(middle, to, middle, above);
  apply(middle, count);
  root_ = merge(merge(below, middle), above);
  SHAPLEY_REQUIRE(0 <= at(root_).least && at(root_).greatest <= processors_);
}

std::optional<Ticks> Profile::first_within(Index index, Ticks from, std::int64_t limit) const {
  if (index == k_none || at(index).least > limit) return std::nullopt;
  const Node& node = at(index);
  if (node.begin >= from) {
    if (const auto left = first_within(node.left, from, limit - node.waiting)) return left;
    if (node.used <= limit) return node.begin;
  }
  return first_within(node.right, from, limit - node.waiting);
}

std::optional<Ticks> Profile::first_above(Index index, Ticks from, std::int64_t limit) const {
  if (index == k_none || at(index).greatest <= limit) return std::nullopt;
  const Node& node = at(index);
  if (node.begin >= from) {
    if (const auto left = first_above(node.left, from, limit - node.waiting)) return left;
    if (node.used > limit) return node.begin;
  }
  return first_above(node.right, from, limit - node.waiting);
}

std::optional<Ticks> Profile::last_above(Index index, const Ticks* to, std::int64_t limit) const {
  if (index == k_none || at(index).greatest <= limit) return std::nullopt;
  const Node& node = at(index);
  if (to == nullptr || node.begin < *to) {
    if (const auto right = last_above(node.right, to, limit - node.waiting)) return right;
    if (node.used > limit) return node.begin;
  }
  return last_above(node.left, to, limit - node.waiting);
}

std::int64_t Profile::greatest_from(Ticks begin) const {
  std::int64_t greatest = 0;
  std::int64_t waiting = 0;
  for (Index index = root_; index != k_none;) {
    const Node& node = at(index);
    const std::int64_t below = waiting + node.waiting;
    if (node.begin >= begin) {
      greatest = std::max(greatest, node.used + waiting);
      if (node.right != k_none) greatest = std::max(greatest, at(node.right).greatest + below);
    }
    index = node.begin >= begin ? node.left : node.right;
    waiting = below;
  }
  return greatest;
}

std::int64_t Profile::idle_before(Ticks t) const {
  SHAPLEY_REQUIRE(t > 0);
  std::int64_t used = 0;
  std::int64_t waiting = 0;
  for (Index index = root_; index != k_none;) {
    const Node& node = at(index);
    if (node.begin < t) used = node.used + waiting;
    waiting += node.waiting;
    index = node.begin < t ? node.right : node.left;
  }
  return processors_ - used;
}

std::int64_t Profile::idle_from(Ticks t) const {
  return processors_ - greatest_from(piece_of(t));
}

Ticks Profile::always_idle_since(std::int64_t count) const {
  const auto last = last_above(root_, nullptr, processors_ - count);
  // Nothing is in use in the last piece, so a busy one has a successor.
  return last ? next_piece(*last).value_or(*last) : 0;
}

Ticks Profile::busy_until(Ticks t, std::int64_t count) const {
  SHAPLEY_REQUIRE(t > 0);
  const auto last = last_above(root_, &t, processors_ - count);
  return last ? std::min(t, next_piece(*last).value_or(t)) : 0;
}

std::optional<Ticks> Profile::earliest_hole(std::int64_t count, Ticks length, Ticks latest, Ticks from) const {
  const std::int64_t limit = processors_ - count;
  while (from <= latest) {
    // An earliest hole begins where a piece does.
    const auto start = first_within(root_, from, limit);
    if (!start || *start > latest) return std::nullopt;
    const auto end = first_above(root_, *start, limit);
    if (!end || *end - *start >= length) return *start;
    from = *end;
  }
  return std::nullopt;
}

namespace {
// Above every length and width in ticks, see validate(Grid).
constexpr Int128 k_taken = Int128{1} << 126;
}  // namespace

MinTree::MinTree(const std::vector<Int128>& values) : remaining_(values.size()) {
  while (leaves_ < values.size()) leaves_ *= 2;
  minima_.assign(2 * leaves_, k_taken);
  std::copy(values.begin(), values.end(), minima_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t i = leaves_ - 1; i >= 1; --i) minima_[i] = std::min(minima_[2 * i], minima_[2 * i + 1]);
}

std::optional<std::size_t> MinTree::first_at_most(std::size_t from, Int128 limit) const {
  if (from >= leaves_ || limit >= k_taken) return std::nullopt;
  // Up from the leaf: the subtrees to the right of the path hold the entries at or after `from`.
  std::size_t i = leaves_ + from;
  while (minima_[i] > limit) {
    while (i % 2 == 1) i /= 2;  // from a right child on, an ancestor has the next subtree
    if (i == 0) return std::nullopt;
    ++i;
  }
  while (i < leaves_) i = minima_[2 * i] <= limit ? 2 * i : 2 * i + 1;
  return i - leaves_;
}

void MinTree::take(std::size_t place) {
  std::size_t i = leaves_ + place;
  minima_[i] = k_taken;
  --remaining_;
  for (i /= 2; i >= 1; i /= 2) minima_[i] = std::min(minima_[2 * i], minima_[2 * i + 1]);
}

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
