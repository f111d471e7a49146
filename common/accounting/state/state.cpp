#include "accounting/state/state.hpp"

#include <algorithm>
#include <utility>

#include "accounting/events/event_check.hpp"
#include "accounting/state/state_impl.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

State::State(StateOptions options) : impl_(std::make_unique<Impl>(options)) {}
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;

Expected<Applied> State::apply(const Event& event) {
  SHAPLEY_TRY(check(event));
  auto verdict = impl_->validate(event);
  if (!verdict || *verdict != Applied::changed) return verdict;
  impl_->advance(time_of(event));
  impl_->fold(event);
  impl_->closed_stale = true;
  return verdict;
}

bool State::is_too_old(const Event& event) const {
  const auto verdict = impl_->validate(event);
  return verdict && *verdict == Applied::needs_replay;
}

State& State::advance(Instant t) {
  impl_->advance(t);
  return *this;
}

Instant State::now() const {
  return impl_->present.now;
}

std::vector<Standing> State::Impl::present_standings(const EstimatorSet& by) {
  return accounts.standings(accounts.present_period(), present.now, by);
}

const std::vector<ClosedPeriod>& State::Impl::closed_periods() {
  if (!closed_stale) return closed;
  closed.clear();
  const std::vector<PeriodSums::Period>& periods = accounts.got().periods();
  for (std::size_t i = 0; i + 1 < periods.size(); ++i) {
    const Instant begin = i == 0 ? std::min(present.first_event, periods[i].end) : periods[i].begin;
    closed.push_back({begin, periods[i].end, accounts.standings(i, periods[i].end, EstimatorSet::all())});
  }
  closed_stale = false;
  return closed;
}

std::vector<Standing> State::standings(const EstimatorSet& by) const {
  return impl_->present_standings(by);
}

EstimatorSet State::kept() const {
  return impl_->accounts.kept();
}

EstimatorSet State::catch_up(std::uint64_t effort) {
  return impl_->accounts.catch_up(impl_->present.now, effort);
}

void State::leave_out(EstimatorId estimator) {
  impl_->options.left_out.insert(estimator);
  impl_->accounts.leave_out(estimator);
  impl_->closed_stale = true;
}

const std::vector<ClosedPeriod>& State::closed_periods() const {
  return impl_->closed_periods();
}

std::optional<CooperationWorth> State::worth(const EstimatorSet& by) const {
  const Present& present = impl_->present;
  return impl_->accounts.worth(impl_->accounts.present_period(), present.now, by, present.first_event);
}

std::optional<CooperationWorth> State::closed_worth(std::size_t i) const {
  SHAPLEY_REQUIRE(i + 1 < impl_->accounts.got().periods().size());
  const Instant end = impl_->accounts.got().periods()[i].end;
  return impl_->accounts.worth(i, end, EstimatorSet::all(), impl_->present.first_event);
}

Instant State::begin() const {
  return impl_->present.first_event;
}

Instant State::period_begin() const {
  if (!impl_->accounts.boundaries().empty()) return impl_->accounts.boundaries().back();
  return impl_->present.first_event == k_end_of_time ? k_beginning_of_time : impl_->present.first_event;
}

Period State::period() const {
  return impl_->accounts.rules().rule_at(impl_->present.now);
}

Instant State::next_dated_change() const {
  return std::min(impl_->nodes.next_hand_over(), impl_->accounts.next_boundary());
}

const std::vector<std::string>& State::organizations() const {
  return impl_->organizations.names();
}

std::optional<OrgId> State::find_organization(std::string_view name) const {
  const auto id = impl_->organizations.find(name);
  return id ? std::optional(row_of(*id)) : std::nullopt;
}

OrgId State::row_of(OrgId organization) const {
  return impl_->accounts.row_of(organization);
}

std::vector<OrgId> State::configured_order() const {
  std::vector<OrgId> order = impl_->organizations.configured_order();
  std::erase_if(order, [this](OrgId id) { return row_of(id) != id; });
  return order;
}

std::vector<AdjustmentMade> State::adjustments() const {
  const auto& all = impl_->kept.all<AdjustmentMade>();
  return {all.begin(), all.end()};
}

std::size_t State::bytes_of_coalitions() const {
  return impl_->accounts.bytes_of_coalitions();
}

std::uint64_t State::owners_epoch() const {
  return impl_->nodes.owners_epoch();
}

