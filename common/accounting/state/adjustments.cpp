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

}  // namespace

bool is_in_force(const Adjustments& all, std::uint32_t number) {
  return in_force(all).contains(number);
}

std::vector<OrgId> rows_by(const Adjustments& all, const Organizations& organizations) {
  std::vector<OrgId> next;
  for (std::uint32_t i = 0; i < organizations.names().size(); ++i) next.push_back(OrgId{i});
  const std::set<std::uint32_t> numbers = in_force(all);
  for (const AdjustmentMade& adjustment : all) {
    const bool joins = adjustment.kind == AdjustmentKind::rename || adjustment.kind == AdjustmentKind::merge;
    if (!joins || !numbers.contains(adjustment.number)) continue;
    const auto part = organizations.find(adjustment.organization);
    const auto whole = organizations.find(adjustment.into);
    if (part && whole) next[part->value] = *whole;
  }
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

}  // namespace shapley::accounting
