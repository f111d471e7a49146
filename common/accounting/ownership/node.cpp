#include "accounting/ownership/node.hpp"

#include <algorithm>
#include <tuple>

namespace shapley::accounting {

namespace {

bool precedes(const CapacityEntry& a, const CapacityEntry& b) {
  return std::tie(a.at, a.ordinal) < std::tie(b.at, b.ordinal);
}

}  // namespace

const CapacityEntry* Node::find_capacity(Instant at, std::uint32_t ordinal) const {
  const auto it = std::lower_bound(capacities.begin(), capacities.end(), CapacityEntry{at, ordinal, {}}, precedes);
  if (it == capacities.end() || it->at != at || it->ordinal != ordinal) return nullptr;
  return &*it;
}

void Node::insert_capacity(const CapacityEntry& entry) {
  capacities.insert(std::upper_bound(capacities.begin(), capacities.end(), entry, precedes), entry);
}

void Node::change_running(Instant t, MicroProcessors delta) {
  if (delta.value == 0) return;
  running_ += delta;
  // Events come nearly in order of time: look from the end.
  auto it = runs_.end();
  while (it != runs_.begin() && std::prev(it)->at >= t) --it;
  if (it == runs_.end() || it->at != t) {
    runs_.insert(it, {t, delta});
  } else if (it->delta += delta; it->delta.value == 0) {
    runs_.erase(it);
  }
}

bool Node::offer_ignores(Instant t, MicroProcessors delta) const {
  Cursor cursor = before(t);
  for (Instant at = t; at < k_end_of_time; at = next_instant(cursor)) {
    pass(cursor, at);
    const MicroProcessors capacity =
        cursor.capacity == 0 ? MicroProcessors{} : capacities[cursor.capacity - 1].processors;
    if (std::max(cursor.running, cursor.running + delta) > capacity) return false;
  }
  return true;
}

Node::Cursor Node::before(Instant t) const {
  Cursor cursor{runs_.size(), capacities.size(), ownership.in_force().size(), running_};
  while (cursor.run > 0 && runs_[cursor.run - 1].at >= t) cursor.running -= runs_[--cursor.run].delta;
  while (cursor.capacity > 0 && capacities[cursor.capacity - 1].at >= t) --cursor.capacity;
  while (cursor.stretch > 1 && ownership.in_force()[cursor.stretch - 1].from >= t) --cursor.stretch;
  return cursor;
}

Instant Node::next_instant(const Cursor& cursor) const {
  Instant next = k_end_of_time;
  if (cursor.run < runs_.size()) next = std::min(next, runs_[cursor.run].at);
  if (cursor.capacity < capacities.size()) next = std::min(next, capacities[cursor.capacity].at);
  if (cursor.stretch < ownership.in_force().size()) next = std::min(next, ownership.in_force()[cursor.stretch].from);
  return next;
}

void Node::pass(Cursor& cursor, Instant t) const {
  while (cursor.run < runs_.size() && runs_[cursor.run].at <= t) cursor.running += runs_[cursor.run++].delta;
  while (cursor.capacity < capacities.size() && capacities[cursor.capacity].at <= t) ++cursor.capacity;
  while (cursor.stretch < ownership.in_force().size() && ownership.in_force()[cursor.stretch].from <= t)
    ++cursor.stretch;
}

Offer Node::offer(const Cursor& cursor) const {
  const MicroProcessors capacity =
      cursor.capacity == 0 ? MicroProcessors{} : capacities[cursor.capacity - 1].processors;
  return {std::max(capacity, cursor.running), &ownership.in_force()[cursor.stretch - 1].owners};
}

void Node::forget_before(Instant horizon) {
  const auto first_run = std::find_if(runs_.begin(), runs_.end(), [&](const RunChange& c) { return c.at >= horizon; });
  runs_.erase(runs_.begin(), first_run);
  // The last capacity from before the horizon is the one in force there.
  auto kept =
      std::find_if(capacities.begin(), capacities.end(), [&](const CapacityEntry& c) { return c.at >= horizon; });
  if (kept != capacities.begin()) capacities.erase(capacities.begin(), std::prev(kept));
}

}  // namespace shapley::accounting
