#include "plugin/client/requests/node_sets.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/types.hpp"

namespace shapley::client {

namespace {

void add(std::vector<Resource>& sums, const Resource& resource, bool more) {
  const auto known =
      std::find_if(sums.begin(), sums.end(), [&](const Resource& sum) { return sum.name == resource.name; });
  if (known == sums.end()) {
    if (more) sums.push_back(resource);
    return;
  }
  known->count += more ? resource.count : -resource.count;
  if (known->count <= 0) sums.erase(known);
}

bool has_all(const request::NodeKind& node, const std::vector<std::string>& gres) {
  return std::all_of(gres.begin(), gres.end(), [&](const std::string& name) {
    return std::any_of(node.gres.begin(), node.gres.end(), [&](const Resource& r) { return r.name == name; });
  });
}

}  // namespace

NodeSets::Bits& NodeSets::Bits::operator|=(const Bits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  return *this;
}

NodeSets::Bits& NodeSets::Bits::operator&=(const Bits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  return *this;
}

void NodeSets::clear() noexcept {
  nodes_.clear();
  by_key_.clear();
  sets_.erase(sets_.begin() + 1, sets_.end());
  sets_.front().free = sets_.front().all = 0;
  stale_ = true;
  ++nodes_epoch_;
  ++kinds_epoch_;
}

void NodeSets::note(const protocol::NodeRecord& record) {
  Node& node = nodes_.try_emplace(record.name).first->second;
  protocol::NodeRecord before = std::exchange(node.record, record);
  before.usable = record.usable;
  if (std::exchange(node.known, true) && before == record) {
    recount(node);
    return;
  }
  node.kind = charging_.kind_of(record);
  node.changed = true;
  stale_ = true;
  ++nodes_epoch_;
}

void NodeSets::forget(std::string_view name) {
  const auto entry = nodes_.find(name);
  if (entry == nodes_.end() || !entry->second.known) return;
  Node& node = entry->second;
  recount(node, 0, 0);
  ++nodes_epoch_;
  stale_ = true;
  if (node.holders == 0) {
    nodes_.erase(entry);
    return;
  }
  node.known = false;
  node.changed = true;
}

void NodeSets::set_rule(const request::ChargeRule& rule) {
  charging_ = request::Charging(rule);
  for (auto& [name, node] : nodes_) {
    if (!node.known) continue;
    node.kind = charging_.kind_of(node.record);
    node.changed = true;
  }
  stale_ = true;
  ++nodes_epoch_;
}

const request::NodeKind* NodeSets::kind_of(std::string_view name) const {
  const auto node = nodes_.find(name);
  return node == nodes_.end() || !node->second.known ? nullptr : &node->second.kind;
}

void NodeSets::count(std::span<const request::Share> shares, bool exclusive, bool more) {
  for (const request::Share& share : shares) {
    const auto entry = nodes_.try_emplace(share.node).first;
    Node& node = entry->second;
    node.holders += more ? 1U : -1U;
    if (exclusive) node.exclusive += more ? 1U : -1U;
    node.held.cpus += more ? share.cpus : -share.cpus;
    node.held.memory += more ? share.memory : -share.memory;
    for (const Resource& resource : share.gres) add(node.held.gres, resource, more);
    if (node.known) {
      recount(node);
    } else if (node.holders == 0) {
      nodes_.erase(entry);
    }
  }
}

void NodeSets::recount(Node& node) {
  // refresh() counts a node that has changed.
  if (node.changed) return;
  if (!node.record.usable) return recount(node, 0, 0);
  recount(node, request::free_beside(node.held, node.exclusive > 0, node.kind), std::int64_t{node.kind.cpus} * k_micro);
}

void NodeSets::recount(Node& node, std::int64_t free, std::int64_t all) {
  if (free == node.free && all == node.all) return;
  node.sets.for_each([&](NodeSetId id) {
    sets_[id].free += free - node.free;
    sets_[id].all += all - node.all;
  });
  node.free = free;
  node.all = all;
}

NodeSetId NodeSets::set_of(const std::string& placement, std::vector<std::string> gres) {
  SetKey key{placement, std::move(gres)};
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  auto id = static_cast<NodeSetId>(sets_.size());
  if (id == k_max_node_sets) {
    id = 1;
    while (id < sets_.size() && sets_[id].users > 0) ++id;
    if (id == sets_.size()) return k_any_node;
    by_key_.erase({sets_[id].placement.text(), sets_[id].gres});
  } else {
    sets_.emplace_back();
  }
  read(sets_[id], key);
  by_key_.emplace(std::move(key), id);
  return id;
}

void NodeSets::read(Set& set, const SetKey& key) {
  set.placement = request::Placement(key.first);
  set.placement.leave_out(closed_);
  set.gres = key.second;
  set.fresh = true;
  stale_ = true;
}

void NodeSets::note_closed(std::vector<std::string> partitions) {
  std::sort(partitions.begin(), partitions.end());
  if (partitions == closed_) return;
  closed_ = std::move(partitions);
  for (const auto& [key, id] : by_key_) read(sets_[id], key);
}

void NodeSets::add_user(NodeSetId set) {
  ++sets_[set].users;
}

void NodeSets::remove_user(NodeSetId set) {
  --sets_[set].users;
}

// What has changed of the nodes and sets since the last time.
void NodeSets::refresh() {
  if (!std::exchange(stale_, false)) return;
  std::vector<NodeSetId> fresh;
  for (NodeSetId id = 0; id < sets_.size(); ++id) {
    if (!std::exchange(sets_[id].fresh, false)) continue;
    fresh.push_back(id);
    sets_[id].free = sets_[id].all = 0;
  }
  for (auto& [name, node] : nodes_) find_sets(node, fresh);
  find_kinds();
}

void NodeSets::find_sets(Node& node, std::span<const NodeSetId> fresh) {
  for (const NodeSetId id : fresh) {
    node.sets.reset(id);  // what it had in an earlier set of that id is not counted there
    node.fits.reset(id);
  }
  if (std::exchange(node.changed, false)) {
    recount(node, 0, 0);
    node.sets = node.fits = Bits();
    if (!node.known) return;
    for (NodeSetId id = 0; id < sets_.size(); ++id) find_set(node, id);
    recount(node);
    return;
  }
  if (!node.known) return;
  for (const NodeSetId id : fresh) {
    if (!find_set(node, id)) continue;
    sets_[id].free += node.free;
    sets_[id].all += node.all;
  }
}

bool NodeSets::find_set(Node& node, NodeSetId id) {
  const request::Placement& placement = sets_[id].placement;
  const bool is_any = id == k_any_node;
  if (!has_all(node.kind, sets_[id].gres)) return false;
  if (is_any || placement.fits(node.record)) node.fits.set(id);
  if (!is_any && !placement.admits(node.record)) return false;
  node.sets.set(id);
  return true;
}

void NodeSets::find_kinds() {
  using Kinds = std::vector<request::NodeKind>;
  // Nodes of one kind, and nodes in the same sets, are looked at once.
  std::map<request::NodeKind, std::pair<Bits, Bits>> kinds;
  std::set<Bits> patterns;
  for (const auto& [name, node] : nodes_) {
    if (!node.known) continue;
    auto& [sets, fits] = kinds[node.kind];
    sets |= node.sets;
    fits |= node.fits;
    patterns.insert(node.sets);
  }
  std::vector<Kinds> usable(sets_.size());
  std::vector<Kinds> fitting(sets_.size());
  for (const auto& entry : kinds) {
    entry.second.first.for_each([&](NodeSetId id) { usable[id].push_back(entry.first); });
    entry.second.second.for_each([&](NodeSetId id) { fitting[id].push_back(entry.first); });
  }
  for (NodeSetId id = 0; id < sets_.size(); ++id) {
    Set& set = sets_[id];
    if (set.usable != usable[id] || set.fitting != fitting[id]) ++kinds_epoch_;
    set.usable = std::move(usable[id]);
    set.fitting = std::move(fitting[id]);
    set.overlaps = Bits();
    set.within = Bits();
    for (NodeSetId other = 0; other < sets_.size(); ++other) set.within.set(other);
  }
  for (const Bits& pattern : patterns) {
    pattern.for_each([&](NodeSetId id) {
      sets_[id].overlaps |= pattern;
      sets_[id].within &= pattern;
    });
  }
}

std::int64_t NodeSets::free(NodeSetId set) {
  refresh();
  return set < sets_.size() ? sets_[set].free : 0;
}

std::int64_t NodeSets::all(NodeSetId set) {
  refresh();
  return set < sets_.size() ? sets_[set].all : 0;
}

bool NodeSets::overlap(NodeSetId a, NodeSetId b) {
  refresh();
  return a < sets_.size() && b < sets_.size() && sets_[a].overlaps.test(b);
}

bool NodeSets::contains(NodeSetId outer, NodeSetId inner) {
  refresh();
  return outer < sets_.size() && inner < sets_.size() && sets_[inner].within.test(outer);
}

request::Kinds NodeSets::kinds(NodeSetId set) {
  refresh();
  const std::vector<request::NodeKind>& all = sets_[k_any_node].usable;
  if (set >= sets_.size()) return {.usable = {}, .fitting = {}, .all = all};
  return {.usable = sets_[set].usable, .fitting = sets_[set].fitting, .all = all};
}

std::uint64_t NodeSets::kinds_epoch() {
  refresh();
  return kinds_epoch_;
}

}  // namespace shapley::client
