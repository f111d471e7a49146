#include "plugin/client/ranks/rank_table.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "base/types.hpp"
#include "plugin/client/scan/scanner.hpp"

namespace shapley::client {

namespace {
// The name of the jobs without an organization in the daemon's ranks.
constexpr std::string_view k_guests = "guests";

// In millionths; bounded, so that values from a hostile or broken daemon cannot overflow sums.
constexpr std::int64_t k_most = std::int64_t{1} << 40U;
std::int64_t bounded(std::int64_t processors) {
  return std::clamp(processors, -k_most, k_most) * k_micro;
}

game::FallingKey falling_key(const protocol::Braking& braking, std::int64_t residual) {
  if (braking.doubled_turn == 0) return {.balance = -(Int128{1} << 125U)};  // below that of every key that brakes
  return game::braking_key_of(protocol::value_of(braking.balance), protocol::value_of(braking.work),
                              braking.doubled_turn, {residual});
}

bool same(const protocol::Rule& a, const protocol::Rule& b) {
  return a.organization == b.organization && a.kind == b.kind && a.name == b.name && a.id == b.id;
}
}  // namespace

RankTable::RankTable(const std::vector<protocol::Rule>& rules, const protocol::Ranks& ranks)
    : classifier_(rules), contenders_(ranks.organizations.size()) {
  std::vector<std::uint32_t> by_name(ranks.organizations.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranks.organizations[a] < ranks.organizations[b]; });
  const bool has_leads = ranks.leads.size() == by_name.size() && ranks.lacking.size() == by_name.size();
  const bool brakes = has_leads && ranks.braking.size() == by_name.size();
  const bool has_returning = ranks.returning.size() == by_name.size();
  // More than any cluster has, so that all of a better rank goes before a worse one.
  constexpr std::int64_t k_wholly = (std::int64_t{1} << 28U) * k_micro;
  std::uint32_t index = 0;
  for (const std::uint32_t position : by_name) {
    indices_.emplace(ranks.organizations[position], index);
    const auto behind = static_cast<std::int64_t>(by_name.size() - position);
    contenders_[index] = {
        .rank = position,
        .lead = brakes      ? 0
                : has_leads ? bounded(ranks.leads[position])
                            : behind * k_wholly,
        .lacking = bounded(has_leads ? ranks.lacking[position] : -k_most),
        .returning = has_returning ? bounded(std::max<std::int64_t>(0, ranks.returning[position])) : 0,
        .key = brakes ? falling_key(ranks.braking[position], ranks.residual) : game::FallingKey{}};
    if (position + 1 == by_name.size()) last_ = {position, index};
    ++index;
  }
}

NodeOwners RankTable::owners(const std::vector<protocol::OwnedNodes>& owned) const {
  return {owned, [&](const std::string& name) {
            const auto known = indices_.find(name);
            return known == indices_.end() ? k_no_organization : known->second;
          }};
}

RankTable::Found RankTable::find(const protocol::JobTraits& job) const {
  std::optional<Found> worst;
  classifier_.for_each_organization(job, [&](std::string_view organization) {
    const auto known = indices_.find(organization.empty() ? k_guests : organization);
    const Found found = known == indices_.end() ? last_ : Found{contenders_[known->second].rank, known->second};
    if (!worst || found.rank > worst->rank) worst = found;
  });
  return worst.value_or(Found{});
}

bool RankBoard::set_policy(Policy policy) {
  if (has_policy_ && policy == policy_) return false;
  policy_ = policy;
  has_policy_ = true;
  const MutexLock lock(mutex_);
  publish_locked();
  return true;
}

bool RankBoard::set_ranks(protocol::Ranks ranks) {
  const bool same_organizations = ranks.organizations == ranks_.organizations;
  const bool same_figures = ranks.leads == ranks_.leads && ranks.lacking == ranks_.lacking &&
                            ranks.returning == ranks_.returning && ranks.braking == ranks_.braking &&
                            ranks.residual == ranks_.residual;
  if (has_ranks_ && same_organizations && same_figures) return false;
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  const bool same_members =
      has_ranks_ && (same_organizations || sorted(ranks.organizations) == sorted(ranks_.organizations));
  ranks_ = std::move(ranks);
  has_ranks_ = true;
  rebuild(!same_members);
  return true;
}

bool RankBoard::set_rules(std::vector<protocol::Rule> rules) {
  if (has_rules_ && std::equal(rules.begin(), rules.end(), rules_.begin(), rules_.end(), same)) return false;
  rules_ = std::move(rules);
  has_rules_ = true;
  rebuild(true);
  return true;
}

