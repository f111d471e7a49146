#include "accounting/state/period_rules.hpp"

#include <iterator>

namespace shapley::accounting {

std::optional<Period> PeriodRules::declared_at(Instant at) const {
  const auto it = declarations_.find(at);
  if (it == declarations_.end()) return std::nullopt;
  return it->second;
}

Instant PeriodRules::next_boundary(Instant t) const {
  auto next = declarations_.upper_bound(t);
  Period rule = next == declarations_.begin() ? Period::none : std::prev(next)->second;
  while (true) {
    const Instant candidate = period_end(rule, t);
    if (next == declarations_.end() || candidate <= next->first) return candidate;
    t = next->first;
    rule = next->second;
    ++next;
  }
}

std::vector<Instant> PeriodRules::boundaries_until(Instant t) const {
  std::vector<Instant> boundaries;
  for (Instant b = next_boundary(k_beginning_of_time); b <= t; b = next_boundary(b)) boundaries.push_back(b);
  return boundaries;
}

Period PeriodRules::rule_at(Instant t) const {
  const auto next = declarations_.upper_bound(t);
  return next == declarations_.begin() ? Period::none : std::prev(next)->second;
}

}  // namespace shapley::accounting
