#include "planning/model/profile.hpp"

#include <algorithm>

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
  cut(from);
  cut(to);
  Index below = k_none;
  Index middle = k_none;
  Index above = k_none;
  split(root_, from, below, middle);
  split(middle, to, middle, above);
  apply(middle, count);
  root_ = merge(merge(below, middle), above);
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

}  // namespace shapley::planning
