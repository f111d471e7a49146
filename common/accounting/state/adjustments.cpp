#include "accounting/state/adjustments.hpp"

#include <cstddef>

namespace shapley::accounting {

namespace {

// The numbers of those that are in force: from the last one back, since only later ones reverse.
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
  // Whoever makes an adjustment sees to it that nobody becomes a part of itself; books that say so all the same stay
  // finite.
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
