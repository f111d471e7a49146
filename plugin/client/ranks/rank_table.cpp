#include "plugin/client/ranks/rank_table.hpp"

#include <algorithm>
#include <utility>

namespace shapley::client {

namespace {
// The name under which jobs of no organization stand in the daemon's ranks.
constexpr std::string_view k_guests = "guests";

bool same(const protocol::Rule& a, const protocol::Rule& b) {
  return a.organization == b.organization && a.kind == b.kind && a.name == b.name && a.id == b.id;
}
}  // namespace

RankTable::RankTable(const std::vector<protocol::Rule>& rules, const std::vector<std::string>& organizations)
    : classifier_(rules), ranks_(static_cast<std::uint32_t>(organizations.size())) {
  std::uint32_t position = 0;
  for (const std::string& organization : organizations) positions_.emplace(organization, position++);
}

std::uint32_t RankTable::position_of(const protocol::JobTraits& job) const {
  std::uint32_t worst = 0;
  classifier_.for_each_organization(job, [&](std::string_view organization) {
    const auto found = positions_.find(organization.empty() ? k_guests : organization);
    if (found != positions_.end()) {
      worst = std::max(worst, found->second);
    } else if (ranks_ > 0) {
      worst = ranks_ - 1;
    }
  });
  return worst;
}

bool RankBoard::set_policy(Policy policy) {
  if (has_policy_ && policy == policy_) return false;
  policy_ = policy;
  has_policy_ = true;
  const std::lock_guard lock(mutex_);
  publish_locked();
  return true;
}

bool RankBoard::set_ranks(std::vector<std::string> organizations) {
  if (has_ranks_ && organizations == organizations_) return false;
  organizations_ = std::move(organizations);
  has_ranks_ = true;
  rebuild();
  return true;
}

bool RankBoard::set_rules(std::vector<protocol::Rule> rules) {
  if (has_rules_ && std::equal(rules.begin(), rules.end(), rules_.begin(), rules_.end(), same)) return false;
  rules_ = std::move(rules);
  has_rules_ = true;
  rebuild();
  return true;
}

bool RankBoard::set_levels(LevelTable levels) {
  if (levels == levels_) return false;
  levels_used_ = true;
  const std::lock_guard lock(mutex_);
  std::swap(levels_, levels);  // what was there before is freed outside the mutex
  publish_locked();
  return true;
}

bool RankBoard::set_stale(bool stale) {
  if (stale == stale_) return false;
  stale_ = stale;
  const std::lock_guard lock(mutex_);
  publish_locked();
  return true;
}

void RankBoard::rebuild() {
  // Built and destroyed outside the mutex: readers hold slurmctld's locks.
  std::unique_ptr<const RankTable> table = std::make_unique<RankTable>(rules_, organizations_);
  const std::lock_guard lock(mutex_);
  table_.swap(table);
  publish_locked();
}

void RankBoard::publish_locked() {
  // Ranks without rules would call every job a guest's, so priorities are touched only when both are known.
  order_.act = policy_.act && has_ranks_ && has_rules_ && !stale_;
  order_.observe = has_policy_ && !policy_.act;
  order_.strict = policy_.strict;
  order_.weight = policy_.weight;
  order_.ranks = table_->ranks();
  order_.levels = levels_used_;
  ++order_.generation;
}

shapley_order_t RankBoard::order() const {
  const std::lock_guard lock(mutex_);
  return order_;
}

std::uint32_t RankBoard::level(std::uint32_t job_id) const {
  const std::lock_guard lock(mutex_);
  return levels_.level_of(job_id);
}

std::uint32_t RankBoard::rank(const protocol::JobTraits& job) const {
  const std::lock_guard lock(mutex_);
  return table_->position_of(job);
}

}  // namespace shapley::client
