#include "ledger/reports/other_clusters.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "accounting/state/consortium.hpp"
#include "ledger/consortium/standing.hpp"
#include "reports/amounts.hpp"

namespace shapley::ledger {

namespace {

// Ranks here do not count an organization that the books do not know, so it is not shown either.
std::map<std::string, CpuTime> owed_by(const accounting::State& state, const accounting::ClusterShare& share) {
  std::map<std::string, CpuTime> owed;
  for (const accounting::FiguresElsewhere& there : share.organizations) {
    if (const auto row = state.find_organization(there.organization))
      owed[state.organizations()[row->value]] += there.figures.given_less_got;
  }
  return owed;
}

// The figures without what these shares add.
void take_off(accounting::RankRow& row, std::span<const ShareElsewhere> shares, const std::string* only) {
  for (const ShareElsewhere& share : shares) {
    if (share.organization != row.organization || (only != nullptr && share.cluster != *only)) continue;
    row.figures.balance -= share.figures.balance;
    row.figures.given_less_got -= share.figures.given_less_got;
    row.figures.rate_less_used -= share.figures.rate_less_used;
    row.pooled -= share.owned;
  }
}

// The shares once the line is accepted, of which `next` is a statement.
std::vector<accounting::ClusterShare> shares_after(const accounting::State& state,
                                                   const accounting::LedgerReplaced& accepted,
                                                   const accounting::StandingReceived* next) {
  if (state.consortium() == nullptr) return {};
  accounting::ConsortiumDeclared declared = *state.consortium();
  end_earlier_weights(declared, accepted);
  return accounting::shares_of(declared, {&next, 1}, state.residual(), state.period(), state.now());
}

// The one of these rows with the greatest key, those that go last left out; nullopt: no row is left.
std::optional<std::size_t> greatest_key(const accounting::Outlook& outlook) {
  std::optional<std::size_t> greatest;
  for (std::size_t i = 0; i < outlook.rows.size(); ++i) {
    if (outlook.rows[i].last) continue;
    if (!greatest ||
        accounting::key_after(outlook, i, Duration{0}) > accounting::key_after(outlook, *greatest, Duration{0}))
      greatest = i;
  }
  return greatest;
}

}  // namespace

std::vector<OtherClusterReport> other_clusters(const accounting::State& state) {
  std::vector<OtherClusterReport> clusters;
  for (const accounting::ClusterShare& share : state.shares_elsewhere()) {
    OtherClusterReport& report = clusters.emplace_back();
    report.cluster = share.cluster;
    if (share.statement == nullptr) continue;
    report.stated_at = share.statement->figures.time;
    report.stands_still = share.stale_at;
    report.is_stale = share.stale_at <= state.now();
    for (const accounting::FiguresElsewhere& there : share.organizations) {
      if (there.figures != accounting::KeyFigures{} && !state.find_organization(there.organization))
        report.uncounted.push_back(there.organization);
    }
    for (const auto& [name, work] : owed_by(state, share)) report.organizations.push_back({name, core_hours(work)});
  }
  return clusters;
}

std::vector<ShareElsewhere> shares_elsewhere(const accounting::State& state) {
  std::vector<ShareElsewhere> shares;
  for (const accounting::ClusterShare& cluster : state.shares_elsewhere()) {
    for (const accounting::FiguresElsewhere& there : cluster.organizations) {
      if (const auto row = state.find_organization(there.organization))
        shares.push_back({cluster.cluster, state.organizations()[row->value], there.figures, there.owned});
    }
  }
  return shares;
}

std::vector<std::string> deciding_clusters(const accounting::Outlook& outlook, std::span<const ShareElsewhere> shares,
                                           std::size_t first, std::size_t second) {
  if (shares.empty() || std::max(first, second) >= outlook.rows.size()) return {};
  const bool is_in_order = first < second;
  const accounting::Outlook pair{
      .at = outlook.at,
      .until = outlook.until,
      .by_date = outlook.by_date,
      .terms = outlook.terms,
      .rows = {outlook.rows[std::min(first, second)], outlook.rows[std::max(first, second)]}};
  std::vector<ShareElsewhere> of_pair;
  std::vector<std::string> clusters;
  for (const ShareElsewhere& share : shares) {
    if (share.organization != pair.rows[0].organization && share.organization != pair.rows[1].organization) continue;
    of_pair.push_back(share);
    if (std::ranges::find(clusters, share.cluster) == clusters.end()) clusters.push_back(share.cluster);
  }
  const auto turns_without = [&](const std::string* cluster) {
    accounting::Outlook otherwise = pair;
    for (accounting::RankRow& row : otherwise.rows) take_off(row, of_pair, cluster);
    return accounting::goes_first(otherwise, is_in_order ? 1 : 0, is_in_order ? 0 : 1, Duration{0});
  };
  if (!turns_without(nullptr)) return {};
  std::vector<std::string> each;
  std::ranges::copy_if(clusters, std::back_inserter(each),
                       [&](const std::string& cluster) { return turns_without(&cluster); });
  return each.empty() ? clusters : each;
}

LineReport line_report(const accounting::State& state, const accounting::LedgerReplaced& accepted,
                       const accounting::StandingReceived& first) {
  LineReport report{.cluster = accepted.cluster,
                    .former_ledger = accepted.former_ledger,
                    .former_event = accepted.former_event,
                    .former_time = {},
                    .ledger = accepted.ledger,
                    .event = accepted.event,
                    .time = first.figures.time,
                    .author = accepted.author,
                    .reason = accepted.reason,
                    .in = unit_of(state.charges(), state.period_begin(), state.now())};
  std::map<std::string, std::pair<CpuTime, CpuTime>> owed;
  for (const accounting::ClusterShare& share : state.shares_elsewhere()) {
    if (share.cluster != accepted.cluster || share.statement == nullptr) continue;
    report.former_time = share.statement->figures.time;
    for (const auto& [name, work] : owed_by(state, share)) owed[name].first = work;
  }
  const accounting::StandingReceived* const next = &first;
  for (const accounting::ClusterShare& share : shares_after(state, accepted, next)) {
    if (share.cluster != accepted.cluster) continue;
    for (const auto& [name, work] : owed_by(state, share)) owed[name].second = work;
  }
  for (const auto& [name, works] : owed)
    report.organizations.push_back({name, core_hours(works.first), core_hours(works.second)});
  return report;
}

std::string states_text(const std::vector<std::string>& clusters) {
  std::string text;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    text += (i == 0 ? "" : i + 1 == clusters.size() ? " and " : ", ") + clusters[i];
  return text + (clusters.size() == 1 ? " states" : " state");
}

std::string sentence_of_clusters(const accounting::State& state, accounting::EstimatorId estimator) {
  const std::vector<ShareElsewhere> shares = shares_elsewhere(state);
  if (shares.empty()) return "";
  accounting::Outlook outlook = accounting::outlook(state, estimator);
  const accounting::Outlook in_force = outlook;
  // Keys alone decide what is said here, and not who is below a guarantee.
  for (accounting::RankRow& row : outlook.rows) row.waiting = {};
  accounting::Outlook alone = outlook;
  alone.rows = state.own_rank_rows(estimator);
  const auto first = greatest_key(outlook);
  const auto other = greatest_key(alone);
  if (!first || !other || first == other || !accounting::goes_first(in_force, *first, *other, Duration{0})) return "";
  const std::vector<std::string> clusters = deciding_clusters(outlook, shares, *first, *other);
  if (clusters.empty()) return "";
  return fmt::format("{} goes before {} because of what {}: by the books of this cluster alone {} would go first",
                     outlook.rows[*first].organization, outlook.rows[*other].organization, states_text(clusters),
                     outlook.rows[*other].organization);
}

}  // namespace shapley::ledger
