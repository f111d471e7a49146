#include "accounting/state/state.hpp"

#include <algorithm>
#include <utility>

#include "accounting/estimators/left_out.hpp"
#include "accounting/events/event_check.hpp"
#include "accounting/state/ranking.hpp"
#include "accounting/state/state_impl.hpp"

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

void State::advance(Instant t) {
  // What is known of a run grows while it goes on, and with it what a closed period comes to.
  if (t > impl_->now) impl_->closed_stale = true;
  impl_->advance(t);
}

Instant State::now() const {
  return impl_->now;
}

std::vector<Standing> State::Impl::standings_of(std::size_t period, Instant t, const EstimatorSet& by) {
  put_back_held();
  const std::vector<game::UtilitySum>& got_sums = got.periods()[period].sums;
  const std::vector<Level>& period_levels = levels.periods()[period].rows;
  std::vector<Standing> standings(got_sums.size());
  for (std::size_t i = 0; i < standings.size(); ++i) {
    Standing& standing = standings[i];
    standing.organization = {static_cast<std::uint32_t>(i)};
    standing.psi = got_sums[i].utility_at(t);
    standing.got = got_sums[i].work_at(t);
    standing.used = got_sums[i].running();
    standing.owned = period_levels[i].owned;
    standing.waiting = period_levels[i].waiting;
    standing.lent = period_levels[i].lent;
    standing.borrowed = period_levels[i].borrowed;
  }
  std::vector<Credit> credits(standings.size());
  for (std::size_t e = 0; e < estimators.size(); ++e) {
    if (by.contains({static_cast<std::uint32_t>(e)})) {
      estimators[e]->contributions({.period = period, .t = t, .got = got_sums}, credits);
    } else {
      credit_as_got({.period = period, .t = t, .got = got_sums}, credits);
    }
    for (std::size_t i = 0; i < standings.size(); ++i) standings[i].credits[e] = credits[i];
  }
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (row_by_id[i].value == i) continue;
    standings[row_by_id[i].value] += standings[i];
    standings[i] = Standing{};
    standings[i].organization = {static_cast<std::uint32_t>(i)};
  }
  return standings;
}

Standing& Standing::operator+=(const Standing& part) {
  psi += part.psi;
  got += part.got;
  for (std::size_t e = 0; e < credits.size(); ++e) {
    credits[e].phi += part.credits[e].phi;
    credits[e].given += part.credits[e].given;
    credits[e].rate += part.credits[e].rate;
  }
  owned += part.owned;
  used += part.used;
  waiting += part.waiting;
  lent += part.lent;
  borrowed += part.borrowed;
  return *this;
}

std::optional<CooperationWorth> State::Impl::worth_in(std::size_t period, Instant t, const EstimatorSet& by) {
  put_back_held();
  for (std::uint32_t e = 0; e < estimators.size(); ++e) {
    if (!by.contains({e})) continue;
    auto worth = estimators[e]->worth({.period = period, .t = t, .got = got.periods()[period].sums}, row_by_id);
    if (!worth) continue;
    worth->begin = period == 0 ? std::min(first_event, t) : got.periods()[period].begin;
    return worth;
  }
  return std::nullopt;
}

const std::vector<ClosedPeriod>& State::Impl::closed_periods() {
  if (!closed_stale) return closed;
  closed.clear();
  for (std::size_t i = 0; i + 1 < got.periods().size(); ++i) {
    const PeriodSums::Period& period = got.periods()[i];
    const Instant begin = i == 0 ? std::min(first_event, period.end) : period.begin;
    closed.push_back({begin, period.end, standings_of(i, period.end, EstimatorSet::all())});
  }
  closed_stale = false;
  return closed;
}

PeriodSums State::Impl::got_by_forgotten() const {
  PeriodSums forgotten = got;
  for_each_remembered_piece([&](const Piece& piece) {
    forgotten.fold(-1, piece.organization, {piece.processors, piece.begin, piece.end});
  });
  return forgotten;
}

