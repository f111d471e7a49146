#include "accounting/estimators/present_schedules.hpp"

#include <algorithm>
#include <limits>

namespace shapley::accounting {

namespace {

// The schedules keep the last runs open, bounded by number and age; for older facts they are made again.
constexpr std::int64_t k_open_runs = 4'096;
constexpr Duration k_open_longest{3600};
constexpr Duration k_open_shortest{30};

}  // namespace

std::vector<std::size_t> SettledFacts::sizes_of(std::size_t of_players) {
  std::set<std::size_t> sizes{of_players};
  for (std::size_t period = closed.size(); period < boundaries.size(); ++period)
    sizes.insert(std::min(of_players, players.joined_before(boundaries[period])));
  return {sizes.begin(), sizes.end()};
}

void SettledFacts::divide_kinds(CoalitionBooks& books, Instant until) const {
  for (const KindDivided& division : divisions) {
    if (horizon <= division.at && division.at < until) books.divide_kind(division);
  }
}

void SettledFacts::mark_boundaries(CoalitionBooks::Schedules& schedules, Instant until) const {
  for (const Instant boundary : boundaries) {
    const bool is_new = schedules.marks().empty() || schedules.marks().back() < boundary.value;
    if (is_new && boundary.value >= schedules.time() && boundary < until) schedules.mark(boundary.value);
  }
}

void PresentSchedules::drop() {
  books_.reset();
  stale_.clear();
  stale_capacities_.clear();
  is_beginning_ = false;
}

void PresentSchedules::note(int sign, const SegmentFact& segment) {
  if (segment.key.kind == SegmentKind::run) (void)add_change(begun_, segment.begin, sign);
  if (books_) stale_.insert(group_of(segment));
}

void PresentSchedules::note_capacity(const When& when, std::int64_t by) {
  if (books_) (void)add_change(stale_capacities_, when, by);
}

void PresentSchedules::note_boundary(Instant boundary) {
  if (!books_) return;
  if (boundary.value < books_->schedules().time()) {
    drop();
  } else {
    books_->schedules().mark(boundary.value);
  }
}

std::size_t PresentSchedules::bytes() const {
  return (books_ ? books_->bytes() : 0) + begun_.size() * node_bytes<std::map<Instant, std::int64_t>> +
         stale_.size() * node_bytes<std::set<GroupKey>>;
}

// The schedules are dropped if the players come in another order, or if coalitions are wanted that they do not have.
void PresentSchedules::set_players(SettledFacts& facts) {
  const std::vector<OrgId>& all = facts.players.all();
  const bool goes_on = players_.size() <= all.size() && std::equal(players_.begin(), players_.end(), all.begin());
  if (!goes_on) drop();
  // The number of players before a boundary changes with the instants at which they joined, too.
  std::vector<std::size_t> sizes = facts.sizes_of(all.size());
  const auto is_kept = [&](std::size_t size) { return size == all.size() || std::ranges::binary_search(sizes_, size); };
  if (books_ && !std::ranges::all_of(sizes, is_kept)) drop();
  if (goes_on && !ranks_changed_ && books_ && players_.size() == all.size() && sizes == sizes_) return;
  players_ = all;
  player_of_.assign(facts.organizations, std::nullopt);
  for (std::size_t u = 0; u < all.size(); ++u) player_of_[all[u].value] = u;
  ranks_changed_ = false;
  sizes_ = std::move(sizes);
  set_coalitions(facts);
}

void PresentSchedules::set_coalitions(SettledFacts& facts) {
  if (books_) books_->set_players(facts.players.ranks(players_.size()), sizes_, facts.exact);
}

std::optional<std::size_t> PresentSchedules::player_of(OrgId organization) const {
  return organization.value < player_of_.size() ? player_of_[organization.value] : std::nullopt;
}

void PresentSchedules::begin(SettledFacts& facts) {
  books_ = facts.settled;
  books_->set_players(facts.players.ranks(players_.size()), facts.sizes_of(players_.size()), facts.exact);
  facts.mark_boundaries(books_->schedules(), k_end_of_time);
  facts.divide_kinds(*books_, k_end_of_time);
  stale_capacities_ = facts.capacities;
  is_beginning_ = true;
  begun_until_.reset();
  next_batch_ = sent_ + k_batch;
}

// The first group that is to be sent. While is_beginning_, every group is sent, in order.
std::optional<GroupKey> PresentSchedules::next_stale(const SettledFacts& facts) const {
  std::optional<GroupKey> next;
  const auto consider = [&](const std::optional<GroupKey>& key) {
    if (key && (!next || *key < *next)) next = key;
  };
  if (!stale_.empty()) consider(*stale_.begin());
  if (!is_beginning_) return next;
  consider(facts.settled.group_after(begun_until_));
  const auto& groups = facts.requests.groups();
  const auto group = begun_until_ ? groups.upper_bound(*begun_until_) : groups.begin();
  if (group != groups.end()) consider(group->first);
  return next;
}

// As long as nothing after the horizon is settled, facts may be older than the horizon: they are sent as if they had
// happened at the horizon.
bool PresentSchedules::may_clamp(const SettledFacts& facts) const {
  return is_beginning_ && books_->schedules().settled() <= facts.horizon.value;
}

// False: a new change lies before what the schedules have settled.
bool PresentSchedules::send_capacities(const SettledFacts& facts) {
  for (const auto& [when, by] : stale_capacities_) {
    const auto& [at, organization, kind] = when;
    const auto player = player_of(organization);
    if (player && !books_->change_capacity(*player, at, by, kind) && !may_clamp(facts)) return false;
  }
  stale_capacities_.clear();
  return true;
}

// Sends which organizations were present until t. False: as for send_capacities.
bool PresentSchedules::send_attendance(SettledFacts& facts, Instant t) {
  attended_ = facts.attendance.until(t, Instant{books_->schedules().settled()});
  return books_->set_stretches(facts.horizon, attended_.stretches);
}

// Sends the requests that were released before `until`, and makes the schedules reach t.
PresentSchedules::Outcome PresentSchedules::send_requests(const SettledFacts& facts, Instant t, std::uint64_t effort,
                                                          Instant until) {
  CoalitionBooks::Schedules& schedules = books_->schedules();
  const auto spent = [&] { return schedules.effort().parts + schedules.effort().undone + sent_; };
  const std::uint64_t most = effort + std::min(spent(), std::numeric_limits<std::uint64_t>::max() - effort);
  const auto left = [&] { return most - std::min(spent(), most); };
  for (auto next = next_stale(facts); next && next->released < until; next = next_stale(facts)) {
    const GroupKey key = *next;
    const auto player = player_of(key.organization);
    const auto late = may_clamp(facts) ? CoalitionBooks::Late::clamp : CoalitionBooks::Late::refuse;
    if (player) {
      std::vector<WantedRequest> wanted = facts.requests.wanted(key, k_end_of_time);
      sent_ += std::max<std::size_t>(wanted.size(), 1);
      if (!books_->reconcile(key, *player, std::move(wanted), late)) return Outcome::too_old;
    }
    stale_.erase(key);
    if (is_beginning_) begun_until_ = std::max(begun_until_, next);
    ++groups_sent_;
    if (sent_ >= next_batch_ && !sent_until(facts, std::min(key.released, t), t, until, left())) return Outcome::more;
    if (left() == 0) return Outcome::more;
  }
  return schedules.advance(std::max(schedules.time(), t.value), left()) ? Outcome::done : Outcome::more;
}

// Called when every request that was released before `released` was sent. While schedules are sent everything from the
// beginning, or up to a horizon, what will not be kept open is settled on the way, to bound memory. The outcomes of
// requests from before the horizon are sent first. False: the effort did not suffice.
bool PresentSchedules::sent_until(const SettledFacts& facts, Instant released, Instant t, Instant until,
                                  std::uint64_t effort) {
  CoalitionBooks::Schedules& schedules = books_->schedules();
  if (!schedules.advance(std::max(schedules.time(), released.value), effort)) return false;
  next_batch_ = sent_ + k_batch;
  if (is_beginning_) {
    const Instant open = t - k_open_longest;
    const Instant settled = std::min(released, open);
    schedules.settle(settled.value, (released < facts.horizon ? settled : open).value);
  } else if (until != k_end_of_time) {
    schedules.settle(released.value);
  }
  return true;
}

void PresentSchedules::forget_before(SettledFacts& facts, Instant horizon) {
  // If the horizon is at or after the last question, the schedules know nothing beyond the settled ones, and are
  // dropped.
  if (books_ && (latest_ <= horizon || !settle_before(facts, horizon))) drop();
  begun_.erase(begun_.begin(), begun_.lower_bound(horizon - k_open_longest));
}

// Facts from before the horizon have to be sent now, because they cannot be sent afterwards. False: that failed, and
// the schedules are useless.
bool PresentSchedules::settle_before(SettledFacts& facts, Instant horizon) {
  if (!send_attendance(facts, std::max(horizon, Instant{books_->schedules().time()})) || !send_capacities(facts))
    return false;
  const std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
  if (send_requests(facts, horizon, no_limit, horizon) != Outcome::done) return false;
  books_->forget_before(horizon);
  return true;
}

bool PresentSchedules::synchronize(SettledFacts& facts, Instant t, std::uint64_t effort) {
  set_players(facts);
  while (true) {
    if (!books_) begin(facts);
    const bool is_known = send_attendance(facts, t) && send_capacities(facts);
    const Outcome outcome = is_known ? send_requests(facts, t, effort) : Outcome::too_old;
    if (outcome == Outcome::more) return false;
    if (outcome == Outcome::done) break;
    drop();
  }
  is_beginning_ = false;
  latest_ = t;
  settle(t);
  return true;
}

void PresentSchedules::settle(Instant t) {
  Instant oldest_open = t - k_open_longest;
  begun_.erase(begun_.begin(), begun_.lower_bound(oldest_open));
  if (groups_sent_ > k_open_runs / 4) {
    groups_sent_ = 0;
    std::int64_t runs = 0;
    for (auto begun = begun_.rbegin(); begun != begun_.rend() && runs <= k_open_runs; ++begun) {
      runs += begun->second;
      if (runs > k_open_runs) oldest_open = begun->first;
    }
  }
  books_->settle(std::min(oldest_open, t - k_open_shortest));
}

}  // namespace shapley::accounting
