// The rules that are in force, and the ranks that follow from them.
#include <algorithm>
#include <iterator>
#include <set>

#include "accounting/state/consortium.hpp"
#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "accounting/state/state_impl.hpp"

namespace shapley::accounting {

namespace {

// The last one at or before t; nullptr: no such fact.
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

const HindsightDefined* State::hindsight_defined() const {
  return in_force(impl_->kept.all<HindsightDefined>(), now());
}

bool State::start_whole_since(Instant from) const {
  return impl_->kinds.start_whole_throughout(from, now());
}

Duration State::residual() const {
  const ResidualMeasured* measured = residual_measured();
  return measured == nullptr ? game::k_assumed_residual : Duration{measured->seconds};
}

game::KeyTerms State::key_terms() const {
  return accounting::key_terms(ranking_rule(), residual());
}

std::vector<RankRow> State::own_rank_rows(EstimatorId estimator) const {
  estimator = acting(estimator, kept());
  const std::vector<Standing> standings = impl_->present_standings({estimator});
  const RankingDeclared rule = ranking_rule();
  std::vector<RankRow> rows;
  for (const OrgId id : configured_order()) {
    if (id == k_commons_id) continue;  // it runs nothing
    const Standing& standing = standings[id.value];
    const std::string& name = organizations()[id.value];
    rows.push_back({.organization = name,
                    .figures = figures_of(standing, estimator),
                    .owned = standing.owned,
                    .pooled = standing.owned,
                    .used = standing.used,
                    .waiting = standing.waiting,
                    .guarantee = guarantee_of(rule, name).millionths,
                    .last = id == k_guests_id && rule.guests == Guests::last});
  }
  return rows;
}

ProcessorMillionths State::whole_processors() const {
  ProcessorMillionths sum;
  for (std::uint32_t i = 0; i < impl_->nodes.size(); ++i) {
    const Measured worth = impl_->nodes[i].last_worth();
    const Measured now = impl_->nodes[i].offer_before(k_end_of_time).amount;
    sum += std::max({worth.charged, worth.blocked, now.charged, now.blocked});
  }
  return sum;
}

const ConsortiumDeclared* State::consortium() const {
  return in_force(impl_->kept.all<ConsortiumDeclared>(), now());
}

std::vector<const StandingReceived*> State::statements() const {
  std::vector<const StandingReceived*> statements;
  const auto is_given_up = [&](const StandingReceived& statement) {
    return std::ranges::any_of(impl_->kept.all<LedgerReplaced>(), [&](const LedgerReplaced& replaced) {
      return !replaced.reason.empty() && replaced.cluster == statement.cluster && replaced.at > statement.at;
    });
  };
  for (const StandingReceived& statement : impl_->kept.all<StandingReceived>()) {
    if (!is_given_up(statement)) statements.push_back(&statement);
  }
  return statements;
}

std::vector<LedgerReplaced> State::replaced_ledgers() const {
  const auto& all = impl_->kept.all<LedgerReplaced>();
  return {all.begin(), all.end()};
}

std::vector<ClusterShare> State::shares_elsewhere(std::span<const StandingReceived* const> by) const {
  const ConsortiumDeclared* declared = consortium();
  if (declared == nullptr) return {};
  return shares_of(*declared, by, residual(), period(), now());
}

std::vector<RankRow> State::rank_rows(EstimatorId estimator) const {
  return rank_rows(estimator, statements());
}

std::vector<RankRow> State::rank_rows(EstimatorId estimator, std::span<const StandingReceived* const> by) const {
  std::vector<RankRow> rows = own_rank_rows(estimator);
  for (const ClusterShare& share : shares_elsewhere(by)) {
    for (const FiguresElsewhere& there : share.organizations) {
      const auto organization = find_organization(there.organization);
      if (!organization) continue;  // it has no jobs on this cluster
      const auto row = std::ranges::find(rows, organizations()[organization->value], &RankRow::organization);
      if (row == rows.end()) continue;
      row->figures += there.figures;
      row->pooled += there.owned;
    }
  }
  return rows;
}

std::vector<ProcessorMillionths> State::Impl::owned_besides(const NodeNames& away) const {
  std::vector<ProcessorMillionths> more(organizations.names().size());
  for (const std::string& name : away) {
    const auto index = nodes.find(name);
    if (!index) continue;
    const Offer now = nodes[*index].offer_before(k_end_of_time);
    const ProcessorMillionths whole = nodes[*index].last_worth().blocked;
    if (whole <= now.amount.blocked) continue;
    // Each is split, and not their difference, because parts are rounded.
    split_among(*now.owners, whole,
                [&](OrgId owner, ProcessorMillionths part) { more[accounts.row_of(owner).value] += part; });
    split_among(*now.owners, now.amount.blocked,
                [&](OrgId owner, ProcessorMillionths part) { more[accounts.row_of(owner).value] -= part; });
  }
  return more;
}

std::vector<Rank> State::ranking(std::optional<EstimatorId> estimator, const NodeNames& away) const {
  if (!estimator) estimator = parse_estimator(ranking_rule().contribution).value_or(k_default_estimator);
  const std::vector<RankRow> rows = rank_rows(*estimator);
  std::vector<ProcessorMillionths> besides;
  if (!away.empty()) {
    const std::vector<ProcessorMillionths> more = impl_->owned_besides(away);
    for (const RankRow& row : rows) besides.push_back(more[find_organization(row.organization)->value]);
  }
  return rank(rows, key_terms(), besides);
}

}  // namespace shapley::accounting
