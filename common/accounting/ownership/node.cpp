#include "accounting/ownership/node.hpp"

#include <algorithm>
#include <tuple>

namespace shapley::accounting {

namespace {

bool precedes(const CapacityChanged& a, const CapacityChanged& b) {
  return std::tie(a.at, a.ordinal) < std::tie(b.at, b.ordinal);
}

}  // namespace

const CapacityChanged* Node::find_capacity(Instant at, std::uint32_t ordinal) const {
  const auto it = std::lower_bound(capacities.begin(), capacities.end(),
                                   CapacityChanged{.node = {}, .at = at, .ordinal = ordinal}, precedes);
  if (it == capacities.end() || it->at != at || it->ordinal != ordinal) return nullptr;
  return &*it;
}

void Node::insert_capacity(const CapacityChanged& entry) {
  capacities.insert(std::upper_bound(capacities.begin(), capacities.end(), entry, precedes), entry);
}

void Node::change_claimed(Instant t, MicroProcessors delta) {
  if (delta.value == 0) return;
  claimed_ += delta;
  // Events come nearly in order of time: look from the end.
  auto it = claims_.end();
  while (it != claims_.begin() && std::prev(it)->at >= t) --it;
  if (it == claims_.end() || it->at != t) {
    claims_.insert(it, {t, delta});
  } else if (it->delta += delta; it->delta.value == 0) {
    claims_.erase(it);
  }
}

template <typename Predicate>
bool Node::any_since(Instant t, Predicate&& holds) const {
  Cursor cursor = before(t);
  for (Instant at = t; at < k_end_of_time; at = next_instant(cursor)) {
    pass(cursor, at);
    if (holds(cursor)) return true;
  }
  return false;
}

bool Node::offer_ignores(Instant t, MicroProcessors delta) const {
  return !any_since(t, [&](const Cursor& c) { return std::max(running(c), running(c, delta)) > capacity(c); });
}

bool Node::is_shared_since(Instant t, MicroProcessors more) const {
  return any_since(t, [&](const Cursor& c) { return whole(c).value > 0 && c.claimed + more > whole(c); });
}

bool Node::claims_exceed(MicroProcessors worth, Instant t) const {
  return worth.value > 0 && any_since(t, [&](const Cursor& c) { return c.claimed > worth; });
}

std::vector<Worth> Node::worths() const {
  std::vector<Worth> all;
  for (const CapacityChanged& entry : capacities) all.push_back({entry.at, entry.whole});
  return all;
}

Node::Cursor Node::before(Instant t) const {
  Cursor cursor{claims_.size(), capacities.size(), ownership.in_force().size(), claimed_};
  while (cursor.claim > 0 && claims_[cursor.claim - 1].at >= t) cursor.claimed -= claims_[--cursor.claim].delta;
  while (cursor.capacity > 0 && capacities[cursor.capacity - 1].at >= t) --cursor.capacity;
  while (cursor.stretch > 1 && ownership.in_force()[cursor.stretch - 1].from >= t) --cursor.stretch;
  return cursor;
}

Instant Node::next_instant(const Cursor& cursor) const {
  Instant next = k_end_of_time;
  if (cursor.claim < claims_.size()) next = std::min(next, claims_[cursor.claim].at);
  if (cursor.capacity < capacities.size()) next = std::min(next, capacities[cursor.capacity].at);
  if (cursor.stretch < ownership.in_force().size()) next = std::min(next, ownership.in_force()[cursor.stretch].from);
  return next;
}

void Node::pass(Cursor& cursor, Instant t) const {
  while (cursor.claim < claims_.size() && claims_[cursor.claim].at <= t)
    cursor.claimed += claims_[cursor.claim++].delta;
  while (cursor.capacity < capacities.size() && capacities[cursor.capacity].at <= t) ++cursor.capacity;
  while (cursor.stretch < ownership.in_force().size() && ownership.in_force()[cursor.stretch].from <= t)
    ++cursor.stretch;
}

MicroProcessors Node::capacity(const Cursor& cursor) const {
  return cursor.capacity == 0 ? MicroProcessors{} : capacities[cursor.capacity - 1].processors;
}

MicroProcessors Node::whole(const Cursor& cursor) const {
  return cursor.capacity == 0 ? MicroProcessors{} : capacities[cursor.capacity - 1].whole;
}

MicroProcessors Node::running(const Cursor& cursor, MicroProcessors more) const {
  const MicroProcessors claimed = cursor.claimed + more;
  return whole(cursor).value == 0 ? claimed : std::min(claimed, whole(cursor));
}

Offer Node::offer(const Cursor& cursor) const {
  return {std::max(capacity(cursor), running(cursor)), &ownership.in_force()[cursor.stretch - 1].owners};
}

void Node::forget_before(Instant horizon) {
  const auto first =
      std::find_if(claims_.begin(), claims_.end(), [&](const ClaimChange& c) { return c.at >= horizon; });
  claims_.erase(claims_.begin(), first);
  // The last capacity from before the horizon is the one in force there.
  auto kept =
      std::find_if(capacities.begin(), capacities.end(), [&](const CapacityChanged& c) { return c.at >= horizon; });
  if (kept != capacities.begin()) capacities.erase(capacities.begin(), std::prev(kept));
}

}  // namespace shapley::accounting
