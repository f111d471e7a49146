#include "accounting/estimators/players.hpp"

#include <algorithm>
#include <utility>

namespace shapley::accounting {

void Players::fold(int sign, OrgId organization, const Fact& fact) {
  if (settled_ids_.contains(organization)) return;
  std::multiset<Fact>& facts = facts_[organization];
  const Instant before = facts.empty() ? k_end_of_time : facts.begin()->at;
  if (sign > 0) {
    facts.insert(fact);
  } else if (const auto known = facts.find(fact); known != facts.end()) {
    facts.erase(known);
  }
  const Instant after = facts.empty() ? k_end_of_time : facts.begin()->at;
  if (facts.empty()) facts_.erase(organization);
  is_stale_ = is_stale_ || before != after;
}

bool Players::hangs_on(OrgId organization, const Fact& fact) const {
  return std::any_of(settled_.begin(), settled_.end(), [&](const Joined& one) {
    return one.organization == organization && one.hangs && fact.at == one.at;
  });
}

void Players::settle(Instant horizon) {
  std::vector<Joined> joined;
  for (const auto& [organization, facts] : facts_) {
    const Instant first = facts.begin()->at;
    if (first >= horizon) continue;
    const bool hangs = std::none_of(facts.begin(), facts.end(),
                                    [&](const Fact& fact) { return fact.at == first && fact.firm < horizon; });
    joined.push_back({first, organization, hangs});
  }
  std::sort(joined.begin(), joined.end());
  for (const Joined& one : joined) {
    settled_.push_back(one);
    settled_ids_.insert(one.organization);
    facts_.erase(one.organization);
  }
}

void Players::restore(std::vector<Joined> settled, Instant horizon) {
  settled_ = std::move(settled);
  settled_ids_.clear();
  for (const Joined& one : settled_) {
    settled_ids_.insert(one.organization);
    facts_.erase(one.organization);
  }
  for (auto& [organization, facts] : facts_) facts.erase(facts.begin(), facts.lower_bound({horizon, horizon}));
  std::erase_if(facts_, [](const auto& entry) { return entry.second.empty(); });
  is_stale_ = true;
}

void Players::refresh() {
  if (!std::exchange(is_stale_, false)) return;
  std::vector<Joined> others;
  for (const auto& [organization, facts] : facts_) others.push_back({facts.begin()->at, organization});
  std::sort(others.begin(), others.end());
  all_.clear();
  joined_.clear();
  others.insert(others.begin(), settled_.begin(), settled_.end());
  for (const Joined& one : others) {
    all_.push_back(one.organization);
    joined_.push_back(one.at);
  }
}

const std::vector<OrgId>& Players::all() {
  refresh();
  return all_;
}

std::size_t Players::joined_before(Instant t) {
  refresh();
  return static_cast<std::size_t>(std::lower_bound(joined_.begin(), joined_.end(), t) - joined_.begin());
}

std::vector<std::uint32_t> Players::ranks(std::size_t players) {
  refresh();
  std::vector<std::uint32_t> ranks(players);
  for (std::size_t u = 0; u < players; ++u) {
    ranks[u] = static_cast<std::uint32_t>(std::find(by_name_.begin(), by_name_.end(), all_[u]) - by_name_.begin());
  }
  return ranks;
}

}  // namespace shapley::accounting
