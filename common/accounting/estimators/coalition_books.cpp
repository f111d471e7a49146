#include "accounting/estimators/coalition_books.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/contract.hpp"

namespace shapley::accounting {

using hindsight::k_never;
using hindsight::k_unknown;

void CoalitionBooks::set_players(std::vector<std::uint32_t> ranks, const std::vector<std::size_t>& sizes,
                                 std::size_t exact) {
  const std::size_t players = ranks.size();
  schedules_.set_ranks(std::move(ranks));
  if (players == players_ && sizes == sizes_ && exact == exact_) return;
  players_ = players;
  exact_ = exact;
  sizes_ = sizes;
  std::set<hindsight::Coalition> all;
  for (const std::size_t size : sizes) {
    for (const hindsight::Coalition coalition : hindsight::coalitions_of(size, exact)) all.insert(coalition);
  }
  coalitions_.assign(all.begin(), all.end());
  schedules_.set_coalitions(std::max<std::size_t>(players, 1), coalitions_);
}

std::vector<std::size_t> CoalitionBooks::slots_of(std::size_t players) const {
  std::vector<std::size_t> slots;
  for (const hindsight::Coalition coalition : hindsight::coalitions_of(players, exact_)) {
    slots.push_back(*slot_of(coalition));
  }
  return slots;
}

bool CoalitionBooks::is_pending(const WantedRequest& request) {
  return request.order.start == std::numeric_limits<std::int64_t>::max();
}

bool CoalitionBooks::is_final(const WantedRequest& known) const {
  return known.begin != k_never && known.duration != k_unknown &&
         known.begin + known.duration < schedules_.outcomes_settled();
}

// A run that began before the settled outcomes is known to have run until then, or when it ended.
bool CoalitionBooks::can_change(const WantedRequest& known, const WantedRequest& wanted) const {
  if (known.begin == wanted.begin && known.duration == wanted.duration) return true;
  if (known.begin == k_never) return true;
  const std::int64_t settled = schedules_.outcomes_settled();
  if (wanted.begin != known.begin || is_final(known)) return false;
  return known.begin >= settled || wanted.duration == k_unknown || known.begin + wanted.duration >= settled;
}

CoalitionBooks::Group::iterator CoalitionBooks::first_from(Group& group, const hindsight::Order& order) {
  return std::lower_bound(group.begin(), group.end(), order,
                          [](const KnownRequest& known, const hindsight::Order& of) { return known.is.order < of; });
}

CoalitionBooks::KnownRequest* CoalitionBooks::known_as(Group& group, const WantedRequest& wanted) {
  for (auto known = first_from(group, wanted.order); known != group.end() && known->is.order == wanted.order; ++known) {
    if (known->is.amount == wanted.amount) return &*known;
  }
  return nullptr;
}

void CoalitionBooks::insert(Group& group, const KnownRequest& known) {
  group.insert(first_from(group, known.is.order), known);
}

CoalitionBooks::KnownRequest* CoalitionBooks::waiting_in(Group& group) {
  return group.empty() || !is_pending(group.back().is) ? nullptr : &group.back();
}

// Only the next part of what waits can be taken: no other run of the form began later.
bool CoalitionBooks::takes_of_what_waits(Group& group, const WantedRequest& run) {
  const KnownRequest* waits = waiting_in(group);
  if (waits == nullptr || waits->is.release != run.release) return false;
  return std::none_of(first_from(group, run.order), group.end(),
                      [&](const KnownRequest& known) { return !is_pending(known.is) && known.is.order > run.order; });
}

bool CoalitionBooks::allows(Group& group, std::span<const WantedRequest> wanted) const {
  std::vector<bool> is_wanted(group.size());
  for (const WantedRequest& request : wanted) {
    const KnownRequest* known = known_as(group, request);
    if (known != nullptr) is_wanted[static_cast<std::size_t>(known - group.data())] = true;
    if (known != nullptr && !is_pending(request) && !can_change(known->is, request)) return false;
    if (known != nullptr || request.release >= schedules_.settled()) continue;
    if (is_pending(request) ? waiting_in(group) == nullptr : !takes_of_what_waits(group, request)) return false;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const WantedRequest& known = group[i].is;
    if (is_wanted[i] || is_pending(known) || known.begin == k_never) continue;
    if (known.begin < schedules_.outcomes_settled()) return false;
  }
  return true;
}

void CoalitionBooks::set_outcome(KnownRequest& known, const WantedRequest& wanted) {
  if (known.is.begin != wanted.begin) schedules_.started(known.name, wanted.begin);
  if (known.is.duration != wanted.duration) {
    if (wanted.duration == k_unknown) {
      schedules_.retract_end(known.name);
    } else {
      schedules_.ended(known.name, wanted.duration);
    }
  }
  const std::int64_t release = known.is.release;
  known.is = wanted;
  known.is.release = release;
}

// The kinds as of its release, and what became of them since.
hindsight::Form CoalitionBooks::form_of(const WantedRequest& request) const {
  hindsight::Form form{.kinds = {}, .width = request.asked.width};
  for (KindSet left = request.asked.kinds; left != 0; left &= left - 1)
    form.kinds.push_back(static_cast<Kind>(std::countr_zero(left)));
  for (const KindDivided& division : divisions_) {
    if (request.release < division.at.value) form.add_behind(division.kind, division.added);
  }
  return form;
}

void CoalitionBooks::divide_kind(const KindDivided& division) {
  SHAPLEY_REQUIRE(division.at.value >= schedules_.settled());
  divisions_.push_back(division);
  schedules_.split_kind(division.kind, division.added);
}

// What a request of one task amounts to while it waits.
std::int64_t CoalitionBooks::asked_amount(const WantedRequest& request) {
  return request.asked.width > 0 ? request.asked.width : request.amount;
}

void CoalitionBooks::add(Group& group, std::size_t player, const WantedRequest& request) {
  const std::int64_t amount = is_pending(request) ? request.amount : asked_amount(request);
  KnownRequest known{schedules_.add(player, request.release, amount, request.order, form_of(request)), request};
  if (amount != request.amount) schedules_.charge(known.name, request.amount);
  known.is.begin = k_never;
  known.is.duration = k_unknown;
  set_outcome(known, request);
  insert(group, known);
}

// From its release on, the waiting part amounts to what now starts out of it plus what goes on waiting.
void CoalitionBooks::provide(Group& group, std::span<const WantedRequest* const> starts, const WantedRequest* pending) {
  KnownRequest* waits = waiting_in(group);
  if (waits == nullptr) return;
  std::int64_t amount = 0;
  for (const WantedRequest* run : starts) {
    if (takes_of_what_waits(group, *run)) amount += asked_amount(*run);
  }
  if (amount == 0) return;
  if (pending != nullptr && pending->release == waits->is.release) amount += pending->amount;
  schedules_.amend(waits->name, amount);
  waits->is.amount = amount;
}

// The run takes the first part of what waits. If a run that began later took it already, or nothing waits, it becomes a
// request by itself.
void CoalitionBooks::start(Group& group, std::size_t player, const WantedRequest& run) {
  if (!takes_of_what_waits(group, run)) return add(group, player, run);
  KnownRequest* waits = waiting_in(group);
  const std::int64_t amount = asked_amount(run);
  const hindsight::Request name = schedules_.split(waits->name, amount, run.order);
  if (amount != run.amount) schedules_.charge(name, run.amount);
  KnownRequest known{name, run};
  known.is.begin = k_never;
  known.is.duration = k_unknown;
  if (waits->is.amount == amount) {
    group.pop_back();
  } else {
    waits->is.amount -= amount;
  }
  set_outcome(known, run);
  insert(group, known);
}

void CoalitionBooks::wait(Group& group, std::size_t player, const WantedRequest* pending) {
  KnownRequest* waits = waiting_in(group);
  if (waits != nullptr && pending != nullptr && pending->release == waits->is.release) {
    schedules_.amend(waits->name, pending->amount);
    waits->is.amount = pending->amount;
    return;
  }
  if (waits != nullptr) {
    schedules_.withdraw(waits->name);
    group.pop_back();
  }
  if (pending != nullptr) add(group, player, *pending);
}

namespace {

auto form_of_request(const WantedRequest& request) {
  return std::tie(request.release, request.asked);
}

}  // namespace

// A run that began before the horizon keeps its release and what it asked for: the wait that they depend on may be
// forgotten.
void CoalitionBooks::keep_begun(const Group& group, std::vector<WantedRequest>& wanted) const {
  std::vector<const KnownRequest*> begun;
  for (const KnownRequest& known : group) {
    if (known.is.begin < horizon_.value) begun.push_back(&known);
  }
  const auto order_of = [](const KnownRequest* known) { return known->is.order; };
  std::ranges::sort(begun, {}, order_of);
  for (WantedRequest& run : wanted) {
    if (run.begin >= horizon_.value) continue;
    const auto itself = std::ranges::lower_bound(begun, run.order, {}, order_of);
    if (itself == begun.end() || order_of(*itself) != run.order) continue;
    run.release = (*itself)->is.release;
    run.asked = (*itself)->is.asked;
  }
  if (!std::ranges::is_sorted(wanted, {}, place_of)) std::ranges::sort(wanted, {}, place_of);
}

// The forms in which something changes, whose requests are taken out of the group.
std::vector<CoalitionBooks::OfForm> CoalitionBooks::take_changed(Group& group, std::span<const WantedRequest> wanted) {
  std::vector<OfForm> changed;
  Group same;
  auto known = group.cbegin();
  for (auto want = wanted.begin(); known != group.cend() || want != wanted.end();) {
    const bool is_wanted =
        known == group.cend() || (want != wanted.end() && form_of_request(*want) < form_of_request(known->is));
    const auto form = form_of_request(is_wanted ? *want : known->is);
    const auto known_end =
        std::find_if(known, group.cend(), [&](const KnownRequest& other) { return form_of_request(other.is) != form; });
    const auto want_end =
        std::find_if(want, wanted.end(), [&](const WantedRequest& other) { return form_of_request(other) != form; });
    const auto is_same = [](const KnownRequest& one, const WantedRequest& request) { return one.is == request; };
    if (std::equal(known, known_end, want, want_end, is_same)) {
      same.insert(same.end(), known, known_end);
    } else {
      changed.push_back({Group(known, known_end), std::vector<WantedRequest>(want, want_end)});
    }
    known = known_end;
    want = want_end;
  }
  if (!changed.empty()) group = std::move(same);
  return changed;
}

bool CoalitionBooks::reconcile(const GroupKey& key, std::size_t player, std::vector<WantedRequest> wanted, Late late) {
  const auto entry = groups_.try_emplace(key).first;
  Group& group = entry->second;
  keep_begun(group, wanted);
  std::vector<OfForm> forms = take_changed(group, wanted);
  const bool are_allowed = std::ranges::all_of(forms, [this](OfForm& of) { return allows(of.known, of.wanted); });
  const bool is_refused = !are_allowed && late == Late::refuse;
  for (OfForm& of : forms) {
    for (WantedRequest& request : of.wanted) {
      if (!are_allowed) request.release = std::max(request.release, schedules_.settled());
    }
    if (!is_refused) change(of.known, player, of.wanted);
    const auto size = static_cast<std::ptrdiff_t>(group.size());
    group.insert(group.end(), of.known.begin(), of.known.end());
    std::sort(group.begin() + size, group.end(), is_before);
    std::inplace_merge(group.begin(), group.begin() + size, group.end(), is_before);
  }
  if (group.empty()) groups_.erase(entry);
  return !is_refused;
}

bool CoalitionBooks::is_before(const KnownRequest& a, const KnownRequest& b) {
  return place_of(a.is) < place_of(b.is);
}

// Sends what is wanted of a group's requests of one form.
void CoalitionBooks::change(Group& group, std::size_t player, std::span<const WantedRequest> wanted) {
  const WantedRequest* pending = nullptr;
  std::vector<const WantedRequest*> starts;
  std::vector<bool> is_wanted(group.size());
  for (const WantedRequest& request : wanted) {
    if (is_pending(request)) {
      pending = &request;
      continue;
    }
    KnownRequest* like = known_as(group, request);
    if (like == nullptr) {
      starts.push_back(&request);
      continue;
    }
    set_outcome(*like, request);
    is_wanted[static_cast<std::size_t>(like - group.data())] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (is_wanted[i] || is_pending(group[i].is)) {
      group[kept++] = group[i];
    } else {
      schedules_.withdraw(group[i].name);
    }
  }
  group.resize(kept);
  provide(group, starts, pending);
  for (const WantedRequest* run : starts) start(group, player, *run);
  wait(group, player, pending);
}

bool CoalitionBooks::change_capacity(std::size_t player, Instant at, std::int64_t by, Kind kind) {
  if (at.value < schedules_.settled()) return false;
  schedules_.change_capacity(player, at.value, by, kind);
  return true;
}

bool CoalitionBooks::set_stretches(Instant from, std::span<const Stretch> later) {
  const auto first = std::ranges::lower_bound(stretches_, from, {}, &Stretch::begin);
  const auto [old, now] = std::mismatch(first, stretches_.end(), later.begin(), later.end());
  Instant changed = k_end_of_time;
  if (old != stretches_.end()) changed = old->begin;
  if (now != later.end()) changed = std::min(changed, now->begin);
  if (changed == k_end_of_time) return true;
  if (changed.value < schedules_.settled()) return false;
  std::vector<std::int64_t> cuts;
  for (auto stretch = now; stretch != later.end(); ++stretch) cuts.push_back(stretch->begin.value);
  schedules_.set_cuts(static_cast<std::size_t>(old - stretches_.begin()) - shared_, cuts);
  stretches_.erase(old, stretches_.end());
  stretches_.insert(stretches_.end(), now, later.end());
  return true;
}

hindsight::GapShares CoalitionBooks::did_in(std::size_t period) const {
  const auto before = did_.find(period);
  hindsight::GapShares shares = before == did_.end() ? hindsight::GapShares{} : before->second;
  if (coalitions_.empty()) return shares;
  std::vector<hindsight::Done<Int128>> done = schedules_.done_at_cuts();
  const std::size_t last = coalitions_.size() - 1;
  const std::int64_t now = schedules_.time();
  const Int128 work = schedules_.work(last, now);
  done.push_back({work, work * now - schedules_.utility(last, now)});
  // The same sets of organizations recur many times.
  std::map<hindsight::Coalition, hindsight::Done<Int128>> by_present;
  for (std::size_t i = 0; i + 1 < done.size(); ++i) {
    const Stretch& stretch = stretches_[shared_ + i];
    if (stretch.period != period) continue;
    hindsight::Done<Int128>& sum = by_present[stretch.present];
    sum += done[i + 1];
    sum -= done[i];
  }
  for (const auto& [present, sum] : by_present) shares.add(present, sum);
  return shares;
}

void CoalitionBooks::share_final() {
  if (schedules_.final_cuts() < 2) return;
  const std::size_t count = schedules_.final_cuts() - 1;
  const std::vector<hindsight::Done<Int128>> done = schedules_.done_at_cuts();
  for (std::size_t i = 0; i < count; ++i, ++shared_) {
    hindsight::Done<Int128> in_it = done[i + 1];
    in_it -= done[i];
    did_[stretches_[shared_].period].add(stretches_[shared_].present, in_it);
  }
  schedules_.forget_cuts(count);
}

void CoalitionBooks::forget_settled() {
  schedules_.forget_settled();
  share_final();
}

void CoalitionBooks::settle(Instant until) {
  SHAPLEY_REQUIRE(until.value <= schedules_.time());
  schedules_.settle(until.value);
  share_final();
}

void CoalitionBooks::forget_before(Instant horizon) {
  horizon_ = horizon;
  settle(horizon);
  const auto first = std::ranges::lower_bound(stretches_, horizon, {}, &Stretch::begin);
  const std::size_t gone = std::min(shared_, static_cast<std::size_t>(first - stretches_.begin()));
  stretches_.erase(stretches_.begin(), stretches_.begin() + static_cast<std::ptrdiff_t>(gone));
  shared_ -= gone;
  for (auto group = groups_.begin(); group != groups_.end() && group->first.released < horizon;) {
    std::erase_if(group->second, [horizon](const KnownRequest& known) {
      return known.is.duration != k_unknown && known.is.begin + known.is.duration < horizon.value;
    });
    group = group->second.empty() ? groups_.erase(group) : std::next(group);
  }
}

std::vector<GroupKey> CoalitionBooks::groups() const {
  std::vector<GroupKey> keys;
  for (const auto& [key, group] : groups_) keys.push_back(key);
  return keys;
}

std::optional<GroupKey> CoalitionBooks::group_after(const std::optional<GroupKey>& key) const {
  const auto group = key ? groups_.upper_bound(*key) : groups_.begin();
  return group == groups_.end() ? std::nullopt : std::optional(group->first);
}

bool CoalitionBooks::waits(const GroupKey& key, Instant released, const Asked& asked) const {
  const auto group = groups_.find(key);
  return group != groups_.end() && std::ranges::any_of(group->second, [&](const KnownRequest& known) {
           return is_pending(known.is) && known.is.release == released.value && known.is.asked == asked;
         });
}

std::size_t CoalitionBooks::bytes() const {
  std::size_t bytes = schedules_.bytes() + stretches_.capacity() * sizeof(Stretch) +
                      groups_.size() * node_bytes<std::map<GroupKey, Group>>;
  for (const auto& [key, group] : groups_) bytes += group.capacity() * sizeof(KnownRequest) + k_allocation_bytes;
  return bytes;
}

Produced CoalitionBooks::produced(std::size_t slot, std::optional<Instant> begin, Instant end) const {
  const auto mark_of = [&](Instant boundary) {
    const std::vector<std::int64_t>& marks = schedules_.marks();
    return static_cast<std::size_t>(std::lower_bound(marks.begin(), marks.end(), boundary.value) - marks.begin());
  };
  const bool is_now = end.value == schedules_.time();
  Produced produced{
      .utility = {is_now ? schedules_.utility(slot, end.value) : schedules_.utility_at_mark(slot, mark_of(end))},
      .work = {is_now ? schedules_.work(slot, end.value) : schedules_.work_at_mark(slot, mark_of(end))}};
  if (!begin) return produced;
  // Work from before the period is worth its utility at the period's begin, plus one unit for each second since.
  const Int128 done_before = schedules_.work_at_mark(slot, mark_of(*begin));
  const Int128 value_before = schedules_.utility_at_mark(slot, mark_of(*begin));
  produced.utility -= {value_before + (end - *begin).value * done_before};
  produced.work -= {done_before};
  return produced;
}

std::optional<std::size_t> CoalitionBooks::slot_of(hindsight::Coalition coalition) const {
  const auto slot = std::lower_bound(coalitions_.begin(), coalitions_.end(), coalition);
  if (slot == coalitions_.end() || *slot != coalition) return std::nullopt;
  return static_cast<std::size_t>(slot - coalitions_.begin());
}

CoalitionBooks CoalitionBooks::only(std::span<const hindsight::Coalition> coalitions) const {
  SHAPLEY_REQUIRE(std::ranges::is_sorted(coalitions));
  std::vector<std::size_t> slots;
  for (const hindsight::Coalition coalition : coalitions) slots.push_back(*slot_of(coalition));
  CoalitionBooks few;
  few.schedules_ = schedules_.only(slots);
  few.players_ = players_;
  few.exact_ = exact_;
  few.coalitions_.assign(coalitions.begin(), coalitions.end());
  few.horizon_ = horizon_;
  few.groups_ = groups_;
  few.divisions_ = divisions_;
  return few;
}

// The last ones first: so less and less has to be computed again after each.
void CoalitionBooks::end_all(Instant t) {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    for (const KnownRequest& known : group->second) {
      if (known.is.begin == k_never) {
        schedules_.withdraw(known.name);
      } else if (known.is.duration == k_unknown) {
        schedules_.ended(known.name, std::max<std::int64_t>(t.value - known.is.begin, 1));
      }
    }
  }
  groups_.clear();
  schedules_.advance(t.value);
}

}  // namespace shapley::accounting
