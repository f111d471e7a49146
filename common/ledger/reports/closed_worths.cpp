#include "ledger/reports/closed_worths.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace shapley::ledger {

void ClosedWorths::look(accounting::State& books) {
  std::vector<Instant> ends;
  for (const accounting::ClosedPeriod& period : books.closed_periods()) ends.push_back(period.end);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] <= since_) continue;
    Known& known = known_[ends[i]];
    if (known.is_final) continue;
    auto worth = books.closed_worth(i);
    known.is_final = !worth;
    if (worth) known.worth = std::move(worth);
  }
}

const accounting::CooperationWorth* ClosedWorths::of_period_until(Instant end) const {
  const auto known = known_.find(end);
  return known == known_.end() || !known->second.worth ? nullptr : &*known->second.worth;
}

}  // namespace shapley::ledger
