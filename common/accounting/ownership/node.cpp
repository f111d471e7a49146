#include "accounting/ownership/node.hpp"

#include <tuple>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "game/blocked.hpp"

namespace shapley::accounting {

namespace {

bool precedes(const CapacityChanged& a, const CapacityChanged& b) {
  return std::tie(a.at, a.ordinal) < std::tie(b.at, b.ordinal);
}

ProcessorMillionths processors_of(std::uint32_t cpus) {
  return {std::int64_t{cpus} * k_micro};
}

Measured offer_of(const CapacityChanged& node) {
  return {node.processors, node.usable_cpus ? processors_of(*node.usable_cpus) : node.processors};
}

// Of what a run holds, or of what a node has.
template <typename Holder>
game::Amounts amounts_of(const Holder& holder) {
  game::Amounts amounts{holder.cpus, holder.memory, {}};
  for (const Resource& r : holder.gres) amounts.gres.push_back({r.name, r.count});
  return amounts;
}

// Whether runs claim the same of both; nullptr: no capacity is known.
bool claimed_alike(const CapacityChanged* a, const CapacityChanged* b) {
  const bool a_counts = a != nullptr && a->usable_cpus;
  const bool b_counts = b != nullptr && b->usable_cpus;
  if (!a_counts || !b_counts) return a_counts == b_counts;
  return std::tie(a->cpus, a->memory, a->gres) == std::tie(b->cpus, b->memory, b->gres);
}

template <typename Predicate>
bool any_measure(Predicate&& holds) {
  return holds(&Measured::charged) || holds(&Measured::blocked);
}

}  // namespace

Measured worth_of(const CapacityChanged& node) {
  return {node.whole, node.usable_cpus ? processors_of(node.cpus) : node.whole};
}

Measured claim_of(const NodeShare& share, const CapacityChanged* capacity) {
  // Where it is not known what the run holds, its charge is all that is known.
  const bool counts = capacity != nullptr && capacity->usable_cpus && share.cpus > 0;
  if (!counts) return {share.processors, share.processors};
  // A run that has the node to itself holds all of its CPUs; events say no more of that. (Where it asked for one thread
  // of each core, Slurm may count fewer.)
  return {share.processors, game::blocked(amounts_of(share), amounts_of(*capacity), false)};
}

const CapacityChanged* Node::find_capacity(Instant at, std::uint32_t ordinal) const {
  const auto it = std::lower_bound(capacities.begin(), capacities.end(),
                                   CapacityChanged{.node = {}, .at = at, .ordinal = ordinal}, precedes);
  if (it == capacities.end() || it->at != at || it->ordinal != ordinal) return nullptr;
  return &*it;
}

void Node::insert_capacity(const CapacityChanged& entry) {
  capacities.insert(std::upper_bound(capacities.begin(), capacities.end(), entry, precedes), entry);
}

std::size_t Node::capacities_until(Instant t) const {
  std::size_t count = capacities.size();
  while (count > 0 && capacities[count - 1].at > t) --count;
  return count;
}

bool Node::is_measured_apart() const {
  return std::any_of(capacities.begin(), capacities.end(),
                     [](const CapacityChanged& entry) { return entry.usable_cpus.has_value(); });
}

bool Node::changes_claims(const CapacityChanged& entry) const {
  const auto next = std::upper_bound(capacities.begin(), capacities.end(), entry, precedes);
  return !claimed_alike(next == capacities.begin() ? nullptr : &*std::prev(next), &entry);
}

Measured Node::most_claimed(const NodeShare& share, Instant begin, Instant end) const {
  Measured most;
  for_each_claim(share, begin, end, [&](Instant, Instant, const Measured& claimed) {
    most = {std::max(most.charged, claimed.charged), std::max(most.blocked, claimed.blocked)};
  });
  return most;
}

void Node::change_claimed(Instant t, const Measured& delta) {
  if (delta == Measured{}) return;
  claimed_ = claimed_ + delta;
  // Events come nearly in order of time: look from the end.
  auto it = claims_.end();
  while (it != claims_.begin() && std::prev(it)->at >= t) --it;
  if (it == claims_.end() || it->at != t) {
    claims_.insert(it, {t, delta});
  } else if (it->delta = it->delta + delta; it->delta == Measured{}) {
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

bool Node::offer_ignores(Instant t, const Measured& delta) const {
  return !any_since(t, [&](const Cursor& c) {
    const Measured before = running(c);
    const Measured after = running(c, delta);
    const Measured there = capacity(c);
    return any_measure([&](Measure by) { return std::max(before.*by, after.*by) > there.*by; });
  });
}

bool Node::is_shared_since(Instant t, const Measured& more) const {
  return any_since(t, [&](const Cursor& c) {
    const Measured claimed = c.claimed + more;
    const Measured worth = whole(c);
    return any_measure([&](Measure by) { return (worth.*by).value > 0 && claimed.*by > worth.*by; });
  });
}

bool Node::claims_exceed(ProcessorMillionths worth, Instant t) const {
  return worth.value > 0 && any_since(t, [&](const Cursor& c) { return c.claimed.charged > worth; });
}

std::vector<Worth> Node::worths(Measure by) const {
  std::vector<Worth> all;
  for (const CapacityChanged& entry : capacities) all.push_back({entry.at, worth_of(entry).*by});
  return all;
}

Measured Node::last_worth() const {
  return capacities.empty() ? Measured{} : worth_of(capacities.back());
}

Node::Cursor Node::before(Instant t) const {
  Cursor cursor{claims_.size(), capacities.size(), ownership.in_force().size(), claimed_};
  while (cursor.claim > 0 && claims_[cursor.claim - 1].at >= t)
    cursor.claimed = cursor.claimed - claims_[--cursor.claim].delta;
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
    cursor.claimed = cursor.claimed + claims_[cursor.claim++].delta;
  while (cursor.capacity < capacities.size() && capacities[cursor.capacity].at <= t) ++cursor.capacity;
  while (cursor.stretch < ownership.in_force().size() && ownership.in_force()[cursor.stretch].from <= t)
    ++cursor.stretch;
}

Measured Node::capacity(const Cursor& cursor) const {
  return cursor.capacity == 0 ? Measured{} : offer_of(capacities[cursor.capacity - 1]);
}

Measured Node::whole(const Cursor& cursor) const {
  return cursor.capacity == 0 ? Measured{} : worth_of(capacities[cursor.capacity - 1]);
}

Measured Node::running(const Cursor& cursor, const Measured& more) const {
  const Measured worth = whole(cursor);
  Measured claimed = cursor.claimed + more;
  for (const Measure by : {&Measured::charged, &Measured::blocked}) {
    if ((worth.*by).value != 0) claimed.*by = std::min(claimed.*by, worth.*by);
  }
  return claimed;
}

Offer Node::offer(const Cursor& cursor) const {
  const Measured there = capacity(cursor);
  const Measured runs = running(cursor);
  return {{std::max(there.charged, runs.charged), std::max(there.blocked, runs.blocked)},
          &ownership.in_force()[cursor.stretch - 1].owners,
          cursor.capacity == 0 ? nullptr : &capacities[cursor.capacity - 1]};
}

void Node::forget_before(Instant horizon) {
  const auto first =
      std::find_if(claims_.begin(), claims_.end(), [&](const ClaimChange& c) { return c.at >= horizon; });
  claims_.erase(claims_.begin(), first);
  // The last capacity from before the memory horizon is the one in force there.
  auto kept =
      std::find_if(capacities.begin(), capacities.end(), [&](const CapacityChanged& c) { return c.at >= horizon; });
  if (kept != capacities.begin()) capacities.erase(capacities.begin(), std::prev(kept));
}

std::uint32_t Nodes::index_of(std::string_view name) {
  if (const auto known = find(name)) return *known;
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back(std::string(name));
  indices_.emplace(name, index);
  ++owners_epoch_;
  return index;
}

std::optional<std::uint32_t> Nodes::find(std::string_view name) const {
  const auto known = indices_.find(name);
  return known == indices_.end() ? std::nullopt : std::optional(known->second);
}

std::vector<std::string> Nodes::names() const {
  std::vector<std::string> names;
  names.reserve(nodes_.size());
  for (const Node& node : nodes_) names.push_back(node.name);
  std::sort(names.begin(), names.end());
  return names;
}

void Nodes::state(std::uint32_t index, Ownership::Place place, std::vector<Ownership::Span> spans, Instant now) {
  Ownership& ownership = nodes_[index].ownership;
  if (const auto planned = ownership.next_hand_over()) hand_overs_.erase({*planned, index});
  ownership.state(place, std::move(spans), now);
  schedule(index);
}

void Nodes::hand_over(std::uint32_t index, Instant t) {
  if (const auto planned = nodes_[index].ownership.next_hand_over()) hand_overs_.erase({*planned, index});
  nodes_[index].ownership.hand_over(t);
  schedule(index);
}

void Nodes::schedule(std::uint32_t index) {
  ++owners_epoch_;
  if (const auto at = nodes_[index].ownership.next_hand_over()) hand_overs_.emplace(*at, index);
}

Instant Nodes::next_hand_over() const {
  return hand_overs_.empty() ? k_end_of_time : hand_overs_.begin()->first;
}

std::optional<bool> Nodes::repeats(const CapacityChanged& event) const {
  const auto index = find(event.node);
  const CapacityChanged* known = index ? nodes_[*index].find_capacity(event.at, event.ordinal) : nullptr;
  return known == nullptr ? std::nullopt : std::optional(*known == event);
}

void Nodes::forget_before(Instant horizon) {
  for (Node& node : nodes_) node.forget_before(horizon);
}

void Nodes::save(TextWriter& out) const {
  for (const std::string& name : names()) {
    out.line("node").word(name);
    for (const CapacityChanged& capacity : nodes_[*find(name)].capacities) {
      out.line("capacity");
      for_each_member(capacity, [&](std::string_view member, const auto& value, auto) {
        if (member != "node") write_value(out, value);
      });
    }
  }
}

void Nodes::load(TextReader& in, Instant now, std::int64_t version) {
  while (in.next("node")) {
    const std::string name = in.word();
    if (name.empty() || find(name)) return in.fault("a node without a name of its own");
    Node& node = named(name);
    while (in.next("capacity")) {
      CapacityChanged capacity;
      capacity.node = name;
      for_each_member(capacity, [&](std::string_view member, auto& value, auto) {
        if (member == "node" || (member == "usable_cpus" && version == k_text_before_blocked)) return;
        read_value(in, value);
      });
      if (!accept(in, capacity, now)) return;
      if (repeats(capacity)) return in.fault("a capacity twice");
      node.insert_capacity(capacity);
    }
  }
}

}  // namespace shapley::accounting
