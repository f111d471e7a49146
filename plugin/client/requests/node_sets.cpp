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
  recount(node, {}, {});
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
    count_owned(node.owners, {}, {node.all.free, node.left.free});
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

void NodeSets::count(const Holding& run, bool more) {
  const std::int64_t sign = more ? 1 : -1;
  const std::array limited{std::pair(false, run.partition), std::pair(true, run.reservation)};
  for (const request::Share& share : run.shares) {
    const auto entry = nodes_.try_emplace(share.node).first;
    Node& node = entry->second;
    node.holders += more ? 1U : -1U;
    if (run.exclusive) node.exclusive += more ? 1U : -1U;
    node.held.cpus += more ? share.cpus : -share.cpus;
    node.held.memory += sign * share.memory;
    for (const Resource& resource : share.gres) add(node.held.gres, resource, more);
    for (const auto& key : limited) {
      if (key.second.empty()) continue;
      const auto held = node.held_in.try_emplace(key).first;
      if ((held->second += sign * share.cpus) == 0) node.held_in.erase(held);
    }
    if (run.only != k_any_user) {
      node.only_runs += more ? 1U : -1U;
      node.only = node.only_runs > 0 ? run.only : k_any_user;
    }
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
  if (!node.record.usable) return recount(node, {}, {});
  const bool is_taken = node.exclusive > 0 || node.facts.starts_no_jobs;
  Left all{.free = std::int64_t{node.kind.cpus} * k_micro, .cpus = std::int64_t{node.kind.cpus} * k_micro};
  Left left{.free = request::free_beside(node.held, is_taken, node.kind), .user = node.only};
  if (node.only == k_any_user && node.holders > 0) left.user = k_several_users;
  if (!node.limits.empty()) left.cpus = all.cpus - std::int64_t{node.held.cpus} * k_micro;
  for (const NodeLimit& limit : node.limits) {
    const std::int64_t most = std::int64_t{std::min(limit.cpus, node.kind.cpus)} * k_micro;
    const auto held = node.held_in.find({limit.is_reservation, limit.name});
    const std::int64_t taken = held == node.held_in.end() ? 0 : held->second * k_micro;
    all.limits.push_back(most);
    left.limits.push_back(std::max<std::int64_t>(0, most - taken));
  }
  recount(node, std::move(left), std::move(all));
}

void NodeSets::recount(Node& node, Left left, Left all) {
  // A node without limits has none in what is left.
  left.limits.resize(node.limits.size());
  all.limits.resize(node.limits.size());
  if (left == node.left && all == node.all) return;
  node.sets.for_each([&](NodeSetId id) {
    sets_[id].free += part_of(id, node.limits, left) - part_of(id, node.limits, node.left);
    sets_[id].all += part_of(id, node.limits, all) - part_of(id, node.limits, node.all);
  });
  if (node.group != k_no_group) {
    std::map<Left, std::uint32_t>& by_left = groups_[node.group].by_left;
    const auto before = by_left.find(node.left);
    if (--before->second == 0) by_left.erase(before);
    ++by_left[left];
    ++room_epoch_;
  }
  count_owned(node.owners, {node.all.free, node.left.free}, {all.free, left.free});
  node.left = std::move(left);
  node.all = std::move(all);
}

std::int64_t NodeSets::part_of(NodeSetId set, std::span<const NodeLimit> limits, const Left& left) const {
  return set == k_any_node ? left.free : free_for(sets_[set].placement, limits, left);
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
  std::map<std::tuple<request::NodeKind, Bits, Bits, std::int64_t, std::vector<NodeLimit>>, std::size_t> known;
  for (auto& [name, node] : nodes_) {
    node.group = k_no_group;
    if (!node.known) continue;
    const std::int64_t reserved_from = node.facts.reserved_from;
    const auto [entry, is_new] =
        known.try_emplace({node.kind, node.sets, node.fits, reserved_from, node.limits}, groups_.size());
    if (is_new) groups_.push_back({node.kind, node.sets, node.fits, reserved_from, node.limits, {}});
    node.group = entry->second;
    const bool is_first = first_reserved_from_ == 0 || reserved_from < first_reserved_from_;
    if (reserved_from != 0 && is_first) first_reserved_from_ = reserved_from;
    ++groups_[node.group].by_left[node.left];
  }
}

void NodeSets::find_sets(Node& node, std::span<const NodeSetId> fresh) {
  for (const NodeSetId id : fresh) {
    node.sets.reset(id);  // what it had in an earlier set of that id is not counted there
    node.fits.reset(id);
  }
  if (std::exchange(node.changed, false)) {
    recount(node, {}, {});
    node.group = k_no_group;  // groups are made again
    node.sets = node.fits = Bits();
    if (!node.known) return;
    node.limits = node.facts.limits;
    node.left.limits.assign(node.limits.size(), 0);
    node.all.limits = node.left.limits;
    for (NodeSetId id = 0; id < sets_.size(); ++id) find_set(node, id);
    recount(node);
    return;
  }
  if (!node.known) return;
  for (const NodeSetId id : fresh) {
    if (!find_set(node, id)) continue;
    sets_[id].free += part_of(id, node.limits, node.left);
    sets_[id].all += part_of(id, node.limits, node.all);
  }
}

bool NodeSets::find_set(Node& node, NodeSetId id) {
  const request::Placement& placement = sets_[id].placement;
  const bool is_any = id == k_any_node;
  const std::vector<std::string>& gres = sets_[id].gres;
  const auto has = [&](const std::string& name) { return has_gres(node.kind, node.facts.types, name); };
  if (!std::all_of(gres.begin(), gres.end(), has)) return false;
  const bool fits = is_any || placement.fits(node.record);
  if (fits) node.fits.set(id);
  const auto is_reserved_in_part = [&](const NodeLimit& limit) {
    return limit.is_reservation && placement.asks_for_reservation(limit.name);
  };
  const bool is_admitted = is_any || placement.admits(node.record);
  if (!is_admitted && !(fits && std::ranges::any_of(node.limits, is_reserved_in_part))) return false;
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
  find_bounds();
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
  for (NodeSetId outer = 0; outer < sets_.size(); ++outer) {
    if (sets_[outer].bounds.empty()) continue;
    for (Set& inner : sets_) {
      if (!std::ranges::includes(inner.bounds, sets_[outer].bounds)) inner.within.reset(outer);
    }
  }
}

void NodeSets::find_bounds() {
  for (Set& set : sets_) set.bounds.clear();
  for (const Group& group : groups_) {
    if (group.limits.empty()) continue;
    group.sets.for_each([&](NodeSetId id) {
      if (id != k_any_node) sets_[id].bounds.merge(bounds_of(sets_[id].placement, group.limits));
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
    for (const auto& [left, nodes] : group.by_left) {
      if (!may_use(part.only, left)) continue;
      const std::int64_t free = part_of(set, group.limits, left);
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