std::vector<std::string> State::Impl::sorted_names(const std::deque<Node>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Node& node : all) names.push_back(node.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Standing> State::standings(Instant t, const EstimatorSet& by) {
  impl_->advance(t);
  return impl_->standings_of(impl_->got.periods().size() - 1, impl_->now, by);
}

EstimatorSet State::kept() const {
  EstimatorSet kept;
  for (std::uint32_t e = 0; e < impl_->estimators.size(); ++e) {
    if (!impl_->estimators[e]->is_off()) kept.insert({e});
  }
  return kept;
}

EstimatorSet State::caught_up(Instant t, std::uint64_t effort) {
  impl_->advance(t);
  impl_->put_back_held();
  EstimatorSet able;
  for (std::uint32_t e = 0; e < impl_->estimators.size(); ++e) {
    Estimator& estimator = *impl_->estimators[e];
    if (!estimator.is_off() && estimator.catch_up(impl_->now, effort)) able.insert({e});
  }
  return able;
}

void State::leave_out(EstimatorId estimator) {
  impl_->options.left_out.insert(estimator);
  // Those of a memory alone are gone already.
  if (estimator.value < impl_->estimators.size()) impl_->estimators[estimator.value] = make_left_out();
  impl_->closed_stale = true;
}

const std::vector<ClosedPeriod>& State::closed_periods() const {
  return impl_->closed_periods();
}

std::optional<CooperationWorth> State::worth(Instant t, const EstimatorSet& by) {
  impl_->advance(t);
  return impl_->worth_in(impl_->got.periods().size() - 1, impl_->now, by);
}

std::optional<CooperationWorth> State::closed_worth(std::size_t i) {
  return impl_->worth_in(i, impl_->got.periods()[i].end, EstimatorSet::all());
}

Instant State::period_begin() const {
  if (!impl_->boundaries.empty()) return impl_->boundaries.back();
  return impl_->first_event == k_end_of_time ? k_beginning_of_time : impl_->first_event;
}

Period State::period() const {
  return impl_->period_rules.rule_at(impl_->now);
}

Instant State::next_dated_change() const {
  const Instant hand_over = impl_->hand_overs.empty() ? k_end_of_time : impl_->hand_overs.begin()->first;
  return std::min(hand_over, impl_->next_boundary);
}

const std::vector<std::string>& State::organizations() const {
  return impl_->organizations.names();
}

std::optional<OrgId> State::find_organization(std::string_view name) const {
  const auto id = impl_->organizations.find(name);
  return id ? std::optional(row_of(*id)) : std::nullopt;
}

OrgId State::row_of(OrgId organization) const {
  return impl_->row_of(organization);
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

namespace {

// The last one of before or at t; nullptr: none.
template <typename Fact>
const Fact* in_force(const std::set<Fact, ByIdentity>& facts, Instant t) {
  const auto later = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.at > t; });
  return later == facts.begin() ? nullptr : &*std::prev(later);
}

}  // namespace

RankingDeclared State::ranking_rule() const {
  const RankingDeclared* rule = in_force(impl_->kept.all<RankingDeclared>(), now());
  return rule == nullptr ? published_rule() : *rule;
}

const ResidualMeasured* State::residual_measured() const {
  return in_force(impl_->kept.all<ResidualMeasured>(), now());
}

const HindsightBounded* State::hindsight_bounded() const {
  const auto& all = impl_->kept.all<HindsightBounded>();
  return all.empty() ? nullptr : &*all.rbegin();
}

std::size_t State::bytes_of(EstimatorId estimator) const {
  return estimator.value < impl_->estimators.size() ? impl_->estimators[estimator.value]->bytes() : 0;
}

game::KeyTerms State::key_terms() const {
  const ResidualMeasured* measured = residual_measured();
  return accounting::key_terms(ranking_rule(),
                               measured == nullptr ? game::k_assumed_residual : Duration{measured->seconds});
}

std::vector<Rank> State::ranking(Instant t, std::optional<EstimatorId> estimator) {
  impl_->advance(t);
  const RankingDeclared rule = ranking_rule();
  if (!estimator) estimator = parse_estimator(rule.contribution).value_or(k_default_estimator);
  estimator = acting(*estimator, kept());
  const std::vector<Standing> rows = impl_->standings_of(impl_->got.periods().size() - 1, impl_->now, {*estimator});
  std::vector<OrgId> order = configured_order();
  std::erase(order, k_commons_id);
  return rank(rows, order, organizations(), rule, key_terms(), *estimator);
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
  impl_->for_each_remembered([&](const SegmentRecord& record) { impl_->note_start(record, starts); });
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Instant& row = starts[impl_->row_by_id[i].value];
    row = std::max(row, starts[i]);
  }
  return starts;
}

const LiveSegment* State::find_segment(const SegmentKey& key) const {
  const SegmentRecord* record = impl_->find(key);
  return record != nullptr && record->counts() ? &record->live : nullptr;
}

