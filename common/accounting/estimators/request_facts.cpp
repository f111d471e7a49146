#include "accounting/estimators/request_facts.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace shapley::accounting {

namespace {

constexpr std::int64_t k_last_key = std::numeric_limits<std::int64_t>::max();

bool is_empty(const SegmentFact& fact) {
  return fact.begin == fact.end || fact.processors.value <= 0;
}

using Waits = std::vector<std::pair<Instant, Instant>>;

// The times in which the group's demand waited: begins and ends of the waits, adjacent ones joined, ascending.
Waits waits_of(const RequestFacts::Group& group) {
  Waits waits;
  for (const auto& [name, fact] : group) {
    if (name.kind == SegmentKind::wait && !is_empty(fact)) waits.emplace_back(fact.begin, fact.end);
  }
  std::sort(waits.begin(), waits.end());
  std::size_t kept = 0;
  for (const auto& [begin, end] : waits) {
    if (kept > 0 && begin <= waits[kept - 1].second) {
      waits[kept - 1].second = std::max(waits[kept - 1].second, end);
    } else {
      waits[kept++] = {begin, end};
    }
  }
  waits.resize(kept);
  return waits;
}

Instant release_within(const Waits& waits, const GroupKey& key, const SegmentFact& run) {
  const auto later = std::upper_bound(waits.begin(), waits.end(), std::pair(run.begin, k_end_of_time));
  const bool was_seen_to_wait = later != waits.begin() && run.begin <= std::prev(later)->second;
  return was_seen_to_wait ? key.released : std::max(key.released, run.begin - k_believed);
}

// What the group asks for at `until`; if the books do not know that, what it asks for next.
std::int64_t waiting_at(const RequestFacts::Group& group, Instant until) {
  std::int64_t amount = 0;
  const SegmentFact* next = nullptr;
  for (const auto& [name, fact] : group) {
    if (name.kind != SegmentKind::wait || is_empty(fact) || fact.end < until) continue;
    if (fact.begin < until) {
      amount += fact.processors.value;
    } else if (next == nullptr || fact.begin < next->begin) {
      next = &fact;
    }
  }
  return amount == 0 && next != nullptr ? next->processors.value : amount;
}

hindsight::Order order_of(const GroupKey& key, const SegmentFact& run) {
  return {key.job.value, run.begin.value, std::uint64_t{run.key.job.value} << 32U | run.key.ordinal};
}

}  // namespace

GroupKey group_of(const SegmentFact& fact) {
  const JobId job = fact.waited_as.value == 0 ? fact.key.job : fact.waited_as;
  if (fact.key.kind == SegmentKind::wait) return {fact.key.anchor, fact.organization, job};
  return {fact.released.value_or(fact.begin), fact.organization, job};
}

void RequestFacts::fold(int sign, const SegmentFact& fact) {
  const GroupKey key = group_of(fact);
  if (sign > 0) {
    facts_ += groups_[key].insert_or_assign(fact.key, fact).second ? 1 : 0;
    return;
  }
  const auto group = groups_.find(key);
  if (group == groups_.end()) return;
  facts_ -= group->second.erase(fact.key);
  if (group->second.empty()) groups_.erase(group);
}

Instant RequestFacts::release_of(const SegmentFact& run) const {
  const GroupKey key = group_of(run);
  const auto group = groups_.find(key);
  return release_within(group == groups_.end() ? Waits{} : waits_of(group->second), key, run);
}

std::vector<WantedRequest> RequestFacts::wanted(const GroupKey& key, Instant until) const {
  std::vector<WantedRequest> wanted;
  const auto group = groups_.find(key);
  if (group == groups_.end()) return wanted;
  const Waits waits = waits_of(group->second);
  const WantedRequest pending{.release = key.released.value,
                              .order = {key.job.value, k_last_key, 0},
                              .amount = waiting_at(group->second, until)};
  for (const auto& [name, fact] : group->second) {
    if (is_empty(fact) || name.kind == SegmentKind::wait) continue;
    WantedRequest run{.release = release_within(waits, key, fact).value,
                      .order = order_of(key, fact),
                      .amount = fact.processors.value};
    if (run.release >= until.value) continue;
    const bool has_begun = fact.begin < until;
    // Before its start the run is part of what waits, if anything waits.
    if (!has_begun && pending.amount > 0 && run.release == pending.release) continue;
    if (has_begun) run.begin = fact.begin.value;
    if (fact.end < until) run.duration = (fact.end - fact.begin).value;
    wanted.push_back(run);
  }
  if (pending.amount > 0 && key.released < until) wanted.push_back(pending);
  std::sort(wanted.begin(), wanted.end(), [](const WantedRequest& a, const WantedRequest& b) {
    return std::tie(a.release, a.order) < std::tie(b.release, b.order);
  });
  return wanted;
}

std::size_t RequestFacts::bytes() const {
  return groups_.size() * node_bytes<std::map<GroupKey, Group>> + facts_ * node_bytes<Group>;
}

void RequestFacts::forget_before(Instant horizon) {
  for (auto group = groups_.begin(); group != groups_.end() && group->first.released < horizon;) {
    facts_ -= std::erase_if(group->second, [horizon](const auto& entry) { return entry.second.end < horizon; });
    group = group->second.empty() ? groups_.erase(group) : std::next(group);
  }
}

}  // namespace shapley::accounting
