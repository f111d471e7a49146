#include "accounting/ownership/kinds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/contract.hpp"
#include "base/slurm_text.hpp"

namespace shapley::accounting {

Kind KindHistory::Definition::kind_of(std::string_view node) const {
  const auto known = kinds.find(node);
  return known == kinds.end() ? Kind{0} : known->second;
}

void KindHistory::define(const HindsightDefined& fact) {
  Definition definition{.at = fact.at, .starts_whole = fact.jobs == JobsStart::whole, .kinds = {}};
  for (std::size_t i = 0; i < fact.kinds.size(); ++i) {
    if (fact.kinds[i].empty()) continue;
    const auto names = expand_brackets(fact.kinds[i]);  // check() has read it
    if (!names) continue;
    for (const std::string& name : *names) definition.kinds.emplace(name, static_cast<Kind>(i + 1));
    definition.used |= KindSet{1} << (i + 1);
  }
  const auto later = std::ranges::upper_bound(definitions_, fact.at, {}, &Definition::at);
  SHAPLEY_REQUIRE(later == definitions_.begin() || std::prev(later)->at < fact.at);
  for (auto after = later; after != definitions_.end(); ++after) after->used |= definition.used;
  if (later != definitions_.begin()) definition.used |= std::prev(later)->used;
  definitions_.insert(later, std::move(definition));
}

const KindHistory::Definition* KindHistory::at(Instant t) const {
  const auto later = std::ranges::upper_bound(definitions_, t, {}, &Definition::at);
  return later == definitions_.begin() ? nullptr : &*std::prev(later);
}

Instant KindHistory::defined_before(Instant t) const {
  const Definition* definition = at(t);
  return definition == nullptr ? k_beginning_of_time : definition->at;
}

bool KindHistory::starts_whole(Instant t) const {
  const Definition* definition = at(t);
  return definition != nullptr && definition->starts_whole;
}

bool KindHistory::start_whole_throughout(Instant from, Instant until) const {
  return starts_whole(from) && std::ranges::all_of(definitions_, [&](const Definition& definition) {
           return definition.starts_whole || definition.at < from || definition.at > until;
         });
}

Kind KindHistory::kind_of(std::string_view node, Instant t) const {
  const Definition* definition = at(t);
  return definition == nullptr ? Kind{0} : definition->kind_of(node);
}

KindSet KindHistory::kinds_of(std::span<const std::string_view> nodes, Instant t) const {
  const Definition* definition = at(t);
  if (definition == nullptr) return 1;
  if (nodes.empty()) return definition->used;
  KindSet kinds = 0;
  for (const std::string_view node : nodes) kinds |= KindSet{1} << definition->kind_of(node);
  return kinds;
}

std::vector<Instant> KindHistory::changes_since(Instant from) const {
  std::vector<Instant> instants;
  for (const Definition& definition : definitions_) {
    if (definition.at >= from) instants.push_back(definition.at);
  }
  return instants;
}

std::vector<KindDivided> KindHistory::divisions() const {
  std::vector<KindDivided> divisions;
  std::set<Kind> used{0};
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    const Definition& definition = definitions_[i];
    std::set<std::pair<Kind, int>> divided;  // a kind, and the added one less than 0
    for (const auto& [node, kind] : definition.kinds) {
      const Kind before = i == 0 ? Kind{0} : definitions_[i - 1].kind_of(node);
      if (!used.contains(kind)) divided.emplace(before, -int{kind});
    }
    for (const auto& [kind, added] : divided) divisions.push_back({definition.at, kind, static_cast<Kind>(-added)});
    for (const auto& [node, kind] : definition.kinds) used.insert(kind);
  }
  return divisions;
}

namespace {

using Sets = std::vector<std::size_t>;  // of which a node is part; ascending

constexpr std::size_t k_no_number = ~std::size_t{0};

// Nodes that become a kind.
struct Group {
  Sets sets;
  std::size_t number = k_no_number;
  std::vector<std::string> nodes;

  void take(Group& other) {
    nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
    other.nodes.clear();
  }
};
using Groups = std::vector<Group>;

void sort_by_size(Groups& groups) {
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
    return std::tie(a.sets, a.number) < std::tie(b.sets, b.number);
  });
}

// Of nodes that are in the same sets and of the same kind.
Groups groups_of(const std::map<std::string, Sets>& sets_of, const std::map<std::string, std::size_t>& number_of) {
  std::map<std::pair<Sets, std::size_t>, std::vector<std::string>> nodes;
  for (const auto& [node, sets] : sets_of) {
    const auto number = number_of.find(node);
    nodes[{sets, number == number_of.end() ? 0 : number->second}].push_back(node);
  }
  Groups groups;
  for (auto& [key, names] : nodes) groups.push_back({key.first, key.second, std::move(names)});
  sort_by_size(groups);
  return groups;
}