std::vector<OwnedNodes> State::owned_nodes() const {
  std::map<std::vector<std::pair<OrgId, std::int64_t>>, std::vector<std::string>> by_owners;
  for (const Node& node : impl_->nodes) {
    std::vector<std::pair<OrgId, std::int64_t>> owners;
    for (const OwnerShare& share : node.ownership.in_force().back().owners)
      owners.emplace_back(share.owner, share.parts_per_million);
    by_owners[std::move(owners)].push_back(node.name);
  }
  std::vector<OwnedNodes> owned;
  for (auto& [owners, nodes] : by_owners) {
    OwnedNodes& same = owned.emplace_back(OwnedNodes{std::move(nodes), {}});
    for (const auto& [owner, parts] : owners) same.owners.push_back({organizations()[owner.value], parts});
  }
  return owned;
}

std::vector<ObservationsMistimed> State::mistimed_observations() const {
  const auto& all = impl_->kept.all<ObservationsMistimed>();
  return {all.begin(), all.end()};
}

std::vector<ObservationGap> State::observation_gaps() const {
  const auto& all = impl_->kept.all<ObservationGap>();
  return {all.begin(), all.end()};
}

std::vector<StateLost> State::state_losses() const {
  const auto& all = impl_->kept.all<StateLost>();
  return {all.begin(), all.end()};
}

std::vector<HistoryImported> State::imports() const {
  const auto& all = impl_->kept.all<HistoryImported>();
  return {all.begin(), all.end()};
}

std::vector<ChargeDeclared> State::charges() const {
  const auto& all = impl_->kept.all<ChargeDeclared>();
  return {all.begin(), all.end()};
}

UserNames State::user_names() const {
  UserNames names;
  for (const UserNamed& user : impl_->kept.all<UserNamed>()) names[user.user_id] = user.name;  // ascending by time
  return names;
}

bool State::is_called(const UserNamed& user) const {
  const UserNamed* last = nullptr;
  for (const UserNamed& each : impl_->kept.all<UserNamed>()) {
    if (each.user_id == user.user_id) last = &each;
  }
  return last != nullptr && (last->at >= user.at || last->name == user.name);
}

const ClusterNamed* State::cluster() const {
  const auto& names = impl_->kept.all<ClusterNamed>();
  return names.empty() ? nullptr : &*names.rbegin();
}

const ControllerBegan* State::last_beginning() const {
  const auto& all = impl_->kept.all<ControllerBegan>();
  return all.empty() ? nullptr : &*all.rbegin();
}

std::vector<Instant> State::last_starts() const {
  std::vector<Instant> starts = impl_->forgotten_starts;
  impl_->jobs.for_each_counted([&](const SegmentRecord& record) { impl_->note_start(record, starts); });
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Instant& row = starts[impl_->accounts.rows()[i].value];
    row = std::max(row, starts[i]);
  }
  return starts;
}

const LiveSegment* State::find_segment(const SegmentKey& key) const {
  const SegmentRecord* record = impl_->jobs.find(key);
  return record != nullptr && record->counts() ? &record->live : nullptr;
}

const JobMemory* State::find_job(JobId job) const {
  const RememberedJob* known = impl_->jobs.find(job);
  if (known == nullptr || (known->memory.segments.empty() && !known->memory.description)) return nullptr;
  return &known->memory;
}

std::vector<JobId> State::jobs_with_open_segments() const {
  return impl_->jobs.with_open_segments();
}

std::vector<JobId> State::tasks_of(JobId array) const {
  return impl_->jobs.tasks_of(array);
}

const CapacityChanged* State::last_capacity(std::string_view node) const {
  const auto index = impl_->nodes.find(node);
  if (!index || impl_->nodes[*index].capacities.empty()) return nullptr;
  return &impl_->nodes[*index].capacities.back();
}

std::optional<ProcessorMillionths> State::capacity(std::string_view node) const {
  const CapacityChanged* last = last_capacity(node);
  return last == nullptr ? std::nullopt : std::optional(last->processors);
}

std::vector<std::string> State::nodes() const {
  return impl_->nodes.names();
}

const PlacementResolved* State::last_placement(std::string_view placement) const {
  const PlacementHistory* known = impl_->placements.find(placement);
  return known == nullptr ? nullptr : known->last();
}

std::vector<std::string> State::placements() const {
  return impl_->placements.in_use();
}

