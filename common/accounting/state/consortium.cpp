#include "accounting/state/consortium.hpp"

#include <algorithm>

#include "accounting/events/event_check.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

KeyFigures& KeyFigures::operator+=(const KeyFigures& elsewhere) {
  balance += elsewhere.balance;
  given_less_got += elsewhere.given_less_got;
  rate_less_used += elsewhere.rate_less_used;
  return *this;
}

const OtherCluster* find_cluster(const ConsortiumDeclared& consortium, std::string_view cluster) {
  const auto found = std::ranges::find(consortium.clusters, cluster, &OtherCluster::cluster);
  return found == consortium.clusters.end() ? nullptr : &*found;
}

const std::string* name_here(const OtherCluster& cluster, const std::string& there) {
  const auto found = std::ranges::lower_bound(cluster.names, there, {}, &NameElsewhere::there);
  if (found != cluster.names.end() && found->there == there) return &found->here;
  return std::ranges::find(cluster.names, there, &NameElsewhere::here) == cluster.names.end() ? &there : nullptr;
}

Duration stale_after(const OtherCluster& cluster, Duration residual) {
  constexpr Duration k_hour{3600};
  return cluster.stale_after > 0 ? Duration{cluster.stale_after} : std::max(residual, k_hour);
}

KeyFigures figures_after(const KeyFigures& figures, Duration h) {
  SHAPLEY_REQUIRE(h >= Duration{0});
  const Int128 seconds = h.value;
  const Int128 rate = figures.rate_less_used.value;
  return {
      .balance = {figures.balance.value + seconds * figures.given_less_got.value + seconds * (seconds + 1) / 2 * rate},
      .given_less_got = {figures.given_less_got.value + seconds * rate},
      .rate_less_used = figures.rate_less_used};
}

namespace {

// The division comes first: the product of a balance and a weight has more than 128 bits.
Int128 scaled(Int128 value, std::int64_t weight, std::int64_t own) {
  SHAPLEY_REQUIRE(std::min(weight, own) >= k_least_weight && std::max(weight, own) <= k_greatest_weight);
  const Int128 whole = floor_of_quotient(value, own);
  return whole * weight + floor_of_quotient((value - whole * own) * weight, own);
}

}  // namespace

KeyFigures weighted(const KeyFigures& figures, std::int64_t weight, std::int64_t own) {
  return {.balance = {scaled(figures.balance.value, weight, own)},
          .given_less_got = {scaled(figures.given_less_got.value, weight, own)},
          .rate_less_used = weighted(figures.rate_less_used, weight, own)};
}

ProcessorMillionths weighted(ProcessorMillionths processors, std::int64_t weight, std::int64_t own) {
  constexpr Int128 k_most = Int128{1} << 56U;
  return {static_cast<std::int64_t>(std::clamp(scaled(processors.value, weight, own), -k_most, k_most))};
}

namespace {

KeyFigures figures_at(const StandingReceived& statement, const KeyFigures& stated, Instant stale_at, Period period,
                      Instant now) {
  KeyFigures figures = stated;
  Instant since = statement.figures.time;
  const Instant began = period_begin(period, now);
  if (since < began) {
    figures = {.balance = {}, .given_less_got = {}, .rate_less_used = stated.rate_less_used};
    since = began;
  }
  const Instant until = std::min(now, stale_at);
  if (until > since) figures = figures_after(figures, until - since);
  if (now >= stale_at) figures.rate_less_used = {};
  return figures;
}

// What `other.earlier`, of a declaration at `since`, adds to the figures of an organization there.
KeyFigures earlier_at(const OtherCluster& other, const std::string& organization, Instant since, Period period,
                      Instant now) {
  const auto row = std::ranges::lower_bound(other.earlier, organization, {}, &EarlierFigures::organization);
  if (row == other.earlier.end() || row->organization != organization || since < period_begin(period, now)) return {};
  return figures_after({row->balance, row->given_less_got, {}}, std::max(now - since, Duration{0}));
}

// The figures of a row there as ranks here count them.
KeyFigures counted(const ConsortiumDeclared& consortium, const OtherCluster& other, const StandingReceived& statement,
                   const OrganizationElsewhere& row, Instant stale_at, Period period, Instant now) {
  KeyFigures figures =
      weighted(figures_at(statement, row.figures, stale_at, period, now), other.weight, consortium.weight);
  figures += earlier_at(other, row.organization, consortium.at, period, now);
  return figures;
}

}  // namespace

std::vector<EarlierFigures> earlier_figures(const ConsortiumDeclared& before, const ConsortiumDeclared& after,
                                            std::string_view cluster, const StandingReceived* statement,
                                            Duration residual, Period period) {
  std::vector<EarlierFigures> earlier;
  const OtherCluster* was = find_cluster(before, cluster);
  const OtherCluster* is = find_cluster(after, cluster);
  if (was == nullptr || is == nullptr || statement == nullptr || before.consortium != after.consortium) return earlier;
  const Instant stale_at = statement->figures.time + stale_after(*was, residual);
  for (const OrganizationElsewhere& row : statement->figures.organizations) {
    const KeyFigures then = counted(before, *was, *statement, row, stale_at, period, after.at);
    const KeyFigures now =
        weighted(figures_at(*statement, row.figures, stale_at, period, after.at), is->weight, after.weight);
    const EarlierFigures figures{
        row.organization,
        {std::clamp((then.balance - now.balance).value, -k_max_balance_elsewhere, k_max_balance_elsewhere)},
        {std::clamp((then.given_less_got - now.given_less_got).value, -k_max_work_elsewhere, k_max_work_elsewhere)}};
    if (figures.balance != Utility{} || figures.given_less_got != CpuTime{}) earlier.push_back(figures);
  }
  return earlier;
}

std::vector<ClusterShare> shares_of(const ConsortiumDeclared& consortium,
                                    std::span<const StandingReceived* const> statements, Duration residual,
                                    Period period, Instant now) {
  std::vector<ClusterShare> shares;
  for (const OtherCluster& other : consortium.clusters) {
    ClusterShare& share = shares.emplace_back(ClusterShare{.cluster = other.cluster});
    const auto found = std::ranges::find(statements, other.cluster, &StandingReceived::cluster);
    if (found == statements.end() || (*found)->figures.consortium != consortium.consortium) continue;
    const StandingReceived& statement = **found;
    share.statement = &statement;
    share.stale_at = statement.figures.time + stale_after(other, residual);
    for (const OrganizationElsewhere& row : statement.figures.organizations) {
      const std::string* here = name_here(other, row.organization);
      if (here == nullptr) continue;
      share.organizations.push_back(
          {*here, counted(consortium, other, statement, row, share.stale_at, period, now),
           weighted(std::clamp(row.owned, ProcessorMillionths{}, k_max_held), other.weight, consortium.weight)});
    }
  }
  return shares;
}

}  // namespace shapley::accounting
