#include "naive_facts.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/game/naive_apportion.hpp"

namespace shapley::accounting::naive {

namespace {

template <typename Fact>
std::vector<Fact> all_of_kind(const std::vector<Event>& events) {
  std::vector<Fact> facts;
  for (const Event& event : events) {
    const Fact* fact = std::get_if<Fact>(&event);
    if (fact != nullptr && std::find(facts.begin(), facts.end(), *fact) == facts.end()) facts.push_back(*fact);
  }
  return facts;
}

}  // namespace

// Names and commas, as the scenarios write them.
std::set<std::string> names_of(const std::string& list) {
  std::set<std::string> nodes;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) nodes.insert(name);
  return nodes;
}

Facts facts_of(const std::vector<Event>& events) {
  Facts facts;
  facts.statements = all_of_kind<OwnershipStated>(events);
  facts.capacities = all_of_kind<CapacityChanged>(events);
  facts.placements = all_of_kind<PlacementResolved>(events);
  facts.settled = all_of_kind<WorkSettled>(events);
  facts.definitions = all_of_kind<HindsightDefined>(events);
  std::sort(facts.definitions.begin(), facts.definitions.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
  const auto closed = all_of_kind<SegmentClosed>(events);
  const auto retracted = all_of_kind<SegmentRetracted>(events);
  for (const SegmentOpened& opened : all_of_kind<SegmentOpened>(events)) {
    facts.organizations.insert(opened.organization);
    for (const NodeShare& share : opened.nodes) facts.nodes.insert(share.node);
    if (std::any_of(retracted.begin(), retracted.end(), [&](const auto& r) { return r.key == opened.key; })) continue;
    Held held{opened, k_end_of_time};
    for (const SegmentClosed& close : closed) {
      if (close.key == opened.key) held.end = close.end;
    }
    facts.segments.push_back(held);
  }
  for (const OwnershipStated& s : facts.statements) {
    facts.nodes.insert(s.node);
    for (const OwnershipSpan& span : s.spans) {
      for (const OwnerPart& part : span.owners) facts.organizations.insert(part.organization);
    }
  }
  for (const CapacityChanged& c : facts.capacities) facts.nodes.insert(c.node);
  for (const HindsightDefined& definition : facts.definitions) {
    for (const std::string& kind : definition.kinds) facts.nodes.merge(names_of(kind));
  }
  for (const OrganizationsDeclared& d : all_of_kind<OrganizationsDeclared>(events)) {
    facts.organizations.insert(d.names.begin(), d.names.end());
  }
  return facts;
}

namespace {

std::vector<OwnerPart> owners_at(const Facts& facts, const std::string& node, Instant t) {
  const OwnershipStated* speaks = nullptr;
  for (const OwnershipStated& s : facts.statements) {
    if (s.node == node && s.effective <= t && (speaks == nullptr || s.effective > speaks->effective)) speaks = &s;
  }
  std::vector<OwnerPart> owners;
  if (speaks != nullptr) {
    for (const OwnershipSpan& span : speaks->spans) {
      if (span.from <= t) owners = span.owners;
    }
  }
  std::int64_t rest = 1'000'000;
  for (const OwnerPart& part : owners) rest -= part.parts_per_million;
  if (rest > 0) owners.push_back({std::string(k_commons), rest});
  return owners;
}

std::map<std::string, std::int64_t> split(std::int64_t total, const std::vector<OwnerPart>& owners) {
  std::vector<Int128> weights;
  for (const OwnerPart& part : owners) weights.push_back(part.parts_per_million);
  const auto parts = game::naive::apportion_by_remainders(total, weights);
  std::map<std::string, std::int64_t> result;
  for (std::size_t i = 0; i < owners.size(); ++i) result[owners[i].organization] += parts[i];
  return result;
}

const CapacityChanged* capacity_at(const Facts& facts, const std::string& node, Instant t) {
  const CapacityChanged* last = nullptr;
  for (const CapacityChanged& c : facts.capacities) {
    if (c.node != node || c.at > t) continue;
    if (last == nullptr || std::pair(c.at, c.ordinal) > std::pair(last->at, last->ordinal)) last = &c;
  }
  return last;
}

// What a run blocks of a node of which CPUs are counted: by each resource as many processors as it has of the resource
// for each that the node has, times the node's CPUs; the most of these.
std::int64_t blocked_by(const NodeShare& share, const CapacityChanged& node) {
  if (share.cpus == 0) return share.processors.value;
  const std::int64_t all = k_micro * node.cpus;
  std::int64_t most = k_micro * share.cpus;
  if (node.memory > 0) most = std::max(most, all * share.memory / node.memory);
  for (const Resource& has : node.gres) {
    for (const Resource& holds : share.gres) {
      if (holds.name == has.name && has.count > 0) most = std::max(most, all * holds.count / has.count);
    }
  }
  return std::clamp(most, std::int64_t{1}, all);
}

bool counts_cpus(const CapacityChanged* capacity, By by) {
  return by == By::blocked && capacity != nullptr && capacity->usable_cpus;
}

std::int64_t offered(const CapacityChanged* capacity, By by) {
  if (counts_cpus(capacity, by)) return k_micro * *capacity->usable_cpus;
  return capacity == nullptr ? 0 : capacity->processors.value;
}

// What each segment holds of `node` during [t, t+1): what it claims or, where all claim more than the whole node is
// worth, its part of that, by key.
std::map<SegmentKey, std::int64_t> held_on(const Facts& facts, const std::string& node, Instant t, By by) {
  const CapacityChanged* capacity = capacity_at(facts, node, t);
  std::map<SegmentKey, std::int64_t> held;
  std::int64_t sum = 0;
  for (const Held& segment : facts.segments) {
    if (segment.opened.begin > t || segment.end <= t) continue;
    for (const NodeShare& share : segment.opened.nodes) {
      if (share.node != node) continue;
      held[segment.opened.key] = counts_cpus(capacity, by) ? blocked_by(share, *capacity) : share.processors.value;
      sum += held[segment.opened.key];
    }
  }
  const std::int64_t whole = counts_cpus(capacity, by) ? k_micro * capacity->cpus
                             : capacity == nullptr     ? 0
                                                       : capacity->whole.value;
  if (whole == 0 || sum <= whole) return held;
  std::vector<Int128> weights;
  for (const auto& [key, claimed] : held) weights.push_back(claimed);
  const auto parts = game::naive::apportion_by_remainders(whole, weights);
  std::size_t i = 0;
  for (auto& [key, amount] : held) amount = parts[i++];
  return held;
}

}  // namespace

// The nodes that jobs of the placement may use at t.
std::set<std::string> usable_at(const Facts& facts, const std::string& placement, Instant t) {
  const PlacementResolved* last = nullptr;
  for (const PlacementResolved& p : facts.placements) {
    if (p.placement != placement || p.at > t) continue;
    if (last == nullptr || std::pair(p.at, p.ordinal) > std::pair(last->at, last->ordinal)) last = &p;
  }
  return names_of(last == nullptr ? std::string{} : last->nodes);
}

Second during(const Facts& facts, Instant t, By by) {
  Second second;
  std::map<SegmentKey, std::string> organization_of;
  for (const Held& held : facts.segments) {
    if (held.opened.begin > t || held.end <= t) continue;
    organization_of[held.opened.key] = held.opened.organization;
    if (held.opened.key.kind == SegmentKind::wait)
      second.waiting[held.opened.organization] += held.opened.processors.value;
  }
  for (const std::string& node : facts.nodes) {
    std::int64_t running = 0;
    for (const auto& [key, amount] : held_on(facts, node, t, by)) {
      const std::string& organization = organization_of[key];
      second.used[organization] += amount;
      running += amount;
      for (const auto& [owner, part] : split(amount, owners_at(facts, node, t))) {
        second.busy[owner] += part;
        if (owner == organization) second.on_own[owner] += part;
      }
    }
    const CapacityChanged* capacity = capacity_at(facts, node, t);
    const std::int64_t there = std::max(offered(capacity, by), running);
    for (const auto& [owner, part] : split(there, owners_at(facts, node, t))) {
      second.owned[owner] += part;
      second.offered[node][owner] += part;
    }
  }
  return second;
}

}  // namespace shapley::accounting::naive
