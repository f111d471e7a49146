#include "ledger/consortium/naive_sum.hpp"

#include <algorithm>
#include <iterator>

#include "accounting/events/event_check.hpp"
#include "base/calendar.hpp"

namespace shapley::ledger {

using accounting::ClusterFigures;
using accounting::ConsortiumDeclared;
using accounting::EstimatorId;
using accounting::KeyFigures;
using accounting::OtherCluster;
using accounting::RankRow;
using accounting::State;

namespace {

// The name of the organization here; empty: it is not an organization of these books.
std::string called_here(const OtherCluster& other, const std::string& there) {
  bool is_name_of_another = false;
  for (const accounting::NameElsewhere& name : other.names) {
    if (name.there == there) return name.here;
    if (name.here == there) is_name_of_another = true;
  }
  return is_name_of_another ? "" : there;
}

void add(const State& books, const std::string& name, const KeyFigures& figures, std::int64_t owned,
         std::vector<RankRow>& rows) {
  const auto organization = books.find_organization(name);
  if (!organization) return;
  for (RankRow& row : rows) {
    if (row.organization != books.organizations()[organization->value]) continue;
    row.figures.balance += figures.balance;
    row.figures.given_less_got += figures.given_less_got;
    row.figures.rate_less_used.value += figures.rate_less_used.value;
    row.pooled.value += owned;
  }
}

// One second after the other; of longer times, by the mean of the first and the last of them.
void for_seconds(std::int64_t seconds, KeyFigures& figures) {
  constexpr std::int64_t k_most_summed = 100;
  if (seconds <= 0) return;
  const Int128 rate = figures.rate_less_used.value;
  Int128& work = figures.given_less_got.value;
  if (seconds > k_most_summed) {
    const Int128 first = work + rate;
    work += rate * seconds;
    const Int128 twice = (first + work) * seconds;
    figures.balance.value += twice / 2;
    return;
  }
  for (std::int64_t second = 0; second < seconds; ++second) {
    work += rate;
    figures.balance.value += work;
  }
}

KeyFigures at_present(const ClusterFigures& statement, KeyFigures figures, const OtherCluster& other,
                      const State& books) {
  const accounting::ResidualMeasured* residual = books.residual_measured();
  const std::int64_t usual = residual == nullptr ? game::k_assumed_residual.value : residual->seconds;
  const std::int64_t fresh = other.stale_after != 0 ? other.stale_after : std::max<std::int64_t>(usual, 3600);
  const Instant stale_at = statement.time + Duration{fresh};
  Instant from = statement.time;
  if (const Instant began = period_begin(books.period(), books.now()); from < began) {
    figures.balance = {};
    figures.given_less_got = {};
    from = began;
  }
  for_seconds((std::min(books.now(), stale_at) - from).value, figures);
  if (books.now() >= stale_at) figures.rate_less_used = {};
  return figures;
}

// value * weight / own, rounded down, one binary digit of the value after the other, because a product may not fit.
Int128 in_own_processors(Int128 value, std::int64_t weight, std::int64_t own) {
  const bool is_negative = value < 0;
  Int128 quotient = 0;
  Int128 rest = 0;
  for (int digit = 126; digit >= 0; --digit) {
    const bool is_set = ((is_negative ? -value : value) >> digit & 1) != 0;
    rest = 2 * rest + (is_set ? weight : 0);
    quotient = 2 * quotient + rest / own;
    rest %= own;
  }
  if (!is_negative) return quotient;
  return rest == 0 ? -quotient : -quotient - 1;
}

}  // namespace

void NaiveClusterSum::note(const accounting::StandingReceived& statement) {
  accounting::StandingReceived& last = statements_[statement.cluster];
  if (last.cluster.empty() || last.at <= statement.at) last = statement;
}

void NaiveClusterSum::note(const accounting::LedgerReplaced& replaced) {
  if (replaced.reason.empty()) return;
  Instant& line = lines_.emplace(replaced.cluster, replaced.at).first->second;
  if (line < replaced.at) line = replaced.at;
}

const ConsortiumDeclared* NaiveClusterSum::in_force(Instant t) const {
  const auto later = declared_.upper_bound(t);
  return later == declared_.begin() ? nullptr : &std::prev(later)->second;
}

const OtherCluster* NaiveClusterSum::declared(const std::string& cluster, Instant t) const {
  const ConsortiumDeclared* consortium = in_force(t);
  if (consortium == nullptr) return nullptr;
  const auto found = std::ranges::find(consortium->clusters, cluster, &OtherCluster::cluster);
  return found == consortium->clusters.end() ? nullptr : &*found;
}

std::vector<RankRow> NaiveClusterSum::rows(State& books, EstimatorId estimator) const {
  std::vector<RankRow> rows = books.own_rank_rows(estimator);
  for (RankRow& row : rows) {
    row.last = false;
    for (const auto& [at, rule] : rules_) {
      if (at <= books.now() && row.organization == "guests") row.last = rule.guests == accounting::Guests::last;
    }
  }
  const ConsortiumDeclared* consortium = in_force(books.now());
  if (consortium == nullptr) return rows;
  for (const OtherCluster& other : consortium->clusters) {
    const auto last = statements_.find(other.cluster);
    if (last == statements_.end() || last->second.figures.consortium != consortium->consortium) continue;
    if (const auto line = lines_.find(other.cluster); line != lines_.end() && last->second.at < line->second) continue;
    for (const accounting::OrganizationElsewhere& there : last->second.figures.organizations) {
      KeyFigures figures = at_present(last->second.figures, there.figures, other, books);
      // What no cluster owns does not count.
      std::int64_t owned = std::max<std::int64_t>(0, std::min(there.owned, accounting::k_max_held).value);
      for (Int128* value : {&figures.balance.value, &figures.given_less_got.value})
        *value = in_own_processors(*value, other.weight, consortium->weight);
      constexpr Int128 k_most = 72'057'594'037'927'936;  // 2^56
      for (std::int64_t* value : {&figures.rate_less_used.value, &owned})
        *value = static_cast<std::int64_t>(
            std::max(-k_most, std::min(k_most, in_own_processors(*value, other.weight, consortium->weight))));
      for (const accounting::EarlierFigures& earlier : other.earlier) {
        if (earlier.organization != there.organization) continue;
        if (consortium->at < period_begin(books.period(), books.now())) continue;
        figures.balance.value +=
            earlier.balance.value + earlier.given_less_got.value * (books.now() - consortium->at).value;
        figures.given_less_got.value += earlier.given_less_got.value;
      }
      add(books, called_here(other, there.organization), figures, owned, rows);
    }
  }
  return rows;
}

}  // namespace shapley::ledger
