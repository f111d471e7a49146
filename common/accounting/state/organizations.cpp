#include "accounting/state/organizations.hpp"

#include <cstddef>
#include <utility>

#include "accounting/events/event.hpp"

namespace shapley::accounting {

Organizations::Organizations() {
  join(k_guests);
  join(k_commons);
}

OrgId Organizations::join(std::string_view name) {
  if (const auto id = find(name)) return *id;
  const OrgId id{static_cast<std::uint32_t>(names_.size())};
  names_.emplace_back(name);
  ids_.emplace(name, id);
  return id;
}

std::optional<OrgId> Organizations::find(std::string_view name) const {
  const auto it = ids_.find(name);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

std::vector<OrgId> Organizations::by_name() const {
  std::vector<OrgId> order;
  for (const auto& [name, id] : ids_) order.push_back(id);
  return order;
}

std::optional<bool> Organizations::repeats(const OrganizationsDeclared& event) const {
  const auto known = declarations_.find(event.at);
  return known == declarations_.end() ? std::nullopt : std::optional(known->second == event.names);
}

void Organizations::declare(Instant at, std::vector<std::string> names) {
  for (const std::string& name : names) join(name);
  declarations_[at] = std::move(names);
}

std::vector<OrgId> Organizations::configured_order() const {
  std::vector<OrgId> order;
  std::vector<bool> placed(names_.size());
  const auto place = [&](std::string_view name) {
    const OrgId id = *find(name);
    if (placed[id.value]) return;
    placed[id.value] = true;
    order.push_back(id);
  };
  placed[find(k_guests)->value] = placed[find(k_commons)->value] = true;
  for (auto it = declarations_.rbegin(); it != declarations_.rend(); ++it) {
    for (const std::string& name : it->second) place(name);
  }
  for (const auto& [name, id] : ids_) place(name);
  order.push_back(*find(k_guests));
  order.push_back(*find(k_commons));
  return order;
}

namespace {

// The numbers of the adjustments in force, computed from the last one back, since only later ones reverse.
std::set<std::uint32_t> in_force(const Adjustments& all) {
  std::set<std::uint32_t> numbers;
  std::set<std::uint32_t> reversed;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (reversed.contains(it->number)) continue;
    numbers.insert(it->number);
    if (it->reverses != 0) reversed.insert(it->reverses);
  }
  return numbers;
}

// Calls visit(adjustment) for each renaming and merger in force, ascending.
template <typename Visit>
void for_each_joining(const Adjustments& all, Visit&& visit) {
  const std::set<std::uint32_t> numbers = in_force(all);
  for (const AdjustmentMade& adjustment : all) {
    const bool joins = adjustment.kind == AdjustmentKind::rename || adjustment.kind == AdjustmentKind::merge;
    if (joins && numbers.contains(adjustment.number)) visit(adjustment);
  }
}

}  // namespace

bool is_in_force(const Adjustments& all, std::uint32_t number) {
  return in_force(all).contains(number);
}

std::vector<OrgId> rows_by(const Adjustments& all, const Organizations& organizations) {
  std::vector<OrgId> next;
  for (std::uint32_t i = 0; i < organizations.names().size(); ++i) next.push_back(OrgId{i});
  for_each_joining(all, [&](const AdjustmentMade& adjustment) {
    const auto part = organizations.find(adjustment.organization);
    const auto whole = organizations.find(adjustment.into);
    if (part && whole) next[part->value] = *whole;
  });
  // The check of an adjustment refuses that an organization becomes a part of itself; books that say so nevertheless
  // stay finite.
  std::vector<OrgId> rows = next;
  bool changed = true;
  for (std::size_t step = 0; changed && step < next.size(); ++step) {
    changed = false;
    for (OrgId& row : rows) {
      changed = changed || next[row.value] != row;
      row = next[row.value];
    }
  }
  return rows;
}

FormerNames former_names(const std::vector<AdjustmentMade>& all) {
  FormerNames names;
  for_each_joining({all.begin(), all.end()}, [&](const AdjustmentMade& adjustment) {
    const bool merged = adjustment.kind == AdjustmentKind::merge;
    names[adjustment.organization] = {.today = adjustment.into, .merged = merged, .at = adjustment.at};
  });
  for (auto& [name, former] : names) {
    for (std::size_t steps = 0; steps < names.size() && names.contains(former.today); ++steps)
      former.today = names.at(former.today).today;
  }
  return names;
}

}  // namespace shapley::accounting
