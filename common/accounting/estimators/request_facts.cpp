#include "accounting/estimators/request_facts.hpp"

#include <algorithm>
#include <limits>
#include <set>
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

bool was_seen_to_wait(const Waits& waits, const SegmentFact& run) {
  const auto later = std::ranges::lower_bound(waits, run.begin, {}, &Waits::value_type::first);
  return later != waits.begin() && run.begin <= std::prev(later)->second;
}

// A wait, and since when its job has asked for the same.
struct Asking {
  const SegmentFact* wait;
  Instant released;
};

// The group's waits by job; of each job by begin.
std::vector<Asking> askings_of(const GroupKey& key, const RequestFacts::Group& group) {
  std::vector<Asking> askings;
  for (const auto& [name, fact] : group) {
    if (name.kind == SegmentKind::wait && !is_empty(fact)) askings.push_back({&fact, key.released});
  }
  std::ranges::stable_sort(askings, {}, [](const Asking& of) { return std::pair(of.wait->key.job, of.wait->begin); });
  for (std::size_t i = 1; i < askings.size(); ++i) {
    const Asking& before = askings[i - 1];
    if (before.wait->key.job != askings[i].wait->key.job) continue;
    askings[i].released = before.wait->asked == askings[i].wait->asked ? before.released : askings[i].wait->begin;
  }
  return askings;
}

// What the run waited as: the last wait that it can have ended, of its job or else of the group's; nullptr: none.
const Asking* asking_of(const std::vector<Asking>& askings, const GroupKey& key, const SegmentFact& run) {
  for (const JobId job : {run.key.job, key.job}) {
    auto of = std::ranges::lower_bound(askings, std::pair(job, run.begin), {}, [](const Asking& asking) {
      return std::pair(asking.wait->key.job, asking.wait->begin);
    });
    while (of != askings.begin() && (--of)->wait->key.job == job) {
      if (run.begin <= of->wait->end) return &*of;
    }
  }
  return nullptr;
}

// What a run asked for, and since when: by the wait that it started out of, or by itself.
RequestFacts::Requested requested(const GroupKey& key, const Waits& waits, const std::vector<Asking>& askings,
                                  const SegmentFact& run) {
  if (!was_seen_to_wait(waits, run)) return {std::max(key.released, run.begin - k_believed), run.asked};
  const Asking* const of = asking_of(askings, key, run);
  return of == nullptr ? RequestFacts::Requested{key.released, run.asked}
                       : RequestFacts::Requested{of->released, of->wait->asked};
}

// What the group asks for at `until`, by release and form; if the books do not know that, what it asks for next.
std::vector<WantedRequest> pending_at(const std::vector<Asking>& askings, const GroupKey& key, Instant until) {
  std::vector<WantedRequest> pending;
  const Asking* next = nullptr;
  const auto add = [&](const Asking& of) {
    const auto like = std::ranges::find_if(pending, [&](const WantedRequest& request) {
      return request.release == of.released.value && request.asked == of.wait->asked;
    });
    if (like == pending.end()) {
      pending.push_back({.release = of.released.value,
                         .order = {key.job.value, k_last_key, 0},
                         .amount = of.wait->processors.value,
                         .asked = of.wait->asked});
    } else {
      like->amount += of.wait->processors.value;
    }
  };
  for (const Asking& of : askings) {
    if (of.wait->end < until) continue;
    if (of.wait->begin < until) {
      add(of);
    } else if (next == nullptr || of.wait->begin < next->wait->begin) {
      next = &of;
    }
  }
  if (pending.empty() && next != nullptr) add(*next);
  return pending;
}

// Of the waits that ended before the horizon those without which it would not be known since when a job asks for what
// it asks for afterwards: the first one of each time in which it asked for the same, if it changed that at all.
std::set<SegmentKey> kept_waits(const GroupKey& key, const RequestFacts::Group& group, Instant horizon) {
  std::set<SegmentKey> kept;
  const std::vector<Asking> askings = askings_of(key, group);
  for (auto first = askings.begin(); first != askings.end();) {
    const JobId job = first->wait->key.job;
    const auto end = std::find_if(first, askings.end(), [job](const Asking& of) { return of.wait->key.job != job; });
    const bool goes_on = std::any_of(first, end, [horizon](const Asking& of) { return of.wait->end >= horizon; });
    const bool changes =
        std::any_of(first, end, [&](const Asking& of) { return of.wait->asked != first->wait->asked; });
    if (goes_on && changes) {
      const Asking* before = nullptr;
      for (auto of = first; of != end; ++of) {
        if (before == nullptr || before->wait->asked != of->wait->asked) kept.insert(of->wait->key);
        before = &*of;
      }
    }
    first = end;
  }
  return kept;
}

hindsight::Order order_of(const GroupKey& key, const SegmentFact& run) {
  return {key.job.value, run.begin.value, std::uint64_t{run.key.job.value} << 32U | run.key.ordinal};
}

}  // namespace

