#include "sacct/spreading.hpp"

#include <algorithm>
#include <numeric>

namespace shapley::sacct {

std::int64_t Room::since(Instant t) const {
  const auto later = std::ranges::upper_bound(least_, t, {}, &Least::since);
  return std::prev(later)->amount;
}

void Room::add(Instant t, std::int64_t amount) {
  auto at = std::ranges::lower_bound(least_, t, {}, &Least::since);
  if (at == least_.end() || at->since != t) at = least_.insert(at, {t, std::prev(at)->amount});
  for (; at != least_.end(); ++at) at->amount += amount;
  for (std::size_t i = least_.size() - 1; i > 0; --i)
    least_[i - 1].amount = std::min(least_[i - 1].amount, least_[i].amount);
  const auto equal = [](const Least& a, const Least& b) { return a.amount == b.amount; };
  least_.erase(std::unique(least_.begin(), least_.end(), equal), least_.end());
}

std::vector<std::int64_t> parts_within(std::int64_t whole, std::span<const std::int64_t> rooms,
                                       std::span<const std::int64_t> weights) {
  const std::size_t count = rooms.size();
  std::vector<std::int64_t> parts(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Those first that are full first; without a weight last, where only what all others have no room for goes.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (weights[a] == 0 || weights[b] == 0) return weights[b] == 0 && weights[a] != 0;
    return Int128{rooms[a]} * weights[b] < Int128{rooms[b]} * weights[a];
  });
  Int128 sum = std::accumulate(weights.begin(), weights.end(), Int128{0});
  std::size_t next = 0;
  for (; next < count && Int128{rooms[order[next]]} * sum < Int128{whole} * weights[order[next]]; ++next) {
    parts[order[next]] = rooms[order[next]];
    whole -= rooms[order[next]];
    sum -= weights[order[next]];
  }
  if (sum == 0) {
    for (; next < count; ++next) {
      parts[order[next]] = std::min(whole, rooms[order[next]]);
      whole -= parts[order[next]];
    }
    return parts;
  }
  std::vector<std::size_t> others(order.begin() + static_cast<std::ptrdiff_t>(next), order.end());
  std::int64_t left = whole;
  for (const std::size_t i : others) {
    parts[i] = static_cast<std::int64_t>(Int128{whole} * weights[i] / sum);
    left -= parts[i];
  }
  const auto remainder = [&](std::size_t i) { return Int128{whole} * weights[i] % sum; };
  std::ranges::sort(others);
  std::ranges::stable_sort(others, [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[others[i]];
  return parts;
}

Pool::Pool(std::vector<std::optional<std::int64_t>> sizes, std::int64_t least) : least_(least) {
  nodes_.reserve(sizes.size());
  for (const auto& size : sizes) nodes_.push_back({size, Room(size.value_or(0)), {}});
}

std::int64_t Pool::room(std::uint32_t node, Instant since) const {
  constexpr std::int64_t k_any = std::int64_t{1} << 61U;
  return nodes_[node].size ? nodes_[node].room.since(since) : k_any;
}

void Pool::change(const Held& held, Instant since, std::int64_t sign) {
  for (std::size_t i = 0; i < held.nodes.size(); ++i) {
    Node& node = nodes_[held.nodes[i]];
    if (node.size && held.amounts[i] != 0) node.room.add(since, sign * held.amounts[i]);
  }
}

void Pool::release(Held& held, Instant now) {
  change(held, now, 1);
  for (const std::uint32_t node : held.nodes) std::erase(nodes_[node].spread, &held);
}

// Moves what runs hold of the node to their other nodes until `wanted` was free here since then, or nothing can be
// moved; makes room there by the same means.
void Pool::make_room(std::uint32_t node, Instant since, std::int64_t wanted, Search& search) {
  // What a search may cost: nodes, and runs that are looked at.
  constexpr std::size_t k_most = 64, k_most_steps = 10'000;
  if (room(node, since) >= wanted || search.visited.size() >= k_most || !search.visited.insert(node).second) return;
  for (Held* held : nodes_[node].spread) {
    if (held->begin > since) continue;
    if (++search.steps > k_most_steps) return;
    const auto here = static_cast<std::size_t>(std::ranges::find(held->nodes, node) - held->nodes.begin());
    for (std::size_t i = 0; i < held->nodes.size(); ++i) {
      const std::int64_t lacking = wanted - room(node, since);
      if (lacking <= 0) return;
      const std::int64_t asked = std::min(lacking, held->amounts[here] - least_);
      const std::uint32_t other = held->nodes[i];
      if (i == here || asked <= 0 || search.closed.contains(other)) continue;
      make_room(other, held->begin, asked, search);
      const std::int64_t moved = std::min({asked, held->amounts[here] - least_, room(other, held->begin)});
      if (moved <= 0) continue;
      held->amounts[here] -= moved;
      held->amounts[i] += moved;
      if (nodes_[node].size) nodes_[node].room.add(held->begin, moved);
      if (nodes_[other].size) nodes_[other].room.add(held->begin, -moved);
    }
  }
}

// Of each of the nodes, from `least` to `whole`.
std::vector<std::int64_t> Pool::rooms_for(const Held& held, std::int64_t whole, std::int64_t least, Instant now) {
  const auto room_of = [&](std::size_t i) { return std::clamp(room(held.nodes[i], now), least, whole); };
  Search any;
  for (const std::uint32_t node : held.nodes) {
    any.visited.clear();
    make_room(node, now, least, any);
  }
  std::vector<std::int64_t> rooms;
  for (std::size_t i = 0; i < held.nodes.size(); ++i) rooms.push_back(room_of(i));
  Int128 lacking = whole - std::accumulate(rooms.begin(), rooms.end(), Int128{0});
  // What would be moved to another of these nodes would lack there.
  Search others{.visited = {}, .closed = {held.nodes.begin(), held.nodes.end()}, .steps = 0};
  for (std::size_t i = 0; i < rooms.size() && lacking > 0; ++i) {
    others.visited.clear();
    make_room(held.nodes[i], now, static_cast<std::int64_t>(std::min<Int128>(whole, rooms[i] + lacking)), others);
    lacking += rooms[i];
    rooms[i] = room_of(i);
    lacking -= rooms[i];
  }
  return rooms;
}

bool Pool::divide(Held& held, std::int64_t whole, Instant now) {
  const auto count = static_cast<std::int64_t>(held.nodes.size());
  const std::int64_t least = whole >= least_ * count ? least_ : 0;
  std::vector<std::int64_t> rooms = rooms_for(held, whole, least, now);
  const auto sum = [&] { return std::accumulate(rooms.begin(), rooms.end(), Int128{0}); };
  bool has_room = sum() >= whole;
  for (std::size_t i = 0; i < rooms.size() && has_room; ++i) has_room = room(held.nodes[i], now) >= least;
  if (sum() < whole) {
    for (std::size_t i = 0; i < rooms.size(); ++i)
      rooms[i] = std::max(rooms[i], std::min(whole, nodes_[held.nodes[i]].size.value_or(whole)));
    if (sum() < whole) std::ranges::fill(rooms, whole);
  }
  held.amounts = parts_within(whole, rooms, std::vector<std::int64_t>(rooms.size(), 1));
  change(held, now, -1);
  if (count > 1 && least == least_) {
    for (const std::uint32_t node : held.nodes) nodes_[node].spread.push_back(&held);
  }
  return has_room;
}

void Pool::divide_again(Held& held, std::span<const std::int64_t> weights) {
  const std::int64_t whole = std::accumulate(held.amounts.begin(), held.amounts.end(), std::int64_t{0});
  std::vector<std::int64_t> rooms;
  change(held, held.begin, 1);
  for (const std::uint32_t node : held.nodes)
    rooms.push_back(std::clamp<std::int64_t>(room(node, held.begin), 0, whole));
  if (std::accumulate(rooms.begin(), rooms.end(), Int128{0}) >= whole)
    held.amounts = parts_within(whole, rooms, weights);
  change(held, held.begin, -1);
}

namespace {

// The changes of what a run holds: within one second, runs end before others begin, those on several nodes last. A part
// counts a second at least. Suspensions are taken to be the last seconds of a run, in which it holds nothing.
std::vector<RunsInTime::Moment> holdings_in_time(const Run& run) {
  constexpr std::int64_t k_ends = 0, k_begins = 1;
  std::vector<RunsInTime::Moment> moments;
  for (std::size_t row = 0; row < run.rows.size(); ++row) {
    const Instant begin = run.begin_of(row);
    Instant end = run.rows[row].end.value_or(k_end_of_time);
    if (row + 1 == run.rows.size() && run.end() && *run.end() - run.suspended() > begin) end = end - run.suspended();
    moments.push_back({begin, k_begins + (run.rows[row].nodes.size() > 1 ? 1 : 0), row});
    moments.push_back({std::max(end, begin + Duration{1}), k_ends, row});
  }
  return moments;
}

constexpr std::size_t k_cpus = 0, k_memory = 1, k_first_gres = 2;  // resources by their places in SacctRow::parts

std::int64_t amount_of(const SacctRow& row, std::size_t resource) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 60U;  // beyond all that a node can have
  if (resource == k_cpus) return row.cpus;
  return static_cast<std::int64_t>(
      std::min(k_most, resource == k_memory ? row.memory : row.gres[resource - k_first_gres].count));
}

}  // namespace

Spreading::Spreading(const SortedRows& rows, const SiteNodes& nodes) : nodes_(nodes), in_time_(rows, holdings_in_time) {
  for (const auto& [name, node] : nodes) numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size()));
}

