#include "plugin/client/requests/node_sets.hpp"

#include <algorithm>
#include <set>
#include <tuple>
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

// `name` may have a type. Where a node's configuration names no types, slurmd knows them, and any may be there.
bool has_gres(const request::NodeKind& kind, const std::vector<std::string>& types, const std::string& name) {
  const std::string resource = name.substr(0, name.find(':'));
  if (!request::has_resource(kind, resource)) return false;
  if (resource == name || std::ranges::binary_search(types, name)) return true;
  return std::ranges::none_of(types, [&](const std::string& type) { return type.starts_with(resource + ':'); });
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
  owned_.clear();
  groups_.clear();
  by_key_.clear();
  sets_.erase(sets_.begin() + 1, sets_.end());
  sets_.front().free = sets_.front().all = 0;
  stale_ = true;
  ++nodes_epoch_;
  ++kinds_epoch_;
}

void NodeSets::note(const protocol::NodeRecord& record, NodeFacts facts) {
  Node& node = nodes_.try_emplace(record.name).first->second;
  protocol::NodeRecord before = std::exchange(node.record, record);
  before.usable = record.usable;
  const bool same_facts = node.facts == facts;
  node.facts = std::move(facts);
  if (!node.known) node.owners = owners_->find(record.name);
  if (std::exchange(node.known, true) && before == record && same_facts) {
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
  node.group = k_no_group;
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

void NodeSets::set_owners(std::shared_ptr<const NodeOwners> owners) {
  if (owners == owners_) return;
  owned_.clear();
  for (auto& [name, node] : nodes_) {
    node.owners = owners->find(name);
    count_owned(node.owners, {}, {node.all, node.free});
  }
  owners_ = std::move(owners);  // what the nodes pointed to is freed here
  ++nodes_epoch_;
}

const OwnerShares* NodeSets::owners_of(std::string_view name) const {
  const auto node = nodes_.find(name);
  return node == nodes_.end() ? nullptr : node->second.owners;
}

void NodeSets::count_owned(const OwnerShares* owners, const Owned& before, const Owned& now) {
  if (owners == nullptr) return;
  const auto count = [&](std::int64_t Owned::*amount) {
    const auto add = [&](std::int64_t sign) {
      return [this, amount, sign](std::uint32_t organization, std::int64_t part) {
        if (owned_.size() <= organization) owned_.resize(organization + std::size_t{1});
        owned_[organization].*amount += sign * part;
      };
    };
    if (before.*amount == now.*amount) return;
    split_among(*owners, before.*amount, add(-1));
    split_among(*owners, now.*amount, add(1));
  };
  count(&Owned::all);
  count(&Owned::free);
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
  const bool is_taken = node.exclusive > 0 || node.facts.starts_no_jobs;
  recount(node, request::free_beside(node.held, is_taken, node.kind), std::int64_t{node.kind.cpus} * k_micro);
}

void NodeSets::recount(Node& node, std::int64_t free, std::int64_t all) {
  if (free == node.free && all == node.all) return;
  node.sets.for_each([&](NodeSetId id) {
    sets_[id].free += free - node.free;
    sets_[id].all += all - node.all;
  });
  if (node.group != k_no_group) {
    std::map<std::int64_t, std::uint32_t>& by_free = groups_[node.group].by_free;
    const auto before = by_free.find(node.free);
    if (--before->second == 0) by_free.erase(before);
    ++by_free[free];
    ++room_epoch_;
  }
  count_owned(node.owners, {node.all, node.free}, {all, free});
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
  find_groups();
  find_kinds();
}

void NodeSets::find_groups() {
  ++room_epoch_;
  groups_.clear();
  first_reserved_from_ = 0;
  std::map<std::tuple<request::NodeKind, Bits, Bits, std::int64_t>, std::size_t> known;
  for (auto& [name, node] : nodes_) {
    node.group = k_no_group;
    if (!node.known) continue;
    const std::int64_t reserved_from = node.facts.reserved_from;
    const auto [entry, is_new] = known.try_emplace({node.kind, node.sets, node.fits, reserved_from}, groups_.size());
    if (is_new) groups_.push_back({node.kind, node.sets, node.fits, reserved_from, {}});
    node.group = entry->second;
    const bool is_first = first_reserved_from_ == 0 || reserved_from < first_reserved_from_;
    if (reserved_from != 0 && is_first) first_reserved_from_ = reserved_from;
    ++groups_[node.group].by_free[node.free];
  }
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
  const std::vector<std::string>& gres = sets_[id].gres;
  const auto has = [&](const std::string& name) { return has_gres(node.kind, node.facts.types, name); };
  if (!std::all_of(gres.begin(), gres.end(), has)) return false;
  if (is_any || placement.fits(node.record)) node.fits.set(id);
  if (!is_any && !placement.admits(node.record)) return false;
  node.sets.set(id);
  return true;
}

void NodeSets::find_kinds() {
  using Kinds = std::vector<request::NodeKind>;
  std::map<request::NodeKind, std::pair<Bits, Bits>> kinds;
  std::set<Bits> patterns;
  for (const Group& group : groups_) {
    auto& [sets, fits] = kinds[group.kind];
    sets |= group.sets;
    fits |= group.fits;
    patterns.insert(group.sets);
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

NodeSets::Owned NodeSets::owned(std::uint32_t organization) {
  refresh();
  return organization < owned_.size() ? owned_[organization] : Owned{};
}

bool NodeSets::is_reserved_before(std::int64_t ends) {
  refresh();
  return first_reserved_from_ != 0 && first_reserved_from_ < ends;
}

std::int64_t NodeSets::room(NodeSetId set, const Part& part, std::int64_t ends) {
  refresh();
  std::int64_t room = 0;
  std::int64_t with_room = 0;
  for (const Group& group : groups_) {
    if (!group.sets.test(set) || (group.reserved_from != 0 && group.reserved_from < ends)) continue;
    for (const auto& [free, nodes] : group.by_free) {
      const std::int64_t of_one = request::room_for(part.least, part.whole_nodes, free, group.kind);
      room += nodes * of_one;
      if (of_one > 0) with_room += nodes;
    }
  }
  const auto named = static_cast<std::int64_t>(sets_[set].placement.named_nodes());
  return with_room < std::max(part.nodes, named) ? 0 : room;
}

std::uint64_t NodeSets::room_epoch() {
  refresh();
  return room_epoch_;
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