bool RankBoard::set_charge_rule(protocol::ChargeRule rule) {
  if (rule == charge_rule_) return false;
  charge_rule_ = rule;
  std::optional<protocol::ChargeRule> replaced(std::move(rule));
  const MutexLock lock(mutex_);
  std::swap(new_charge_rule_, replaced);  // freed outside the mutex
  return true;
}

std::optional<protocol::ChargeRule> RankBoard::take_charge_rule() {
  const MutexLock lock(mutex_);
  return std::exchange(new_charge_rule_, std::nullopt);
}

bool RankBoard::set_owners(std::vector<protocol::OwnedNodes> owners) {
  if (owners == owned_) return false;
  owned_ = std::move(owners);
  owners_changed_ = true;
  rebuild(false);
  return true;
}

bool RankBoard::set_levels(LevelTable levels) {
  if (levels == levels_) return false;
  levels_used_ = true;
  const MutexLock lock(mutex_);
  std::swap(levels_, levels);  // what was there before is freed outside the mutex
  publish_locked();
  return true;
}

bool RankBoard::set_stale(bool stale) {
  if (stale == stale_) return false;
  stale_ = stale;
  const MutexLock lock(mutex_);
  publish_locked();
  return true;
}

void RankBoard::rebuild(bool sorting) {
  // Built and destroyed outside the mutex: readers hold slurmctld's locks.
  std::unique_ptr<const RankTable> table = std::make_unique<RankTable>(rules_, ranks_);
  std::shared_ptr<const NodeOwners> owners;
  if (std::exchange(owners_changed_, false) || sorting)
    owners = std::make_shared<const NodeOwners>(table->owners(owned_));
  const MutexLock lock(mutex_);
  if (owners != nullptr) owners_.swap(owners);
  table_.swap(table);
  if (sorting) ++order_.sorting;
  publish_locked();
}

void RankBoard::publish_locked() {
  // Ranks without rules would make every job a guest's, so priorities are changed only when both are known.
  order_.act = policy_.act && has_ranks_ && has_rules_ && !stale_;
  order_.observe = has_policy_ && !policy_.act;
  order_.strict = policy_.strict;
  order_.weight = policy_.weight;
  order_.ranks = table_->ranks();
  order_.levels = levels_used_;
  ++order_.generation;
}

shapley_order_t RankBoard::order() const {
  const MutexLock lock(mutex_);
  return order_;
}

std::uint32_t RankBoard::level(std::uint32_t job_id) const {
  const MutexLock lock(mutex_);
  return levels_.level_of(job_id);
}

std::uint32_t RankBoard::organization(const protocol::JobTraits& job) const {
  const MutexLock lock(mutex_);
  return table_->index_of(job);
}

Ranking RankBoard::ranking() const {
  const MutexLock lock(mutex_);
  return {order_.sorting, table_->contenders(), owners_};
}

std::uint32_t RankBoard::rank(const protocol::JobTraits& job) const {
  const MutexLock lock(mutex_);
  return table_->position_of(job);
}

static_assert(protocol::k_max_level == k_shapley_max_level);

Expected<LevelTable> LevelTable::of(const std::vector<protocol::JobLevel>& jobs) {
  LevelTable table;
  if (jobs.empty()) return table;
  if (jobs.size() > protocol::k_max_level_jobs) {
    return fail(Errc::protocol, "the daemon sent levels of " + std::to_string(jobs.size()) + " jobs, more than the " +
                                    std::to_string(protocol::k_max_level_jobs) + " that a message may list");
  }
  table.slots_.resize(std::bit_ceil(2 * jobs.size()));
  table.size_ = jobs.size();
  std::uint32_t before = 0;
  for (const protocol::JobLevel& job : jobs) {
    if (job.job_id <= before) {
      return fail(Errc::protocol, "the daemon sent levels whose job ids do not ascend: " + std::to_string(job.job_id) +
                                      " after " + std::to_string(before));
    }
    if (job.level < 1 || job.level > protocol::k_max_level) {
      return fail(Errc::protocol, "the daemon sent level " + std::to_string(job.level) + " of job " +
                                      std::to_string(job.job_id) + "; levels are 1 to " +
                                      std::to_string(protocol::k_max_level));
    }
    before = job.job_id;
    table.slots_[slot_of(table.slots_, job.job_id)] = job;
  }
  return table;
}

std::uint32_t LevelTable::level_of(std::uint32_t job_id) const {
  // A job without an id would match any free slot, whose level is 0, too.
  return slots_.empty() ? 0 : slots_[slot_of(slots_, job_id)].level;
}

}  // namespace shapley::client