Pool& Spreading::pool_of(const SacctRow& row, std::size_t resource) {
  const std::string name = resource == k_cpus     ? "cpu"
                           : resource == k_memory ? "mem"
                                                  : row.gres[resource - k_first_gres].name;
  if (const auto known = pools_.find(name); known != pools_.end()) return known->second;
  std::vector<std::optional<std::int64_t>> sizes;
  for (const auto& [node_name, node] : nodes_) {
    std::uint64_t size = resource == k_cpus ? node.cpus : node.memory;
    if (resource >= k_first_gres) {
      const auto has = std::ranges::find(node.gres, name, &protocol::Tres::name);
      size = has == node.gres.end() ? 0 : has->count;
    }
    // Lists of nodes may lack memory and generic resources.
    const bool is_known = size > 0 || (resource >= k_first_gres && node.memory > 0);
    sizes.push_back(is_known ? std::optional(static_cast<std::int64_t>(size)) : std::nullopt);
  }
  return pools_.emplace(name, Pool(std::move(sizes), resource == k_cpus ? 1 : 0)).first->second;
}

void Spreading::begin(const Run& run, std::size_t index) {
  const SacctRow& row = run.rows[index];
  auto part = std::make_unique<Part>();
  part->is_known = !row.parts.empty();
  Pool::Held none{run.begin_of(index), {}, {}};
  for (const std::string& name : row.nodes) none.nodes.push_back(numbers_.find(name)->second);
  part->held.assign(k_first_gres + row.gres.size(), none);
  for (std::size_t resource = 0; resource < part->held.size(); ++resource) {
    Pool::Held& held = part->held[resource];
    Pool& pool = pool_of(row, resource);
    if (part->is_known) {
      for (std::size_t i = 0; i < row.nodes.size(); ++i)
        held.amounts.push_back(static_cast<std::int64_t>(row.parts[resource * row.nodes.size() + i]));
      pool.take(held, held.begin);
      continue;
    }
    const bool has_room = pool.divide(held, amount_of(row, resource), held.begin);
    if (resource == k_cpus && !has_room && run.suspended().value == 0) without_room_.push_back(row.line);
    if (resource == k_memory && row.nodes.size() > 1) pool.divide_again(held, part->held[k_cpus].amounts);
  }
  open_.emplace(std::pair(run.number, index), std::move(part));
}

void Spreading::end(Run& run, std::size_t index, Instant now) {
  const auto found = open_.find({run.number, index});
  Part& part = *found->second;
  SacctRow& row = run.rows[index];
  // Its CPUs may have been moved.
  if (!part.is_known && row.nodes.size() > 1)
    pool_of(row, k_memory).divide_again(part.held[k_memory], part.held[k_cpus].amounts);
  row.parts.clear();
  for (std::size_t resource = 0; resource < part.held.size(); ++resource) {
    pool_of(row, resource).release(part.held[resource], now);
    row.parts.insert(row.parts.end(), part.held[resource].amounts.begin(), part.held[resource].amounts.end());
  }
  open_.erase(found);
}

Expected<void> Spreading::for_each(const std::function<Expected<void>(const Run&)>& visit) {
  return in_time_.for_each([&](const std::shared_ptr<Run>& run, const RunsInTime::Moment& moment) -> Expected<void> {
    if (moment.order != 0) {
      begin(*run, moment.row);
      return {};
    }
    const bool is_known = open_.at({run->number, moment.row})->is_known;
    end(*run, moment.row, moment.at);
    return is_known || moment.row + 1 < run->rows.size() ? Expected<void>{} : visit(*run);
  });
}

}  // namespace shapley::sacct