std::vector<std::string> State::resolved_placements() const {
  return impl_->placements.resolved();
}

std::map<std::string, PlacementUse, std::less<>> State::placement_uses() const {
  std::map<std::string, PlacementUse, std::less<>> uses;
  impl_->jobs.for_each_counted([&](const SegmentRecord& record) {
    const SegmentOpened& opened = record.live.opened;
    if (opened.placement.empty()) return;
    PlacementUse& use = uses[opened.placement];
    const PlacementResolved* last = last_placement(opened.placement);
    if (last == nullptr || record.end() > last->at) use.since = std::min(use.since, opened.begin);
    if (!record.live.end) use.demand[impl_->posting.organization_of(record)] += opened.processors;
  });
  return uses;
}

void State::visit_pieces(Instant from, Instant until, const VisitPiece& visit) const {
  SHAPLEY_REQUIRE(from >= memory_horizon() && until <= now());
  impl_->posting.for_each_held_during(
      from, until, [&](const SegmentRecord& run, const Piece& piece) { visit(run.live.opened.key, piece); });
}

void State::visit_nodes(Instant from, Instant until, const VisitNode& visit) const {
  SHAPLEY_REQUIRE(from >= memory_horizon() && until <= now());
  for (const Node& node : impl_->nodes) {
    node.for_each_offer(from, until, [&](Instant begin, Instant end, const Offer& offer) {
      const Measured worth = offer.known == nullptr ? Measured{} : worth_of(*offer.known);
      NodeStretch stretch{.node = node.name,
                          .begin = begin,
                          .end = end,
                          .known = offer.known,
                          .offered = offer.amount.charged,
                          .whole = std::max(worth.charged, offer.amount.charged),
                          .owners = {}};
      for (const OwnerShare& share : *offer.owners)
        stretch.owners.emplace_back(row_of(share.owner), share.parts_per_million);
      visit(stretch);
    });
  }
}

std::vector<ProcessorMillionths> State::down() const {
  std::vector<ProcessorMillionths> down(organizations().size());
  for (const Node& node : impl_->nodes) {
    node.for_each_offer(now(), now() + Duration{1}, [&](Instant, Instant, const Offer& offer) {
      if (offer.known == nullptr) return;
      const ProcessorMillionths missing = worth_of(*offer.known).blocked - offer.amount.blocked;
      if (missing.value <= 0) return;
      split_among(*offer.owners, missing,
                  [&](OrgId owner, ProcessorMillionths part) { down[row_of(owner).value] += part; });
    });
  }
  return down;
}

void State::visit_runs(Instant from, Instant until, const VisitRun& visit) const {
  SHAPLEY_REQUIRE(from >= memory_horizon() && until <= now());
  impl_->jobs.for_each_counted([&](const SegmentRecord& record) {
    const SegmentOpened& opened = record.live.opened;
    if (opened.key.kind != SegmentKind::run || opened.begin >= until) return;
    if (record.end() > from || opened.begin >= from) visit(record.live, row_of(impl_->posting.organization_of(record)));
  });
}

void State::visit_waits(Instant from, Instant until, const VisitLevel& visit) const {
  SHAPLEY_REQUIRE(from >= memory_horizon() && until <= now());
  impl_->jobs.for_each_counted([&](const SegmentRecord& record) {
    const SegmentOpened& opened = record.live.opened;
    if (opened.key.kind != SegmentKind::wait) return;
    const Instant begin = std::max(opened.begin, from);
    const Instant end = std::min(record.end(), until);
    if (begin < end) visit(row_of(impl_->posting.organization_of(record)), opened.processors, begin, end);
  });
}

bool State::compact(Instant keep, std::uint64_t effort) {
  SHAPLEY_REQUIRE(!impl_->memory_only);
  return impl_->compact(keep, effort);
}

Instant State::memory_horizon() const {
  return impl_->present.memory_horizon;
}

std::size_t State::remembered_jobs() const {
  return impl_->jobs.size();
}

void State::keep_memory_only(Instant known_until) {
  // Estimators must not receive facts from before their horizon. The sums of psi and the levels may; they are not read.
  impl_->memory_only = true;
  impl_->present.memory_horizon = std::min(impl_->present.memory_horizon, known_until);
  impl_->accounts.replace_estimators({});
}

}  // namespace shapley::accounting
