#include "accounting/state/state.hpp"

#include <algorithm>
#include <utility>

#include "accounting/events/event_check.hpp"
#include "accounting/state/ranking.hpp"
#include "accounting/state/state_impl.hpp"

namespace shapley::accounting {

std::string_view name_of(Contribution contribution) {
  return contribution == Contribution::direct_contr ? "direct_contr" : "shapley_rate";
}

std::optional<Contribution> parse_contribution(std::string_view name) {
  for (const Contribution contribution : {Contribution::direct_contr, Contribution::shapley_rate}) {
    if (name == name_of(contribution)) return contribution;
  }
  return std::nullopt;
}

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

void State::advance(Instant t) {
  impl_->advance(t);
}

Instant State::now() const {
  return impl_->now;
}

std::vector<Standing> State::Impl::standings_of(const Books::PeriodAccounts& period, const std::vector<RateRow>& rows,
                                                Instant t) const {
  std::vector<Standing> standings(period.accounts.size());
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const Account& account = period.accounts[i];
    const RateRow row = i < rows.size() ? rows[i] : RateRow{};
    Standing& standing = standings[i];
    standing.organization = {static_cast<std::uint32_t>(i)};
    standing.psi = account.got.utility_at(t);
    standing.phi_direct = account.given.utility_at(t);
    standing.phi_rate = row.given.utility_at(t);
    standing.got = account.got.work_at(t);
    standing.given_direct = account.given.work_at(t);
    standing.given_rate = row.given.work_at(t);
    standing.owned = row.owned;
    standing.used = account.got.running();
    standing.waiting = row.waiting;
    standing.lent = account.given.running() - account.on_own;
    standing.borrowed = account.got.running() - account.on_own;
  }
  return standings;
}

const std::vector<ClosedPeriod>& State::Impl::closed_periods() {
  if (!closed_stale) return closed;
  closed.clear();
  (void)rates.evaluate(now);
  for (std::size_t i = 0; i + 1 < books.periods().size(); ++i) {
    const Books::PeriodAccounts& period = books.periods()[i];
    const Instant begin = i == 0 ? std::min(first_event, period.end) : period.begin;
    closed.push_back({begin, period.end, standings_of(period, rates.closed_periods()[i], period.end)});
  }
  closed_stale = false;
  return closed;
}

std::vector<Standing> State::standings(Instant t) {
  impl_->advance(t);
  const RateSnapshot& rates = impl_->rates.evaluate(impl_->now);
  return impl_->standings_of(impl_->books.current(), rates.rows, impl_->now);
}

const std::vector<ClosedPeriod>& State::closed_periods() const {
  return impl_->closed_periods();
}

Instant State::period_begin() const {
  if (!impl_->boundaries.empty()) return impl_->boundaries.back();
  return impl_->first_event == k_end_of_time ? k_beginning_of_time : impl_->first_event;
}

Period State::period() const {
  return impl_->period_rules.rule_at(impl_->now);
}

const std::vector<std::string>& State::organizations() const {
  return impl_->organizations.names();
}

std::optional<OrgId> State::find_organization(std::string_view name) const {
  return impl_->organizations.find(name);
}

std::vector<OrgId> State::configured_order() const {
  return impl_->organizations.configured_order();
}

RankingDeclared State::ranking_rule() const {
  const auto& rules = impl_->kept.all<RankingDeclared>();
  const auto later = std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.at > now(); });
  return later == rules.begin() ? published_rule() : *std::prev(later);
}

std::vector<Rank> State::ranking(Instant t, std::optional<Contribution> contribution) {
  const std::vector<Standing> rows = standings(t);
  const RankingDeclared rule = ranking_rule();
  if (!contribution) contribution = parse_contribution(rule.contribution);
  std::vector<OrgId> order = configured_order();
  std::erase(order, k_commons_id);
  return rank(rows, order, organizations(), rule, contribution.value_or(Contribution::direct_contr));
}

const LiveSegment* State::find_segment(const SegmentKey& key) const {
  const SegmentRecord* record = impl_->find(key);
  return record != nullptr && record->counts() ? &record->live : nullptr;
}

const JobMemory* State::find_job(JobId job) const {
  const auto it = impl_->jobs.find(job);
  if (it == impl_->jobs.end()) return nullptr;
  const JobRecord& record = it->second;
  return record.memory.segments.empty() && record.descriptions.empty() ? nullptr : &record.memory;
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

std::optional<MicroProcessors> State::capacity(std::string_view node) const {
  const auto index = impl_->node_index.find(node);
  if (index == impl_->node_index.end()) return std::nullopt;
  const Node& known = impl_->nodes[index->second];
  if (known.capacities.empty()) return std::nullopt;
  return known.capacities.back().processors;
}

std::vector<std::string> State::nodes() const {
  return Impl::sorted_names(impl_->nodes);
}

void State::compact() {
  impl_->compact();
}

Instant State::horizon() const {
  return impl_->horizon;
}

}  // namespace shapley::accounting