// All of kind 0 but the largest: they join one that is in the same sets, or need a number.
void join_others(Groups& groups) {
  const auto is_unlisted = [](const Group& group) { return group.number == 0; };
  const auto largest = std::ranges::find_if(groups, is_unlisted);
  if (largest == groups.end()) return;
  for (auto added = std::next(largest); added != groups.end(); ++added) {
    if (!is_unlisted(*added)) continue;
    added->number = k_no_number;
    const auto like = std::ranges::find_if(groups, [&](const Group& group) {
      return group.number != 0 && group.number != k_no_number && group.sets == added->sets;
    });
    if (like != groups.end()) like->take(*added);
  }
  std::erase_if(groups, [](const Group& group) { return group.nodes.empty(); });
}

// So that no more than k_most_kinds are left.
void merge(Groups& groups) {
  if (groups.size() <= hindsight::k_most_kinds) return;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    for (auto other = std::next(group); other != groups.end(); ++other) {
      if (other->sets == group->sets) group->take(*other);
    }
  }
  std::erase_if(groups, [](const Group& group) { return group.nodes.empty(); });
  sort_by_size(groups);
  for (; groups.size() > hindsight::k_most_kinds; groups.pop_back())
    groups[hindsight::k_most_kinds - 1].take(groups.back());
}

}  // namespace

KindLists kinds_for(const KindLists& before, std::span<const std::vector<std::string>> sets) {
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const std::string& node : before[i]) number_of[node] = i + 1;
  }
  std::map<std::string, Sets> sets_of;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const std::string& node : sets[i]) {
      Sets& of = sets_of[node];
      if (of.empty() || of.back() != i) of.push_back(i);
    }
  }
  Groups groups = groups_of(sets_of, number_of);
  join_others(groups);
  merge(groups);
  std::map<std::size_t, const Group*> by_number;
  std::vector<const Group*> others;
  for (const Group& group : groups) {
    if (group.number == k_no_number || !by_number.try_emplace(group.number, &group).second) others.push_back(&group);
  }
  // Kinds are tried by number: first those that the fewest placements may use.
  std::ranges::stable_sort(others, {}, [](const Group* group) { return group->sets.size(); });
  const auto first_number = [&](std::size_t from, const auto& is_good) {
    while (from <= k_most_listed_kinds && !is_good(from)) ++from;
    return from;
  };
  const auto is_free = [&](std::size_t number) { return !by_number.contains(number); };
  const auto is_empty = [&](std::size_t number) {
    return is_free(number) && (number > before.size() || before[number - 1].empty());
  };
  for (const Group* const group : others) {
    std::size_t number = first_number(before.size() + 1, is_free);  // one that was never used
    if (number > k_most_listed_kinds) number = first_number(1, is_empty);
    if (number > k_most_listed_kinds) number = first_number(1, is_free);
    if (number > k_most_listed_kinds) number = 0;
    by_number[number] = group;
  }
  const std::size_t last = by_number.empty() ? 0 : by_number.rbegin()->first;
  KindLists kinds(std::max(before.size(), last));
  for (const auto& [number, group] : by_number) {
    if (number > 0) kinds[number - 1] = group->nodes;
  }
  for (const auto& [node, number] : number_of) {
    const auto now = by_number.find(number);
    const bool stays = now == by_number.end() || now->second->number == number;
    if (!sets_of.contains(node) && stays) kinds[number - 1].push_back(node);
  }
  for (std::vector<std::string>& nodes : kinds) std::ranges::sort(nodes);
  return kinds;
}

std::vector<std::string> kinds_for(const std::vector<std::string>& before,
                                   const std::map<std::string, std::string>& placed) {
  const auto expanded = [](const std::string& nodes) {
    return nodes.empty() ? std::vector<std::string>{} : expand_brackets(nodes).value_or(std::vector<std::string>{});
  };
  KindLists lists;
  for (const std::string& nodes : before) lists.push_back(expanded(nodes));
  std::set<std::vector<std::string>> sets;
  for (const auto& [placement, nodes] : placed) sets.insert(expanded(nodes));
  std::vector<std::string> kinds;
  for (const std::vector<std::string>& nodes : kinds_for(lists, std::vector(sets.begin(), sets.end())))
    kinds.push_back(collapse_names(nodes));
  return kinds;
}

}  // namespace shapley::accounting