const JobMemory* State::find_job(JobId job) const {
  const auto it = impl_->jobs.find(job);
  if (it == impl_->jobs.end()) return nullptr;
  const JobRecord& record = it->second;
  return record.memory.segments.empty() && !record.memory.description ? nullptr : &record.memory;
}

std::vector<JobId> State::jobs_with_open_segments() const {
  std::vector<JobId> open;
  for (const auto& [id, job] : impl_->jobs) {
    if (std::any_of(job.segments.begin(), job.segments.end(),
                    [](const SegmentRecord& record) { return record.counts() && !record.live.end; })) {
      open.push_back(id);
    }
  }
  std::sort(open.begin(), open.end());
  return open;
}

std::vector<JobId> State::tasks_of(JobId array) const {
  std::vector<JobId> tasks;
  const auto known = impl_->tasks.find(array);
  if (known == impl_->tasks.end()) return tasks;
  for (const JobId task : known->second) {
    // Its number may have gone to another job since.
    const JobMemory* memory = find_job(task);
    if (memory != nullptr && memory->array == array) tasks.push_back(task);
  }
  return tasks;
}

const CapacityChanged* State::last_capacity(std::string_view node) const {
  const auto index = impl_->node_index.find(node);
  if (index == impl_->node_index.end()) return nullptr;
  const Node& known = impl_->nodes[index->second];
  return known.capacities.empty() ? nullptr : &known.capacities.back();
}

std::optional<MicroProcessors> State::capacity(std::string_view node) const {
  const CapacityChanged* last = last_capacity(node);
  return last == nullptr ? std::nullopt : std::optional(last->processors);
}

std::vector<std::string> State::nodes() const {
  return Impl::sorted_names(impl_->nodes);
}

const PlacementResolved* State::last_placement(std::string_view placement) const {
  const auto known = impl_->placements.find(placement);
  return known == impl_->placements.end() ? nullptr : known->second.last();
}

std::vector<std::string> State::placements() const {
  std::vector<std::string> names;
  for (const auto& [name, placement] : impl_->placements) {
    if (placement.uses > 0) names.push_back(name);
  }
  return names;
}

std::vector<std::string> State::resolved_placements() const {
  std::vector<std::string> names;
  for (const auto& [name, placement] : impl_->placements) {
    if (placement.last() != nullptr && !placement.last()->nodes.empty()) names.push_back(name);
  }
  return names;
}

std::map<std::string, PlacementUse, std::less<>> State::placement_uses() const {
  std::map<std::string, PlacementUse, std::less<>> uses;
  impl_->for_each_remembered([&](const SegmentRecord& record) {
    const SegmentOpened& opened = record.live.opened;
    if (opened.placement.empty()) return;
    PlacementUse& use = uses[opened.placement];
    const PlacementResolved* last = last_placement(opened.placement);
    if (last == nullptr || record.end() > last->at) use.since = std::min(use.since, opened.begin);
    if (!record.live.end) use.demand[impl_->organization_of(record)] += opened.processors;
  });
  return uses;
}

void State::visit_pieces(Instant from, Instant until, const VisitPiece& visit) const {
  for (const Node& node : impl_->nodes) {
    impl_->for_each_held_on(node, from, [&](const SegmentRecord& run, const Work& held) {
      const Work clipped{held.processors, std::max(held.begin, from), std::min(held.end, until)};
      if (clipped.begin >= clipped.end) return;
      impl_->for_each_piece(node, impl_->organization_of(run), clipped, 1,
                            [&](const Piece& piece) { visit(run.live.opened.key, impl_->in_rows(piece)); });
    });
  }
}

void State::visit_waits(Instant from, Instant until, const VisitWait& visit) const {
  impl_->for_each_remembered([&](const SegmentRecord& record) {
    const SegmentOpened& opened = record.live.opened;
    if (opened.key.kind != SegmentKind::wait) return;
    const Duration length = std::min(record.end(), until) - std::max(opened.begin, from);
    if (length.value > 0) visit(row_of(impl_->organization_of(record)), opened.processors, length);
  });
}

bool State::compact(Instant keep, std::uint64_t effort) {
  return impl_->compact(keep, effort);
}

Instant State::horizon() const {
  return impl_->horizon;
}

std::size_t State::remembered_jobs() const {
  return impl_->jobs.size();
}

void State::keep_memory_only(Instant known_until) {
  // Estimators must not hear of what is before their horizon. The sums of psi and the levels bear it, and nobody asks.
  impl_->memory_only = true;
  impl_->horizon = std::min(impl_->horizon, known_until);
  impl_->estimators.clear();
}

}  // namespace shapley::accounting