GroupKey group_of(const SegmentFact& fact) {
  const JobId job = fact.waited_as.value == 0 ? fact.key.job : fact.waited_as;
  return {could_start_since(fact), fact.organization, job};
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

RequestFacts::Requested RequestFacts::requested_by(const SegmentFact& fact) const {
  const GroupKey key = group_of(fact);
  const auto known = groups_.find(key);
  const Group none;
  const Group& group = known == groups_.end() ? none : known->second;
  if (fact.key.kind == SegmentKind::run) return requested(key, waits_of(group), askings_of(key, group), fact);
  Instant released = key.released;
  Instant latest = k_beginning_of_time;
  for (const Asking& of : askings_of(key, group)) {
    if (of.wait->key.job != fact.key.job || of.wait->begin >= fact.begin || of.wait->begin < latest) continue;
    latest = of.wait->begin;
    released = of.wait->asked == fact.asked ? of.released : fact.begin;
  }
  return {released, fact.asked};
}

bool RequestFacts::changes_others(const SegmentFact* before, const SegmentFact* after) const {
  const SegmentFact& fact = before == nullptr ? *after : *before;
  if (fact.key.kind != SegmentKind::wait) return false;
  const GroupKey key = group_of(fact);
  const auto known = groups_.find(key);
  if (known == groups_.end()) return false;
  // What it is until the first instant at which the two differ is the same.
  const Instant first = before == nullptr || after == nullptr ? fact.begin : std::min(before->end, after->end);
  const auto is_later = [&](const auto& entry) { return entry.first != fact.key && entry.second.begin > first; };
  if (std::ranges::none_of(known->second, is_later)) return false;
  const auto all_of = [&](const Group& group) {
    const Waits waits = waits_of(group);
    const std::vector<Asking> askings = askings_of(key, group);
    std::map<SegmentKey, Requested> requests;
    for (const Asking& of : askings) requests.emplace(of.wait->key, Requested{of.released, of.wait->asked});
    for (const auto& [name, run] : group) {
      if (name.kind == SegmentKind::run && !is_empty(run)) requests.emplace(name, requested(key, waits, askings, run));
    }
    requests.erase(fact.key);
    return requests;
  };
  Group changed = known->second;
  changed.erase(fact.key);
  if (after != nullptr) changed.emplace(after->key, *after);
  return all_of(known->second) != all_of(changed);
}

std::vector<WantedRequest> RequestFacts::wanted(const GroupKey& key, Instant until) const {
  std::vector<WantedRequest> wanted;
  const auto group = groups_.find(key);
  if (group == groups_.end()) return wanted;
  const Waits waits = waits_of(group->second);
  const std::vector<Asking> askings = askings_of(key, group->second);
  const std::vector<WantedRequest> pending = pending_at(askings, key, until);
  for (const auto& [name, fact] : group->second) {
    if (is_empty(fact) || name.kind == SegmentKind::wait) continue;
    const Requested is = requested(key, waits, askings, fact);
    WantedRequest run{
        .release = is.released.value, .order = order_of(key, fact), .amount = fact.processors.value, .asked = is.asked};
    if (run.release >= until.value) continue;
    const bool has_begun = fact.begin < until;
    // Before its start the run is part of what waits, if anything waits for what it asks for.
    const auto is_of_it = [&](const WantedRequest& of) { return of.release == run.release && of.asked == run.asked; };
    if (!has_begun && std::ranges::any_of(pending, is_of_it)) continue;
    if (has_begun) run.begin = fact.begin.value;
    if (fact.end < until) run.duration = (fact.end - fact.begin).value;
    wanted.push_back(run);
  }
  for (const WantedRequest& request : pending) {
    if (request.release < until.value) wanted.push_back(request);
  }
  std::ranges::sort(wanted, {}, place_of);
  return wanted;
}

std::size_t RequestFacts::bytes() const {
  return groups_.size() * node_bytes<std::map<GroupKey, Group>> + facts_ * node_bytes<Group>;
}

void RequestFacts::forget_before(Instant horizon) {
  for (auto group = groups_.begin(); group != groups_.end() && group->first.released < horizon;) {
    const auto is_over = [horizon](const auto& entry) { return entry.second.end < horizon; };
    if (std::ranges::any_of(group->second, is_over)) {
      const std::set<SegmentKey> kept = kept_waits(group->first, group->second, horizon);
      facts_ -= std::erase_if(group->second,
                              [&](const auto& entry) { return is_over(entry) && !kept.contains(entry.first); });
    }
    group = group->second.empty() ? groups_.erase(group) : std::next(group);
  }
}

std::vector<SegmentFact> RequestFacts::kept_from_before(Instant horizon) const {
  std::vector<SegmentFact> kept;
  for (const auto& [key, group] : groups_) {
    if (key.released >= horizon) break;
    for (const auto& [name, fact] : group) {
      if (fact.end < horizon) kept.push_back(fact);
    }
  }
  return kept;
}

}  // namespace shapley::accounting
